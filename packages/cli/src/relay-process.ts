// A command line whose work the user's broker does: this process only relays it. It loads nothing else, so that it
// starts fast and stays small.
import { statSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import {
  type BrokerLauncher,
  type BrokerPlace,
  BrokerUnavailableError,
  brokerPlace,
  ClientRelay,
  connectBroker,
  endLeftGroups,
  executionPlace,
  greet,
  PROTOCOL_VERSION,
  RefusedError,
  reachBroker,
  runtimeVariables,
} from "@trunkline/daemon/relay";
import { startsBroker } from "./commands/broker/broker-commands.js";
import { BROKER_LOST, relayPerson, terminalFacts } from "./person-relay.js";

export interface Installation {
  readonly version: string;
  /** bin/trunkline. */
  readonly entry: string;
  /** The file that changes with each build. */
  readonly code: string;
}

/** The variables that the broker's own process gets, besides those that its clients have to share with it. */
const BROKER_VARIABLES = ["HOME", "PATH", "TMPDIR", "LANG", "XDG_RUNTIME_DIR", "TRUNKLINE_HOME"];

/** Has the broker do the work of a command line. Returns false if it cannot; then nothing was read from stdin. */
export async function relay(
  use: "client" | "person",
  args: readonly string[],
  installation: Installation,
): Promise<boolean> {
  const { env } = process;
  const home = resolve(env.TRUNKLINE_HOME || join(homedir(), ".trunkline"));
  try {
    const place = brokerPlace({ home, runtimeFolder: env.XDG_RUNTIME_DIR });
    return use === "client"
      ? await relayClient({ ...place, home }, args, installation)
      : await relayCommand(place, args, installation);
  } catch (error) {
    // Others are not told: they work in their own process whenever no broker runs.
    const wantsBroker = use === "client" || startsBroker(args, {});
    if (error instanceof BrokerUnavailableError) {
      if (wantsBroker) note(`working without the broker: ${error.message}`);
      return false;
    }
    if (error instanceof RefusedError) {
      if (wantsBroker && error.reason !== "arguments" && error.reason !== "failed")
        note(`working without the broker: ${error.message}`);
      return false;
    }
    throw error;
  }
}

async function relayClient(
  place: BrokerPlace & { readonly home: string },
  args: readonly string[],
  installation: Installation,
): Promise<boolean> {
  const { setFlagsFromString } = process.getBuiltinModule("node:v8");
  // Compiled once, never optimized: a relay does little, and this halves the memory that it needs for it.
  setFlagsFromString("--no-opt");
  setFlagsFromString("--sparkplug");
  const hello = { kind: "client" as const, ...facts(args, installation) };
  const launcher = launcherOf(installation);
  let closeOwn = async () => {};
  const attachAgain = async (generation: number) => {
    try {
      // The next broker would do it, too, but takes a moment to start.
      endLeftGroups(place.groups);
      return await reachBroker(place, { ...hello, generation }, launcher);
    } catch (error) {
      // The session must not end because of the broker.
      note(`working without the broker: ${messageOf(error)}`);
      setFlagsFromString("--opt");
      const { openOwnBroker } = await import("./commands/broker/own-broker.js");
      await closeOwn();
      const { connection, close } = openOwnBroker(place, { ...hello, home: place.home });
      closeOwn = close;
      const link = await greet(connection, { ...hello, generation });
      if (link === undefined) throw error;
      return link;
    }
  };
  const first = await reachBroker(place, { ...hello, generation: 0 }, launcher);
  const ending = new AbortController();
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, () => ending.abort(name));
  process.stdout.on("error", () => process.exit(0));
  process.stderr.on("error", () => {});
  const { stdin: input, stdout: output, stderr: errors } = process;
  process.once("exit", () => endLeftGroups(place.groups));
  const failure = await new ClientRelay({ input, output, errors, attach: attachAgain })
    .run(first, ending.signal)
    .then(() => undefined, messageOf);
  await closeOwn();
  if (failure !== undefined) {
    note(failure);
    process.exit(1);
  }
  const { reason } = ending.signal as { reason?: string };
  process.exit(reason === undefined || reason === "SIGTERM" ? 0 : reason === "SIGHUP" ? 129 : 130);
}

async function relayCommand(place: BrokerPlace, args: readonly string[], installation: Installation): Promise<boolean> {
  const hello = { kind: "person" as const, ...facts(args, installation), terminal: terminalFacts() };
  const link = startsBroker(args, process.env)
    ? await reachBroker(place, hello, launcherOf(installation))
    : await connectBroker(place, hello);
  if (link === undefined) return false;
  const code = await relayPerson(link);
  if (code === BROKER_LOST) {
    endLeftGroups(place.groups);
    note("the broker ended while it ran this command, which may or may not have taken effect");
  }
  process.exitCode = code === BROKER_LOST ? 1 : code;
  return true;
}

function facts(args: readonly string[], { version, code }: Installation) {
  return {
    protocol: PROTOCOL_VERSION,
    version,
    build: `${code}@${statSync(code).mtimeMs}`,
    pid: process.pid,
    place: executionPlace(),
    args,
    cwd: process.cwd(),
    userHome: homedir(),
    env: { ...process.env } as Record<string, string>,
  };
}

function launcherOf({ entry }: Installation): BrokerLauncher {
  const own = Object.fromEntries(BROKER_VARIABLES.map((name) => [name, process.env[name]]));
  const env = { ...own, ...runtimeVariables(process.env) };
  return { command: process.execPath, args: [entry, "broker", "run"], env };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function note(text: string): void {
  process.stderr.write(`trunkline: ${text}\n`);
}
