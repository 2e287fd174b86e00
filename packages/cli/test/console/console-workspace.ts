// A workspace of the console, in process: an app as `serve` opens it, with an empty home.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import type { ConsoleEvent, RequestContext } from "@trunkline/console";
import { type App, openApp } from "../../src/app/app.js";
import { CallRecordings } from "../../src/console/call-recordings.js";
import type { ConsoleWorld } from "../../src/console/console-world.js";
import { workspaceIn } from "../../src/console/console-world.js";
import { QuestionBoard } from "../../src/console/question-board.js";
import { createContext } from "../../src/terminal/context.js";

export const WORKSPACE = "here";

export interface TestWorld extends AsyncDisposable {
  readonly world: ConsoleWorld;
  readonly app: App;
  readonly events: ConsoleEvent[];
  readonly folder: string;
  /** Trunkline's home, where the user's settings are. */
  readonly home: string;
  /** The context of a request by a tab. */
  request(tab?: string, signal?: AbortSignal): RequestContext;
}

/** Opens a workspace with these settings of the user, and these files in its folder. */
export function openTestWorld(
  settings: Readonly<Record<string, unknown>> = {},
  { files = {}, surface = "auto" }: { files?: Readonly<Record<string, string>>; surface?: "auto" | "composite" } = {},
): TestWorld {
  const base = mkdtempSync(join(tmpdir(), "trunkline-console-"));
  const [folder, userHome] = [join(base, "project"), join(base, "home")];
  mkdirSync(join(folder, ".git"), { recursive: true });
  const home = join(userHome, ".trunkline");
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "settings.json"), JSON.stringify(settings));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() };
  const context = createContext({ ...streams, env: { ...process.env, HOME: userHome }, cwd: folder, userHome });
  const questions = new QuestionBoard();
  const app = openApp(context, {
    config: "headless",
    embed: false,
    service: { surface, countTokens: true, askThrough: questions.through(folder) },
  });
  const events: ConsoleEvent[] = [];
  const workspaces = () => [{ id: WORKSPACE, folder, clients: 0, app }];
  const world: ConsoleWorld = {
    host: "process",
    context,
    workspaces,
    running: () => ({ startedMs: 0, clients: [], servers: [], saved: { processes: 0 } }),
    questions,
    recordings: new CallRecordings(),
    workspace: (id) => workspaceIn(workspaces(), id),
    send: (event) => void events.push(event),
  };
  return {
    world,
    app,
    events,
    folder,
    home,
    request: (tab = "tab", signal = new AbortController().signal) => ({ tab, signal }),
    [Symbol.asyncDispose]: async () => {
      await app.close();
      rmSync(base, { recursive: true, force: true });
    },
  };
}
