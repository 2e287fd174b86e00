// The broker's own process: what it does for clients, how long it stays.

import { listenToProcessTrees } from "@trunkline/client/internal";
import { createLogger, type Logger, messageOf } from "@trunkline/core";
import {
  type AdmittedClient,
  type BrokerHost,
  type BrokerPlace,
  BrokerServer,
  type ClientHello,
  endLeftGroups,
  type PersonHello,
  type PersonLink,
  ProcessGroups,
  trimLog,
} from "@trunkline/daemon";
import { EXIT } from "../../app/exit-codes.js";
import type { CommandContext } from "../../terminal/context.js";
import { Interrupts, type StopSignal } from "../../terminal/interrupts.js";
import type { ProgramIo } from "../../terminal/program-io.js";
import { startLookForUpdate } from "../../updates/start-look-for-update.js";
import { readServeArgs } from "../serve/command.js";
import { brokerUseOf } from "./broker-commands.js";
import { BrokerConsole } from "./broker-console.js";
import { type BrokerStatus, brokerStatus } from "./broker-status.js";
import { clientEnvironment } from "./client-environment.js";
import { memoryOfGroups, ownMemory } from "./process-memory.js";
import { WarmParts } from "./warm-parts.js";
import { Workspaces } from "./workspace.js";

type RunProgram = (args: readonly string[], io: ProgramIo) => Promise<number>;

interface BrokerProcessOptions {
  readonly place: BrokerPlace;
  readonly build: string;
  readonly idleMs: number;
  readonly runProgram: RunProgram;
}

/** Runs the broker until it is stopped or has been idle for long enough. */
export async function runBroker(context: CommandContext, options: BrokerProcessOptions): Promise<void> {
  const { place, build, idleMs, runProgram } = options;
  const logger = logTo(context, place);
  const endLeft = () => {
    const ended = endLeftGroups(place.groups);
    if (ended > 0) logger.info("ended the servers of a broker that was killed", { groups: ended });
  };
  endLeft();
  const groups = new ProcessGroups(place.groups, (error) =>
    logger.warn("cannot record the servers, so they may outlive a broker that is killed", { error: messageOf(error) }),
  );
  // Servers outlive a broker that is killed; the next one ends them.
  listenToProcessTrees({ onStarted: (leader) => groups.add(leader), onEnded: (leader) => groups.remove(leader) });
  const parts = new WarmParts(logger);
  const startedMs = Date.now();
  const console = new BrokerConsole({
    context: { ...context, logger },
    questions: parts.questions,
    recordings: parts.recordings,
    workspaces: () => workspaces,
    status: () => status(),
    hold: () => server.hold(),
  });
  const workspaces = new Workspaces({ home: context.home, shared: parts, idleMs, onChange: () => console.changed() });
  parts.onConsole = (person) => console.link(person);
  const status = () => currentStatus({ version: context.version, place, startedMs, clients: server.clients, parts });
  let done = () => {};
  const finished = new Promise<void>((resolve) => {
    done = resolve;
  });
  const host: BrokerHost = {
    admit: async (hello) => {
      // Its last broker may have been killed beside this one, while it finished its calls.
      if (hello.generation > 0) endLeft();
      return await admit(hello, workspaces);
    },
    run: async (hello, link) => await runForPerson(hello, link, { parts, runProgram }),
    makeRoom: async () => await console.close(),
    status: async () => ({ ...status() }),
    close: async () => {
      await console.close();
      await workspaces.close();
      await parts.close();
      listenToProcessTrees(undefined);
      groups.close();
    },
  };
  const server = new BrokerServer({
    place,
    version: context.version,
    build,
    host,
    logger,
    idleMs,
    env: context.env,
    onDone: done,
  });
  if (!(await server.listen())) {
    logger.info("another broker runs already", { socket: place.socket });
    await host.close();
    return;
  }
  logger.info("listening", { socket: place.socket, version: context.version });
  context.signal.addEventListener("abort", () => void server.stop(String(context.signal.reason)), { once: true });
  if (context.signal.aborted) void server.stop("signal");
  await console.takeOver();
  const leftCheck = setInterval(endLeft, LEFT_CHECK_MS);
  await finished;
  clearInterval(leftCheck);
}

/** An old broker that is killed may have no client left that comes here. */
const LEFT_CHECK_MS = 5_000;

/** How much is written before the size of the log is checked. */
const LOG_CHECK_BYTES = 64 * 1024;

/** Logs to stderr, which is the broker's log file, and keeps the file small. */
function logTo({ io, clock, redactor }: CommandContext, place: BrokerPlace): Logger {
  trimLog(place.log);
  let written = 0;
  const write = (line: string) => {
    io.stderr.write(line);
    written += line.length;
    if (written < LOG_CHECK_BYTES) return;
    written = 0;
    trimLog(place.log);
  };
  // A broker that is being replaced writes to the same file.
  return createLogger({ dated: true, redactor, clock, write }).child({ broker: process.pid });
}

interface CurrentFacts extends Pick<Parameters<typeof brokerStatus>[0], "version" | "place" | "startedMs" | "clients"> {
  readonly parts: WarmParts;
}

function currentStatus({ parts, ...facts }: CurrentFacts): BrokerStatus {
  const servers = parts.connections.servers();
  return brokerStatus({
    ...facts,
    pid: process.pid,
    servers,
    stores: parts.storePlaces,
    memory: ownMemory(),
    serverMemory: memoryOfGroups(servers.flatMap(({ pid }) => pid ?? [])),
  });
}

/** Checks the arguments of `serve` and finds the workspace. */
export async function admit(hello: ClientHello, workspaces: Workspaces): Promise<AdmittedClient> {
  const [command, ...args] = hello.args;
  const options = await readServeArgs(command === "serve" ? args : hello.args);
  const env = await clientEnvironment(hello.env);
  const { workspace, release } = await workspaces.join({ ...hello, env }, { ...options, mcp: undefined });
  return {
    serve: async (link) => {
      try {
        await workspace.serve(env, link);
      } finally {
        await release();
      }
    },
    isRepeatable: async (message) => await workspace.isRepeatable(message),
    onLost: (message, program) => workspace.noteLost(message, program),
  };
}

/** Runs a command with the streams of the process that asked for it. Never rejects. */
async function runForPerson(
  { args, env, cwd, userHome, terminal }: PersonHello,
  link: PersonLink,
  { parts, runProgram }: { parts: WarmParts; runProgram: RunProgram },
): Promise<number> {
  const interrupts = new Interrupts();
  link.onSignal = (name) => {
    interrupts.press(name as StopSignal);
    return interrupts.signal.aborted;
  };
  const { stdin, stdout, stderr } = link;
  // Some commands take over the process they run in. They must never run in this one.
  if (brokerUseOf(args, env, process.platform) !== "person") {
    stderr.write("trunkline: The broker does not run this command.\n");
    return EXIT.usage;
  }
  try {
    return await runProgram(args, {
      stdin,
      stdout,
      stderr,
      env: await clientEnvironment(env),
      cwd,
      userHome,
      interrupts,
      hasPipedInput: () => terminal.pipedInput,
      lookForUpdate: startLookForUpdate,
      shared: parts,
    });
  } catch (error) {
    stderr.write(`trunkline: ${messageOf(error)}\n`);
    return EXIT.failure;
  } finally {
    stdin.destroy();
  }
}
