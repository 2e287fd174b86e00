// The requests of the page "Servers", without a browser: what they refuse, and what they must not do unasked.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import type { ConsoleEvent, ImportRow } from "@trunkline/console/contract";
import { FileJournal, journalFolder, workspaceKey } from "@trunkline/gateway/journal";
import { expect, it } from "vitest";
import { serverPath } from "../../../../test/servers/start.js";
import { openApp } from "../../src/app/app.js";
import { CallRecordings } from "../../src/console/call-recordings.js";
import type { ConsoleWorld } from "../../src/console/console-world.js";
import { QuestionBoard } from "../../src/console/question-board.js";
import { openServers } from "../../src/console/servers-part.js";
import { createContext } from "../../src/terminal/context.js";

const REQUEST = { signal: new AbortController().signal, tab: "tab" };

/** The part of a console that serves one folder, in this process. */
class Stage implements AsyncDisposable {
  readonly userHome = mkdtempSync(join(tmpdir(), "trunkline-console-"));
  readonly home = join(this.userHome, ".trunkline");
  readonly cwd = join(this.userHome, "shop");
  readonly settings = join(this.home, "settings.json");
  readonly events: ConsoleEvent[] = [];
  readonly app;
  readonly part;

  constructor(mcpServers: Readonly<Record<string, unknown>> = {}) {
    mkdirSync(this.home, { mode: 0o700 });
    mkdirSync(join(this.cwd, ".git"), { recursive: true });
    writeFileSync(this.settings, JSON.stringify({ mcpServers }));
    const context = createContext({
      stdin: new PassThrough(),
      stdout: new PassThrough().resume(),
      stderr: new PassThrough().resume(),
      env: { HOME: this.userHome, PATH: process.env.PATH },
      cwd: this.cwd,
      userHome: this.userHome,
    });
    this.app = openApp(context, { config: "live" });
    const workspace = { id: "w", folder: this.cwd, clients: 0, app: this.app };
    const world: ConsoleWorld = {
      host: "process",
      context,
      questions: new QuestionBoard(),
      recordings: new CallRecordings(),
      workspaces: () => [workspace],
      workspace: () => workspace,
      running: () => ({ startedMs: 0, clients: [], servers: [], saved: { processes: 0 } }),
      send: (event) => void this.events.push(event),
    };
    this.part = openServers(world);
  }

  async servers(connect?: boolean) {
    const params = connect === undefined ? { workspace: "w" } : { workspace: "w", connect };
    return (await this.part.handlers.servers(params, REQUEST)).servers;
  }

  async definitions() {
    return (await this.part.handlers.definitions({ workspace: "w" }, REQUEST)).definitions;
  }

  /** As the page gets them. */
  async imports(): Promise<readonly ImportRow[]> {
    return JSON.parse(JSON.stringify(await this.part.handlers["servers/imports"]({ workspace: "w" }, REQUEST))).imports;
  }

  get written(): Record<string, unknown> {
    return JSON.parse(readFileSync(this.settings, "utf8")).mcpServers;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.part.rest();
    await this.app.close();
    rmSync(this.userHome, { recursive: true, force: true });
  }
}

function server(name: string, ...args: string[]) {
  return { command: process.execPath, args: [serverPath(name), ...args] };
}

it("connects servers only if it is asked to, and says when something changes", async () => {
  await using stage = new Stage({ hello: server("hello") });
  stage.part.watch();
  expect(stage.app.openedHub).toBeUndefined();
  expect(await stage.servers()).toMatchObject([{ name: "hello", state: "not-connected", tools: 0 }]);
  const [row] = await stage.servers(true);
  expect(row).toMatchObject({ state: "connected", tools: 2, pid: expect.any(Number) });
  expect(stage.events).toContainEqual({ kind: "changed", topics: ["servers", "tools"], workspace: "w" });
});

it("sums up the journal of its own workspace, and follows it while pages are open", async () => {
  await using stage = new Stage({ hello: server("hello") });
  const folder = journalFolder(stage.home, stage.app.storeFolder);
  const record = async (workspace: string, durationMs: number) => {
    await using journal = new FileJournal({ folder, workspace: workspaceKey(workspace) });
    const call = { atMs: Date.now(), client: "test", operation: "hello.hello", sizeBytes: 1, outcome: "ok" } as const;
    journal.record({ ...call, durationMs });
  };
  await record(stage.cwd, 5);
  await record("/elsewhere", 7);
  stage.part.watch();
  expect(await stage.servers()).toMatchObject([{ calls: 1, errors: 0, p50Ms: 5, latencies: [5] }]);
  await record(stage.cwd, 9);
  await expect.poll(stage.servers.bind(stage)).toMatchObject([{ calls: 2, latencies: [5, 9] }]);
});

it("approves only the definition that was shown", async () => {
  await using stage = new Stage();
  const file = join(stage.userHome, "definitions.json");
  const define = (description: string) => {
    const tool = { name: "read", description, inputSchema: { type: "object" }, annotations: { readOnlyHint: true } };
    writeFileSync(file, JSON.stringify({ tools: [tool] }));
  };
  writeFileSync(file, JSON.stringify({ tools: [{ name: "read", inputSchema: { type: "object" } }] }));
  const mcpServers = { files: server("changing", "--definitions", file) };
  writeFileSync(stage.settings, JSON.stringify({ mcpServers }));
  await stage.servers(true);
  define("One.");
  const restart = () =>
    stage.part.handlers["servers/act"]({ workspace: "w", server: "files", action: "restart" }, REQUEST);
  await restart();
  const [shown] = await stage.definitions();
  expect(shown).toMatchObject({ change: "held", name: "read", server: "files" });
  const { id = "", hash = "" } = shown ?? {};
  define("Another one.");
  await restart();
  const approve = (given: string) =>
    stage.part.handlers["definitions/approve"]({ workspace: "w", id, hash: given }, REQUEST);
  await expect(approve(hash)).rejects.toThrow("files.read has changed since it was shown. Nothing was approved.");
  expect(await stage.servers()).toMatchObject([{ held: 1, tools: 0 }]);
  const [now] = await stage.definitions();
  expect(now?.diff).toContainEqual({ sign: "+", field: "description", text: "Another one." });
  await approve(now?.hash ?? "");
  expect(await stage.servers()).toMatchObject([{ held: 0, tools: 1 }]);
  await expect(approve(now?.hash ?? "")).rejects.toMatchObject({ code: "NOT_FOUND" });
});

it("imports only the entries that were shown, as they were shown", async () => {
  await using stage = new Stage();
  mkdirSync(join(stage.userHome, ".cursor"));
  const define = (command: string) =>
    writeFileSync(join(stage.userHome, ".cursor", "mcp.json"), JSON.stringify({ mcpServers: { notes: { command } } }));
  define("first");
  const [shown] = await stage.imports();
  expect(shown).toMatchObject({ name: "notes", program: "Cursor", target: "first", canImport: true });
  define("second");
  const take = (id = "") => stage.part.handlers["servers/import"]({ workspace: "w", ids: [id] }, REQUEST);
  await expect(take(shown?.id)).rejects.toThrow("has changed since it was shown. Nothing was imported.");
  expect(stage.written).toEqual({});
  const [now] = await stage.imports();
  expect(await take(now?.id)).toEqual({ added: ["notes"], files: [stage.settings], skipped: [] });
  expect(stage.written).toEqual({ notes: { command: "second" } });
  expect(await stage.imports()).toMatchObject([{ canImport: false, note: "already configured" }]);
});

it.each<[string, Record<string, unknown>]>([
  ["is not valid", { name: "a b", scope: "user", command: "x" }],
  ["either a command or a URL", { name: "a", scope: "user" }],
  ["either a command or a URL", { name: "a", scope: "user", command: "x", url: "https://x" }],
  ["not a valid server URL", { name: "a", scope: "user", url: "javascript:alert(1)" }],
  ["not described correctly", { name: "a", scope: "system", command: "x" }],
  ["not described correctly", { name: "a", scope: "user", command: "x", args: [1] }],
  ["not described correctly", { name: "a", scope: "user", command: "x", cwd: "/" }],
  ["already has a server", { name: "taken", scope: "user", command: "x" }],
])("refuses a new server that %s", async (why, given) => {
  await using stage = new Stage({ taken: { command: "y" } });
  const before = stage.written;
  const add = stage.part.handlers["servers/add"]({ workspace: "w", server: given as never }, REQUEST);
  await expect(add).rejects.toThrow(why.replace("is not valid", "is not a valid server name"));
  expect(stage.written).toEqual(before);
});

it("refuses a sign-in to a server that needs none, and an unknown action", async () => {
  await using stage = new Stage({ hello: server("hello") });
  const { handlers } = stage.part;
  await expect(handlers["servers/sign-in"]({ workspace: "w", server: "hello" }, REQUEST)).rejects.toThrow(
    '"hello" does not need a sign-in.',
  );
  const act = handlers["servers/act"]({ workspace: "w", server: "hello", action: "remove" as never }, REQUEST);
  await expect(act).rejects.toThrow('There is no action "remove".');
});
