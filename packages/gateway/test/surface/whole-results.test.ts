// Programs get the whole results of their calls; models get as much of them as their context is worth.
import { encodeMessage } from "@trunkline/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startServer } from "../../../../test/servers/start.js";
import { shapes } from "../operations/support.js";
import { callTool, http, stdio, type TestService, testCaller, testService } from "../service/support.js";

type Raw = Readonly<Record<string, unknown>>;

const CODEX = "codex-mcp-client 0.169.0";
// As Codex 0.169.0 sends it for a call by a program.
const PROGRAM: Raw = {
  callId: "exec-563e0349-62b2-4515-bcd7-e9a9e9650396",
  "x-codex-turn-metadata": { session_id: "01a1f067-fe9e-73f2-98e2-0ccc511fcd37", model: "gpt-6-sol" },
  threadId: "01a1f067-fe9e-73f2-98e2-0ccc511fcd37",
  itemId: "ctc_uy20wrzhmh",
};
const LINE = "one line of a long report\n";
/** Below and above the size that is read on a thread of its own. */
const TIMES = [4_000, 52_001];
const rowsOf = (count: number) =>
  Array.from({ length: count }, (_, id) => ({ id, title: `issue “${id}” é`, body: '"\\\n'.repeat(20), state: "open" }));

let set: TestService;
let server: Awaited<ReturnType<typeof startServer>>;
beforeAll(async () => {
  server = await startServer("hostile", ["--http"]);
  set = testService([shapes(), stdio("hostile"), http("web", server.url)], { surface: "auto" });
});
afterAll(async () => {
  await set[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

/** Calls a tool and returns the result as it is sent. */
async function call(name: string, args: Raw, { client = CODEX, meta = PROGRAM } = {}): Promise<Raw> {
  const result = await callTool(set, name, args, { caller: testCaller({ name: client }), meta });
  const sent = Buffer.from(encodeMessage({ jsonrpc: "2.0", id: 1, result })).toString("utf8");
  expect(sent).not.toContain("\n");
  return JSON.parse(sent).result;
}

/** Steps that may be part of `query`. */
const rowsStep = (rows: readonly unknown[]) => rawStep("structured", { rows });
const rawStep = (as: string, value: unknown) => ({ op: "hostile.raw", params: { as, json: JSON.stringify(value) } });
const query = (op: string, params: Raw) => ({ steps: [{ op, params }] });
const structured = (result: Raw) => result.structuredContent as Raw;
const text = ({ content }: Raw, index = 0) => (content as { text: string }[])[index]?.text ?? "";

describe("a call that a program of Codex makes", () => {
  it.each(TIMES)("gets the whole text of a listed tool, of %i lines", async (times) => {
    const result = await call("shapes_gallery", { blocks: [{ type: "text", text: LINE, times }] });
    expect(text(result) === LINE.repeat(times)).toBe(true);
  });

  it.each([800, 10_000])("gets the whole structured content of a listed tool, of %i rows", async (count) => {
    const rows = rowsOf(count);
    const result = await call("shapes_get_thing", { rows });
    expect(result).toEqual({ content: [], structuredContent: { rows } });
  });

  it.each(TIMES)("gets the whole text of a step, of %i lines", async (times) => {
    const step = rawStep("text", LINE.repeat(times));
    const whole = { text: LINE.repeat(times) };
    const asked = await call("query", { steps: [step] });
    expect(structured(asked)).toEqual(whole);
    expect(JSON.parse(text(asked))).toEqual(whole);
    const done = await call("execute", { operations: [step, step] });
    expect(structured(done)).toMatchObject({ results: [{ result: whole }, { result: whole }], succeeded: 2 });
    expect(JSON.parse(text(done))).toEqual(structured(done));
  });

  it.each([800, 10_000])("gets the whole structured content of a step, of %i rows", async (count) => {
    const rows = rowsOf(count);
    const steps = [
      { ...rowsStep(rows), as: "all" },
      { op: "hostile.echo", params: { text: "{{$all.rows[-1].id}}" } },
    ];
    const { steps: answers } = structured(await call("query", { steps })) as { steps: Raw[] };
    expect(answers.map(({ result }) => result)).toEqual([{ rows }, { text: String(count - 1) }]);
  });

  it("gets every block of a step, however large", async () => {
    const picture = { type: "image", mimeType: "image/png", data: "iVBORw0KGgoAAAAN", times: 200_000 };
    const link = (number: number) => ({ type: "resource_link", uri: `test://${number}`, name: `page ${number}` });
    const links = Array.from({ length: 100 }, (_, index) => link(index));
    const file = { type: "resource", resource: { uri: "test://file", text: LINE.repeat(50_000) } };
    const json = JSON.stringify({ content: [{ type: "text", text: "three kinds" }, file, ...links] });
    const { content } = await call("query", query("hostile.raw", { as: "result", json }));
    expect((content as unknown[]).slice(1)).toEqual([file, ...links]);
    const gallery = await call("execute", { operations: [{ op: "shapes.gallery", params: { blocks: [picture] } }] });
    const { data } = (gallery.content as { data: string }[])[1] ?? { data: "" };
    expect(data.length).toBe(picture.data.length * picture.times);
  });

  it("gets JSON that its server wrote in many lines", async () => {
    const rows = rowsOf(10_000);
    const pretty = JSON.stringify({ rows }, null, 2);
    const args = { as: "structured", json: pretty };
    expect(structured(await call("web_raw", args))).toEqual({ rows });
    expect(structured(await call("query", query("web.raw", args)))).toEqual({ rows });
    const inText = { as: "text", json: JSON.stringify(pretty) };
    expect(structured(await call("query", query("hostile.raw", inText)))).toEqual({ rows });
  });

  it("is held to the max_tokens that it sets", async () => {
    const steps = [rowsStep(rowsOf(800))];
    expect(structured(await call("query", { steps, max_tokens: 500 }))).toMatchObject({ truncated: true });
  });

  it.each([400, 10_000])("gets a whole batch of %i rows again by its key", async (count) => {
    const rows = rowsOf(count);
    const operations = [{ op: "shapes.get_thing", params: { rows } }];
    const batch = { operations, idempotency_key: `rows ${count}` };
    const first = await call("execute", batch);
    expect(structured(first)).toMatchObject({ results: [{ result: { rows } }] });
    expect(await call("execute", batch)).toEqual(first);
    const cut = await call("execute", batch, { meta: {} });
    expect(text(cut).length).toBeLessThan(40_000);
  });

  it("still gets a failure as one", async () => {
    const said = LINE.repeat(4_000);
    const result = await call("execute", { operations: [{ op: "shapes.quotes", params: { said } }] });
    expect(result.isError).toBe(true);
    expect(structured(result)).toMatchObject({ succeeded: 0, results: [{ success: false }] });
  });

  it("still gets a handle for what no message can carry", async () => {
    expect(structured(await call("query", query("hostile.big", { bytes: 40_000_000 })))).toMatchObject({
      truncated: true,
      hash: expect.any(String),
    });
  });
});

describe("a call that no program makes", () => {
  const { callId: _, ...withoutId } = PROGRAM;
  it.each<[string, { client?: string; meta: Raw }]>([
    ["by the model, with the id of its API", { meta: { ...PROGRAM, callId: "call_uy20wrzhmh" } }],
    ["by the model, without an id", { meta: withoutId }],
    ["by another client, with an id of its own", { client: "other 1", meta: { callId: "exec-1" } }],
    ["by a client with a similar name", { client: "codexical 1", meta: { callId: "exec-1" } }],
    ["with an item that looks like a program", { meta: { itemId: "exec-1" } }],
    ["with an id that is a list", { meta: { callId: ["exec-1"] } }],
    ["with an id that is a number", { meta: { callId: 1 } }],
    ["with an id that is null", { meta: { callId: null } }],
    ["with an id that is an object", { meta: { callId: { startsWith: "exec-" } } }],
    ["with metadata that is a text", { client: "other 1", meta: { ...PROGRAM, "x-codex-turn-metadata": "{}" } }],
  ])("%s is cut", async (_, from) => {
    const rows = rowsOf(800);
    for (const [name, args] of [
      ["shapes_get_thing", { rows }],
      ["query", { steps: [rowsStep(rows)] }],
      ["execute", { operations: [{ op: "shapes.get_thing", params: { rows } }] }],
    ] as const) {
      const result = await call(name, args, from);
      expect(text(result).length, name).toBeLessThan(20_000);
      expect(text(result), name).toContain('"truncated":true');
    }
  });
});
