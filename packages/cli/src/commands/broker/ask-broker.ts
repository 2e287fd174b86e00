// Asks the user's broker about itself, for `trunkline broker` and `trunkline doctor`.

import { TrunklineError } from "@trunkline/core";
import {
  type BrokerPlace,
  BrokerSilentError,
  BrokerUnavailableError,
  brokerPlace,
  killSilentBrokers,
  RefusedError,
  requestControl,
} from "@trunkline/daemon";
import type { CommandContext } from "../../terminal/context.js";
import type { BrokerStatus } from "./broker-status.js";

type Request = Parameters<typeof requestControl>[1];

/** What the broker answers to `stop` and `drain`. */
interface EndingBroker {
  readonly pid: number;
  /** How many programs are connected to it. */
  readonly clients: number;
}

/** Returns where the broker of this user is. Creates nothing. */
export function findBroker({ home, env }: Pick<CommandContext, "home" | "env">): BrokerPlace {
  return named(() => brokerPlace({ home, runtimeFolder: env.XDG_RUNTIME_DIR, create: false }));
}

/** Returns the status of the broker; undefined if none is running. */
export async function askStatus(context: CommandContext): Promise<BrokerStatus | undefined> {
  return (await ask(context, "status")) as BrokerStatus | undefined;
}

/** Asks the broker to end; undefined if none is running. One that hangs is killed when it is to stop. */
export async function askToEnd(context: CommandContext, request: "stop" | "drain"): Promise<EndingBroker | undefined> {
  try {
    return (await ask(context, request)) as EndingBroker | undefined;
  } catch (error) {
    const isSilent = error instanceof Error && error.cause instanceof BrokerSilentError;
    if (request !== "stop" || !isSilent) throw error;
    const [pid] = killSilentBrokers(findBroker(context));
    return pid === undefined ? undefined : { pid, clients: 0 };
  }
}

async function ask(context: CommandContext, request: Request): Promise<unknown> {
  const place = findBroker(context);
  const { version, build, signal } = context;
  let answer: Readonly<Record<string, unknown>> | undefined;
  try {
    answer = await requestControl(place, request, { version, build, signal });
  } catch (error) {
    // It is about to end.
    if (error instanceof RefusedError && error.reason === "draining") return undefined;
    throw toError(error);
  }
  signal.throwIfAborted();
  if (typeof answer?.error === "string") throw toError(new BrokerUnavailableError(answer.error));
  return answer;
}

/** Why this command line does not use the broker, whether one is running or not. */
export function whyOff(env: CommandContext["env"]): string | undefined {
  const { TRUNKLINE_BROKER: wish } = env;
  if (wish === "off") return "TRUNKLINE_BROKER is off";
  if (process.platform === "win32" && wish !== "on") return "it is not used on Windows yet";
  const own = ["TRUNKLINE_MCP_FILE", "TRUNKLINE_TRUST"].find((name) => env[name]);
  return own === undefined ? undefined : `${own} is set`;
}

/** Says that TRUNKLINE_BROKER has a value without a meaning. */
export function oddSetting({ TRUNKLINE_BROKER: wish }: CommandContext["env"]): string | undefined {
  if (wish === undefined || ["", "on", "off"].includes(wish)) return undefined;
  return `TRUNKLINE_BROKER is "${wish}", which has no effect. Set it to on or off.`;
}

function named<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw toError(error);
  }
}

function toError(error: unknown): unknown {
  if (!(error instanceof BrokerUnavailableError || error instanceof RefusedError)) return error;
  return new TrunklineError("IO", `The broker cannot be used: ${error.message}.`, {
    cause: error,
    hint: "Trunkline works without it: every window then runs its own servers.",
  });
}
