// Approval means what it shows: whatever a model writes, the batch that is approved is the batch that runs.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fromStream } from "../../packages/agent/src/model/from-stream.js";
import { repeatedKey, silentLogger } from "../../packages/core/src/index.js";
import { listenHttp } from "../../packages/gateway/src/endpoints/http.js";
import { serveOnStdio } from "../../packages/gateway/src/endpoints/stdio.js";
import { readArguments, readSteps } from "../../packages/gateway/src/pipeline/read-steps.js";
import { createTestService } from "../../packages/gateway/test/protocol/test-service.js";
import { script } from "../e2e/agent-support.js";
import { Place } from "../e2e/command.js";
import { Terminal } from "../e2e/terminal.js";

let place: Place;

beforeEach(() => {
  place = new Place({ "note.md": "# Note\n", ".trunkline/mcp.json": { mcpServers: {} } }, { TRUNKLINE_TRUST: "all" });
});

afterEach(() => place[Symbol.dispose]());

const composite = () => ["--surface", "composite", "--store", join(place.base, "store")];

/** Lets a model call `execute` with these arguments and returns what was printed. */
async function execute(args: unknown, ...flags: string[]) {
  place.write("script.jsonl", script({ tool: "execute", args: args as object }, { text: "Done." }));
  const { stderr } = await place.run([
    ...["ask", "--provider", "echo", "--script", "script.jsonl", ...composite(), ...flags, "Go."],
  ]);
  return stderr;
}

const add = { op: "add", params: { path: "note.md" } };
const evil = { op: "restore", params: { name: "note.md", output_directory: "stolen" } };

describe("a batch with two spellings of the same thing", () => {
  it.each([
    ["operations and steps", { operations: [add], steps: [add, evil] }],
    ["steps and operations", { steps: [add, evil], operations: [add] }],
    ["operations and OPERATIONS", { operations: [add], OPERATIONS: [add, evil] }],
    ["operations and Steps", { operations: [add], Steps: [add, evil] }],
    ["operations and oper_ations", { operations: [add], oper_ations: [add, evil] }],
    ["operations and null steps", { operations: [add], steps: null, STEPS: [evil] }],
    ["a list next to a single step", { operations: [add], ...evil }],
    ["op and operation", { operations: [add, { op: "add", operation: "restore", params: evil.params }] }],
    ["op and OP", { operations: [add, { op: "add", OP: "restore", params: evil.params }] }],
    ["op and tool", { operations: [add, { op: "add", tool: "restore", name: "note.md" }] }],
    ["params and args", { operations: [add, { op: "add", params: { path: "note.md" }, args: evil.params }] }],
    ["params and Params", { operations: [add, { op: "add", params: { path: "note.md" }, Params: evil.params }] }],
    ["a hidden prototype", JSON.parse('{"operations":[{"op":"add","__proto__":{"path":"note.md"}}]}')],
    ["repeated keys in text", { operations: '[{"op":"add","params":{"path":"note.md"},"op":"restore"}]' }],
    ["escaped repeated keys", { operations: '[{"op":"add","params":{"path":"note.md"},"\\u006fp":"restore"}]' }],
    ["two flags", { operations: [add], dry_run: true, dryRun: false }],
  ])("does not run: %s", async (_, args) => {
    const stderr = await execute(args, "--allow", "add");
    expect(stderr).toMatch(/The arguments of execute are wrong|repeats the key|mean the same|Unknown parameter/);
    expect(stderr).not.toContain('"success":true');
    expect(existsSync(join(place.cwd, "stolen"))).toBe(false);
    expect(existsSync(join(place.base, "store", "content"))).toBe(false);
  });

  it("is refused by the gateway itself, for execute and for query", () => {
    for (const list of ["operations", "steps"] as const) {
      const read = (args: object) => readArguments(args as Record<string, unknown>, [list, "max_tokens"], list);
      expect(() => read({ operations: [add], steps: [evil] })).toThrow("mean the same");
      expect(() => read({ [list]: [add], [list.toUpperCase()]: [evil] })).toThrow("mean the same");
      expect(() => readSteps([{ op: "add", operation: "restore" }], list)).toThrow("mean the same");
      expect(() => readSteps('[{"op":"add","op":"restore"}]', list)).toThrow('repeats the key "op"');
      expect(() => readSteps([{ op: "add", params: '{"path":"a","path":"b"}' }], list)).toThrow("repeats the key");
    }
  });

  it("is refused for a session, too", async () => {
    const watch = { action: "watch", params: { paths: ["docs"] }, paths: ["/"] };
    place.write("script.jsonl", script({ tool: "session", args: watch }, { text: "Done." }));
    const args = ["ask", "--provider", "echo", "--script", "script.jsonl", ...composite(), "--allow", "session watch"];
    expect((await place.run([...args, "Go."])).stderr).toContain("both in params and next to action");
    const actions = { action: "start", ACTION: "watch", params: { paths: ["/"] } };
    place.write("script.jsonl", script({ tool: "session", args: actions }, { text: "Done." }));
    expect((await place.run([...args.with(-1, "session start"), "Go."])).stderr).toContain("mean the same");
  });
});

describe("the allow list", () => {
  it.each([
    ["another field", { operations: [add, { operation: "restore", params: evil.params }] }],
    ["the tool field", { operations: [add, { tool: "restore", params: evil.params }] }],
    ["the operation as a key", { operations: [add, { restore: evil.params }] }],
    ["spaces around the name", { operations: [add, { op: " restore ", params: evil.params }] }],
    ["text", { operations: JSON.stringify([add, evil]) }],
    ["steps as text", { operations: [add, JSON.stringify(evil)] }],
  ])("sees an operation written with %s", async (_, args) => {
    const stderr = await execute(args, "--allow", "add");
    expect(stderr).toContain("add, restore did not run");
    expect(existsSync(join(place.cwd, "stolen"))).toBe(false);
  });

  it("approves a batch whose operations are all allowed, in any unambiguous form", async () => {
    expect(await execute({ steps: [{ operation: "add", path: "note.md" }] }, "--allow", "add")).toContain(
      '"success":true',
    );
  });
});

describe("a model that repeats a key in the text of its arguments", () => {
  it("is told to call again, and nothing runs", async () => {
    const input = '{"operations":[{"op":"add"}],"operations":[{"op":"restore"}]}';
    const parts = async function* () {
      yield { type: "tool-call", toolCallId: "1", toolName: "execute", input };
      const usage = { inputTokens: {}, outputTokens: {} };
      yield { type: "finish", finishReason: { unified: "tool-calls", raw: "tool_calls" }, usage };
    };
    const calls = [];
    for await (const event of fromStream(parts() as never)) if (event.type === "tool-call") calls.push(event);
    expect(calls).toMatchObject([{ name: "execute", args: {}, raw: input }]);
  });

  it.each([
    ['{"a":1,"b":{"a":1},"c":[{"a":1},{"a":2}]}', undefined],
    ['{"a":1,"\\u0061":2}', "a"],
    ['{"a":{"x":1,"y":{"z":1,"z" : 2}}}', "z"],
    ['{"a":"\\"a\\":","b":["a","a"]}', undefined],
    ['{"a', undefined],
    [`{${Array.from({ length: 40 }, (_, at) => `"k${at}":{}`).join()}}`, undefined],
    [`{${Array.from({ length: 40 }, (_, at) => `"k${at}":{}`).join()},"k3":1}`, "k3"],
    [`{${Array.from({ length: 40 }, (_, at) => `"k${at}":{}`).join()},"k39":1}`, "k39"],
    ['{"a":[{"b":1}],"b":[[]],"c":{},"b":2}', "b"],
    [`${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`, undefined],
  ])("%.40s repeats %s", (text, key) => {
    expect(repeatedKey(text)).toBe(key);
  });
});

describe("a call that repeats a key", () => {
  const call = (args: string) =>
    `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":${args}}}`;
  const repeating = [
    '{"operations":[],"operations":[{"op":"restore"}]}',
    '{"operations":[],"oper\\u0061tions":[{"op":"restore"}]}',
    '{"text":{"deep":[{"op":"add","op":"restore"}]}}',
    '{"text":"a"},"arguments":{"text":"b"}',
  ];
  const handshake = `${JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-03-26", capabilities: {}, clientInfo: { name: "x", version: "1" } },
  })}\n`;

  it.each([...repeating, "batch"])("is refused over stdio: %s", async (args) => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const service = createTestService();
    const serving = serveOnStdio({ service, logger: silentLogger, input, output, graceMs: 200 });
    const line = args === "batch" ? `[${call(repeating[0] ?? "")}]` : call(args);
    input.end(`${handshake}${line}\n`);
    await serving;
    const id = args === "batch" ? null : 7;
    expect(String(output.read())).toContain(`"id":${id},"error":{"code":-32602,"message":"Invalid params: the message`);
    expect(service.exchanges).toEqual([]);
  });

  it.each(repeating)("is refused over HTTP: %s", async (args) => {
    const service = createTestService();
    await using endpoint = await listenHttp({ service, logger: silentLogger, host: "127.0.0.1", port: 0 });
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    const response = await fetch(endpoint.url, { method: "POST", headers, body: call(args) });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      id: 7,
      error: { message: expect.stringContaining("repeats the key") },
    });
    expect(service.exchanges).toEqual([]);
  });

  it("is found beside a text of many megabytes", () => {
    const long = `"${"x".repeat(12_000_000)}"`;
    expect(repeatedKey(`{"a":${long},"b":1,"a":2}`)).toBe("a");
    expect(repeatedKey(`{"a":${long},"b":"a\\\\"}`)).toBeUndefined();
  });
});

describe("the approval prompt", () => {
  const ask = (args: object, ...flags: string[]) => {
    place.write("script.jsonl", script({ tool: "execute", args }, { text: "Done." }));
    const all = ["ask", "--provider", "echo", "--script", "script.jsonl", ...composite(), ...flags, "Go."];
    return new Terminal(place, all);
  };

  it("says which values come from earlier steps", async () => {
    const operations = [
      { op: "list", params: {}, as: "found" },
      { op: "restore", params: { name: "$prev.documents[0].path", output_directory: "{{$found.total}}/x" } },
      { op: "add", params: { content: `$hash:${"0".repeat(64)}`, name: "copy.md" } },
    ];
    const terminal = ask({ operations });
    await terminal.answer("Run it? ", "n");
    const { screen } = await terminal.end();
    expect(screen).toContain("$prev.documents[0].path is filled in later: a result of list.");
    expect(screen).toContain("$found.total is filled in later: a result of list.");
    expect(screen).toContain("is filled in later: content from the store.");
  });

  it("shows how much it leaves out, the end of it, and all of it on request", async () => {
    const content = `${"a".repeat(6_000)}HIDDEN${"b".repeat(6_000)}TAIL`;
    const terminal = ask({ operations: [{ op: "add", params: { content, name: "x.md" } }] });
    await terminal.sees("Run it? ");
    expect(terminal.screen).toContain("more characters …");
    expect(terminal.screen).toContain("TAIL");
    expect(terminal.screen).not.toContain("HIDDEN");
    await terminal.answer("Show prints all of it. [y]es, [n]o, [a]lways, [s]how: ", "s");
    await terminal.sees("HIDDEN");
    await terminal.answer("Run it? [y]es, [n]o, [a]lways: ", "n");
    await terminal.end();
  });

  it("cannot be moved or recoloured by the arguments", async () => {
    const terminal = ask({
      operations: [{ op: "add", params: { content: "\u001b[2J\u202e\r\nRun it?", name: "x.md" } }],
    });
    await terminal.sees("\\u001b[2J\\u202e");
    await terminal.answer("Run it? ", "n");
    await terminal.end();
  });

  it("approves exactly what runs", async () => {
    const terminal = ask({
      STEPS: JSON.stringify([{ operation: " add ", arguments: { path: "note.md" } }]),
      Atomic: "true",
    });
    await terminal.sees(
      'execute may change things. It would run\r\n  add {"path":"note.md"}\r\n  with {"atomic":true}',
    );
    await terminal.answer("Run it? ", "y");
    await terminal.end();
    const { stdout } = await place.run(["store", "list", "--store", join(place.base, "store")]);
    expect(stdout).toContain("note.md");
    expect(readFileSync(join(place.cwd, "note.md"), "utf8")).toBe("# Note\n");
  });
});
