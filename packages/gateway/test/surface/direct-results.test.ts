// What a client gets of long results if it calls a server's tool by its own name.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { shapes } from "../operations/support.js";
import { callTool, stdio, type TestService, testCaller, testService, textOf } from "../service/support.js";

type Raw = Readonly<Record<string, unknown>>;

const LINE = "one line of a long report\n";
const text = (times: number) => ({ type: "text", text: LINE, times });
const picture = (times: number) => ({ type: "image", mimeType: "image/png", data: "iVBORw0KGgoAAAAN", times });
const link = (number: number) => ({ type: "resource_link", uri: `test://${number}`, name: `page ${number} ${LINE}` });
const rows = Array.from({ length: 800 }, (_, id) => ({ id, title: `issue number ${id}`, state: "open" }));

const local = testCaller();
let auto: TestService;

beforeAll(() => {
  auto = testService([shapes(), stdio("hostile")], { surface: "auto" });
});

afterAll(() => auto[Symbol.asyncDispose]());

const gallery = (blocks: readonly Raw[], service = auto, name = "shapes_gallery") =>
  callTool(service, name, { blocks }, { caller: local });

const blocksOf = ({ content }: Raw) => content as Raw[];

/** Reads what a shortened result refers to. */
async function read(hash: unknown, caller = local): Promise<Raw> {
  const args = { steps: [{ op: "get", params: { hash, bytes: "0-" } }], max_tokens: 100_000 };
  return (await callTool(auto, "query", args, { caller })).structuredContent as Raw;
}

describe("a result of a direct tool", () => {
  it("is passed on unchanged if it is short, and the store stays closed", async () => {
    await using service = testService([shapes()], { surface: "auto" });
    const blocks = [text(100), picture(50_000), link(1)];
    const { content } = await gallery(blocks, service);
    expect(content).toEqual(blocks.map((block) => expect.objectContaining({ type: block.type })));
    expect(textOf({ content })).toBe(LINE.repeat(100));
    expect(service.storeIsOpen).toBe(false);
  });

  it("that is a long text stays a text and says how to read the rest", async () => {
    const result = await gallery([text(4_000)]);
    expect(Object.keys(result)).toEqual(["content"]);
    const shown = textOf(result);
    expect(shown.startsWith(LINE.repeat(10))).toBe(true);
    expect(shown.length).toBeLessThan(2_500);
    const hash = /query \{"steps": \[\{"op": "get", "params": \{"hash": "(\w+)"/.exec(shown)?.[1];
    expect(await read(hash)).toMatchObject({ content: LINE.repeat(4_000) });
  });

  it("that is structured stays structured", async () => {
    const result = await callTool(auto, "shapes_get_thing", { rows }, { caller: local });
    const { structuredContent } = result as { structuredContent: Raw };
    expect(structuredContent).toMatchObject({ truncated: true, hash: expect.any(String), rows: expect.anything() });
    expect(JSON.parse(textOf(result))).toEqual(structuredContent);
    expect(textOf(result).length).toBeLessThan(4_000);
    expect(JSON.parse(String((await read(structuredContent.hash)).content))).toEqual({ rows });
  });

  it("that is a text in structured content is both a text and structured", async () => {
    const result = await callTool(auto, "shapes_get_thing", { content: LINE.repeat(4_000) }, { caller: local });
    const { content, hint } = result.structuredContent as { content: string; hint: string };
    expect(content.startsWith(LINE.repeat(10))).toBe(true);
    expect(textOf(result)).toBe(`${content}\n\n[truncated. ${hint}]`);
  });

  it("keeps its pictures and links beside a long text", async () => {
    const result = await gallery([text(4_000), picture(3), link(1)]);
    expect(blocksOf(result).slice(1)).toEqual([
      { type: "image", mimeType: "image/png", data: "iVBORw0KGgoAAAAN".repeat(3) },
      link(1),
    ]);
  });

  it("with too many links has a handle for those that are left out", async () => {
    const result = await gallery(Array.from({ length: 2_000 }, (_, index) => link(index)));
    const { contentBlocks } = JSON.parse(textOf(result)) as { contentBlocks: Raw[] };
    const more = contentBlocks.at(-1) as { more: number; hash: string };
    expect(blocksOf(result).length).toBeLessThan(500);
    expect(more.more).toBeGreaterThan(1_000);
    const left = JSON.parse(String((await read(more.hash)).content)) as Raw[];
    expect(left.at(-1)).toEqual(link(1_999));
  });

  it("that is an error stays one", async () => {
    const result = await callTool(auto, "shapes_quotes", { said: LINE.repeat(4_000) }, { caller: local });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toMatch(/^failed with one line[\s\S]*The full result is stored/);
    expect(textOf(result).length).toBeLessThan(2_500);
  });

  it("that is large because of a picture is passed on", async () => {
    const result = await callTool(auto, "hostile_image", { bytes: 3_000_000 }, { caller: local });
    expect(JSON.parse(JSON.stringify(result)).content[1].data).toHaveLength(3_000_000);
  });

  it("of megabytes is stored whole and shortened", async () => {
    const result = await callTool(auto, "hostile_big", { bytes: 2_000_000 }, { caller: local });
    expect(textOf(result).length).toBeLessThan(4_000);
    const list = await callTool(auto, "hostile_list", { bytes: 2_000_000, as: "structured" }, { caller: local });
    expect(JSON.parse(textOf(list))).toMatchObject({ truncated: true, size: expect.any(Number) });
  });

  it("is stored for its own principal only", async () => {
    const result = await callTool(auto, "shapes_get_thing", { rows, for: "one" }, { caller: local });
    const { hash } = result.structuredContent as Raw;
    expect(await read(hash)).toHaveProperty("content");
    const other = testCaller({ principal: "other" });
    expect(await read(hash, other)).toMatchObject({ error: { code: "NOT_FOUND" } });
  });

  it.each([
    ["the direct surface", { surface: "direct", names: "wire" } as const],
    ["storing switched off", { surface: "auto", spill: false } as const],
  ])("is unchanged with %s", async (_, options) => {
    await using service = testService([shapes()], options);
    expect(textOf(await gallery([text(4_000)], service))).toBe(LINE.repeat(4_000));
    expect(service.storeIsOpen).toBe(false);
  });
});
