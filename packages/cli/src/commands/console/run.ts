// `trunkline console`: opens the console in the browser.
import { createHash, randomUUID } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeFolder, printableJson } from "@trunkline/core";
import { EXIT } from "../../app/exit-codes.js";
import { workspaceKeyOf } from "../../app/workspace-key.js";
import type { ConsoleWorkspace, Running } from "../../console/console-world.js";
import type { CommandContext } from "../../terminal/context.js";
import { hasDisplay, openAddress, openFile } from "../../terminal/open-address.js";
import { readServeArgs } from "../serve/command.js";
import { openServeApp, prepare } from "../serve/run.js";

interface ConsoleCommandOptions {
  readonly open: boolean;
  readonly json?: boolean;
}

export async function openConsole(context: CommandContext, options: ConsoleCommandOptions): Promise<number> {
  const { shared } = context;
  if (shared === undefined) return await serveConsole(context, options);
  await show(context, await shared.consoleLink(context), options);
  return EXIT.success;
}

/** Opens or prints the link. */
async function show(context: CommandContext, link: string, { open, json }: ConsoleCommandOptions): Promise<void> {
  const { env } = context;
  if (json) {
    context.out(printableJson({ url: link }, 2));
    return;
  }
  if (open && hasDisplay(env) && (await openLink(context, link))) {
    context.note("Opened the console in your browser.");
    return;
  }
  if (open) context.note("No browser can be opened from here.");
  context.note("Open this link on this machine. It works once, within two minutes:");
  context.out(link);
}

/** How long the link works. */
const LINK_MS = 2 * 60_000;

/**
 * Opens the link. Other users of this machine can see the arguments of programs. On Linux the console does not serve them;
 * elsewhere it cannot tell, so the browser gets a file of our own that leads to the link.
 */
async function openLink(context: CommandContext, link: string): Promise<boolean> {
  if (process.platform === "linux") return await openAddress(new URL(link), context);
  const { home } = context;
  const folder = join(home, "run");
  makeFolder(home, 0o700);
  makeFolder(folder, 0o700);
  const file = join(folder, `console-${randomUUID()}.html`);
  // The link consists of characters that need no escape.
  const page = `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=${link}"><title>Trunkline</title>`;
  writeFileSync(file, page, { mode: 0o600, flag: "wx" });
  setTimeout(() => rmSync(file, { force: true }), LINK_MS).unref();
  return await openFile(file, { ...context, as: "page" });
}

/** Serves the console from this process until Ctrl-C, for people who do without the broker. */
async function serveConsole(context: CommandContext, options: ConsoleCommandOptions): Promise<number> {
  const [{ Console }, { CallRecordings }, { QuestionBoard }] = await Promise.all([
    import("../../console/console.js"),
    import("../../console/call-recordings.js"),
    import("../../console/question-board.js"),
  ]);
  const questions = new QuestionBoard();
  const recordings = new CallRecordings();
  const serving = { ...(await readServeArgs([])), mcp: undefined };
  await using app = openServeApp(context, serving, {
    askThrough: questions.through(context.cwd),
    recorder: recordings.recorder(workspaceKeyOf(context), context.redactor),
  });
  await prepare(app);
  const id = createHash("sha256").update(context.cwd).digest("hex").slice(0, 12);
  const workspace: ConsoleWorkspace = { id, folder: context.cwd, clients: 0, app };
  const startedMs = Date.now();
  const running = (): Running => ({
    startedMs,
    memoryBytes: process.memoryUsage.rss(),
    clients: [],
    servers: [],
    saved: { processes: 0 },
  });
  await using console = await Console.open({
    place: { host: "process", context, workspaces: () => [workspace], running },
    questions,
    recordings,
  });
  await show(context, console.createLink(id), options);
  context.note("The console is served by this command. Ctrl-C stops it.");
  await new Promise<void>((resolve) => {
    if (context.signal.aborted) resolve();
    else context.signal.addEventListener("abort", () => resolve(), { once: true });
  });
  return EXIT.success;
}
