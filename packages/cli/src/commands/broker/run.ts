// `trunkline broker`: shows, stops and restarts the user's broker.
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { isAbsent, printableJson } from "@trunkline/core";
import { brokerPlace } from "@trunkline/daemon";
import { openApp } from "../../app/app.js";
import { EXIT } from "../../app/exit-codes.js";
import type { CommandContext } from "../../terminal/context.js";
import { counted, shownText, writeOut } from "../../terminal/output.js";
import type { ProgramIo } from "../../terminal/program-io.js";
import { Page } from "../../terminal/report-page.js";
import { askStatus, askToEnd, findBroker, oddSetting, whyOff } from "./ask-broker.js";
import { showStatus } from "./broker-page.js";

const DEFAULT_IDLE_MS = 15 * 60_000;
const HEAP_GROWTH = 40;
const POLL_MS = 200;

/** Runs the broker in this process, until it ends. */
export async function runBrokerHere(
  context: CommandContext,
  runProgram: (args: readonly string[], io: ProgramIo) => Promise<number>,
): Promise<void> {
  const { home, env, build } = context;
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH}`);
  const [{ runBroker }, { settings }] = await Promise.all([
    import("./broker-process.js"),
    openApp(context, { config: "own" }).config(),
  ]);
  const idleMs = settings?.broker?.idleMs ?? DEFAULT_IDLE_MS;
  const place = brokerPlace({ home, runtimeFolder: env.XDG_RUNTIME_DIR });
  await runBroker(context, { place, build, idleMs, runProgram });
}

export async function showBroker(context: CommandContext, { json }: { json?: boolean }): Promise<number> {
  const { clock, userHome, env } = context;
  const status = await askStatus(context);
  if (json) {
    context.out(printableJson(context.redactor.value(status ?? { running: false }), 2));
    return EXIT.success;
  }
  const off = whyOff(env);
  const page = new Page(context);
  if (status !== undefined) showStatus(page, status, { userHome, nowMs: clock.now() });
  else if (off === undefined) page.text("No broker is running. The next `trunkline serve` starts one.");
  else page.text("No broker is running.");
  if (off !== undefined) page.text(`Commands here do not use the broker: ${off}.`);
  const odd = oddSetting(env);
  if (odd !== undefined) page.text(odd, { colour: page.palette.warning });
  return EXIT.success;
}

export async function stopBroker(context: CommandContext, { json }: { json?: boolean }): Promise<number> {
  const ended = await askToEnd(context, "stop");
  if (json) context.out(printableJson({ stopped: ended !== undefined, ...ended }, 2));
  else if (ended === undefined) context.note("No broker is running.");
  else {
    context.note(`Stopped the broker (pid ${ended.pid}) and its servers.`);
    const { clients } = ended;
    if (clients > 0)
      context.note(`${connected(clients)}; ${clients === 1 ? "its" : "their"} next request starts a new broker.`);
  }
  return EXIT.success;
}

export async function restartBroker(context: CommandContext, { json }: { json?: boolean }): Promise<number> {
  const ended = await askToEnd(context, "drain");
  if (json) context.out(printableJson({ restarting: ended !== undefined, ...ended }, 2));
  else if (ended === undefined) context.note("No broker is running. The next `trunkline serve` starts one.");
  else {
    const { clients } = ended;
    const next =
      clients > 0
        ? `${connected(clients)} and ${clients === 1 ? "moves" : "move"} to a new one.`
        : "The next client starts a new one.";
    context.note(`The broker (pid ${ended.pid}) ends as soon as its calls are done, after 60 s at most. ${next}`);
  }
  return EXIT.success;
}

function connected(clients: number): string {
  return counted(clients, "client is connected", "clients are connected");
}

interface LogOptions {
  readonly follow?: boolean;
  readonly json?: boolean;
}

/** Prints the log, and with `follow` what is added to it, until Ctrl-C. */
export async function showBrokerLog(context: CommandContext, { follow, json }: LogOptions): Promise<number> {
  const { signal } = context;
  const { log } = findBroker(context);
  const show = json ? jsonLine : (line: string) => shownText(line, context.io.stdout.isTTY === true);
  const print = (lines: readonly string[]) => writeOut(context, lines.map((line) => `${show(line)}\n`).join(""));
  let position = await linesFrom(log, 0);
  if (position === undefined && !follow) context.note(`There is no log yet: ${log}`);
  for (;;) {
    if (position !== undefined) await print(position.lines);
    if (!follow || signal.aborted) return EXIT.success;
    // Polls like `tail -f`: works on every file system, and for a file that does not exist yet.
    await sleep(POLL_MS, undefined, { signal }).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
    position = await linesFrom(log, position?.end ?? 0);
  }
}

/** Splits a line that the broker wrote; other lines are what Node printed when it crashed. */
function jsonLine(line: string): string {
  const [, time, level, text = line] = /^(\d{4}-\S+Z) (\w+) +(.*)$/.exec(line) ?? [];
  return printableJson(time === undefined ? { text } : { time, level, text });
}

/**
 * Reads whole lines from a position on; from the start, if the file has become shorter. Undefined if there is no file.
 */
async function linesFrom(path: string, from: number): Promise<{ lines: string[]; end: number } | undefined> {
  let file: FileHandle;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
  try {
    const { size } = await file.stat();
    const start = size < from ? 0 : from;
    const bytes = Buffer.alloc(size - start);
    const { bytesRead } = await file.read(bytes, 0, bytes.length, start);
    const end = bytes.subarray(0, bytesRead).lastIndexOf("\n") + 1;
    const text = bytes.toString("utf8", 0, end);
    return { lines: text.split("\n").slice(0, -1), end: start + end };
  } finally {
    await file.close();
  }
}
