// Non-text blocks, all the way through query and execute: none exceeds the budget, and none is lost.
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ToolResult } from "../../src/interfaces/served-tool.js";
import { shapes } from "../operations/support.js";
import { type Answer, answerIn, type Office, openOffice, textIn } from "./support.js";

const PNG = "iVBORw0KGgoAAAAN"; // 12 bytes that are not UTF-8
const picture = (times: number) => ({ type: "image", mimeType: "image/png", data: PNG, times });
const page = (times: number, text = "all work and no play\n") => ({
  type: "resource",
  resource: { uri: "test://page", mimeType: "text/plain", text },
  times,
});

const spent: string[] = [];
let office: Office;
let frugal: Office;

beforeAll(async () => {
  const account = { add: (_: string, text: string) => spent.push(text) };
  office = await openOffice({ servers: [shapes()], account });
  frugal = await openOffice({ servers: [shapes()], spill: false });
});

afterAll(() => Promise.all([office[Symbol.asyncDispose](), frugal[Symbol.asyncDispose]()]));

const gallery = (...blocks: unknown[]) => ({ op: "shapes.gallery", params: { blocks } });
const look = async (where: Office, blocks: unknown[], maxTokens?: number) =>
  await where.call("query", {
    steps: [gallery(...blocks)],
    ...(maxTokens === undefined ? {} : { max_tokens: maxTokens }),
  });

/** The text in a result as a model sees it: everything but the bytes of images, audio and blobs. */
function tokensIn({ content }: ToolResult): number {
  const texts = content.map((block) => {
    if (block.type === "text") return String(block.text);
    return JSON.stringify(block, (key, value: unknown) => (key === "data" || key === "blob" ? "" : value));
  });
  return texts.reduce((sum, text) => sum + countTokens(text, { disallowedSpecial: new Set() }), 0);
}

async function stored(hash: string): Promise<string> {
  return Buffer.from(await (await office.bench.store()).get(hash as never)).toString("base64");
}

describe("blocks next to an answer", () => {
  it("are sent unchanged if small", async () => {
    const result = await look(office, [picture(10), page(3), { type: "hologram", depth: 3 }]);
    expect(result.content.slice(1).map(({ type }) => type)).toEqual(["image", "resource", "hologram"]);
    expect(answerIn(result).blocks).toEqual([
      { type: "image", mimeType: "image/png", size: 120 },
      { type: "resource", mimeType: "text/plain", uri: "test://page", size: 63 },
      { type: "hologram" },
    ]);
  });

  it("that are links are listed by their addresses only", async () => {
    const link = { type: "resource_link", uri: "test://a", name: "A page", mimeType: "text/plain" };
    const result = await look(office, [link]);
    expect(result.content[1]).toEqual(link);
    expect(answerIn(result).blocks).toEqual([{ type: "resource_link", uri: "test://a" }]);
  });

  it("an image that is too large is stored decoded, and its handle expands to base64", async () => {
    const result = await look(office, [picture(100), picture(300_000)]);
    expect(result.content).toHaveLength(2);
    const { blocks } = answerIn(result);
    expect(blocks[1]).toEqual({
      type: "image",
      mimeType: "image/png",
      size: 3_600_000,
      truncated: true,
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      hint: expect.stringContaining("$hash:"),
    });
    expect(await stored(blocks[1].hash)).toBe(PNG.repeat(300_000));
    const { results } = await office.execute([
      { op: "shapes.get_thing", params: { seen: `$hash:${blocks[1].hash}` } },
      { op: "shapes.get_thing", params: { head: "{{$prev.seen[0:16]}}" } },
    ]);
    expect(results[1].result).toEqual({ head: PNG });
    const { total } = await office.query({ op: "list", params: {} });
    expect(total).toBe(0);
  });

  it("the first of many images are sent; later ones get a handle each, and the rest share one", async () => {
    const result = await look(
      office,
      Array.from({ length: 500 }, (_, n) => ({ ...picture(250), data: `${PNG}${String(n).padStart(4, "0")}` })),
    );
    expect(result.content.filter(({ type }) => type === "image")).toHaveLength(20);
    const { blocks } = answerIn(result);
    expect(blocks).toHaveLength(41);
    expect(blocks.slice(20, 40).every(({ hash, truncated }: Answer) => hash !== undefined && truncated)).toBe(true);
    expect(blocks[40]).toMatchObject({ more: 460, truncated: true, hash: expect.any(String) });
    const rest = JSON.parse(Buffer.from(await stored(blocks[40].hash), "base64").toString());
    expect(rest).toHaveLength(460);
    expect(rest[459].data).toBe(`${PNG}0499`.repeat(250));
    expect(tokensIn(result)).toBeLessThanOrEqual(8_000);
  });

  it("the total size of all images is limited too", async () => {
    const result = await look(office, [picture(60_000), picture(60_000), picture(60_000), picture(1)]);
    const sent = result.content.filter(({ type }) => type === "image").map(({ data }) => String(data).length);
    expect(sent).toEqual([960_000, 960_000, 16]);
  });

  it("the text of an embedded resource counts against the budget: it is cut, and stored in full", async () => {
    const result = await look(office, [page(300_000)], 1_000);
    expect(tokensIn(result)).toBeLessThanOrEqual(1_000);
    expect(tokensIn(result)).toBeGreaterThan(500);
    const [entry] = answerIn(result).blocks;
    expect(entry).toMatchObject({ type: "resource", uri: "test://page", size: 6_300_000, truncated: true });
    expect(entry.hint).toContain(`"hash": "${entry.hash.slice(0, 12)}"`);
    const found = await office.query({ op: "grep", params: { pattern: "no play", hash: entry.hash, max_count: 2 } });
    expect(JSON.stringify(found)).toContain("all work and no play");
  });

  it.each([
    ["an unknown block", { type: "hologram", text: "x y z ", times: 400_000 }],
    ["what comes with a picture", { ...picture(1), _meta: { note: "far too much ".repeat(20_000) } }],
    ["a name", { type: "resource_link", uri: `test://${"a/".repeat(50_000)}`, name: "n ".repeat(50_000) }],
    ["a media type", { ...picture(1), mimeType: "image/".repeat(30_000) }],
    ["a blob", { type: "resource", resource: { uri: "test://b", mimeType: "x/y", blob: PNG }, times: 300_000 }],
    ["data that is no base64", { type: "image", mimeType: "image/png", data: "not base64! ", times: 300_000 }],
  ])("%s does not exceed the budget", async (_, block) => {
    for (const maxTokens of [50, 300, 8_000]) {
      const result = await look(office, [block], maxTokens);
      expect(tokensIn(result)).toBeLessThanOrEqual(maxTokens);
      expect(JSON.stringify(result).length).toBeLessThan(200_000);
    }
  });

  it.each([20, 100, 400, 2_000])("everything together fits %i tokens", async (maxTokens) => {
    const blocks = [page(50), picture(5), page(5_000), ...Array.from({ length: 60 }, () => picture(300_000 / 50))];
    const steps = [gallery(...blocks), gallery(page(400)), gallery(picture(2))];
    const queried = await office.call("query", { steps, max_tokens: maxTokens });
    expect(tokensIn(queried)).toBeLessThanOrEqual(maxTokens);
    const executed = await office.call("execute", { operations: steps, max_tokens: maxTokens });
    expect(tokensIn(executed)).toBeLessThanOrEqual(maxTokens);
  });

  it("execute lists them with their operation", async () => {
    const { results } = await office.execute([gallery(picture(1)), gallery(picture(300_000))]);
    expect(results[0].blocks).toEqual([{ type: "image", mimeType: "image/png", size: 12 }]);
    expect(results[1].blocks[0]).toMatchObject({ size: 3_600_000, truncated: true, hash: expect.any(String) });
  });

  it("a repeated batch returns them within the budget of the second call", async () => {
    const batch = { operations: [{ ...gallery(page(100)), op: "shapes.post_gallery" }], idempotency_key: "pages" };
    expect((await office.call("execute", batch)).content).toHaveLength(2);
    const again = await office.call("execute", { ...batch, max_tokens: 300 });
    expect(tokensIn(again)).toBeLessThanOrEqual(300);
    expect(answerIn(again).blocks?.[0] ?? answerIn(again)).toMatchObject({ truncated: true });
  });

  it("without storing they are listed without a handle", async () => {
    const result = await look(frugal, [picture(300_000), page(300_000)], 1_000);
    const { blocks } = answerIn(result);
    expect(blocks).toEqual([
      expect.objectContaining({ type: "image", size: 3_600_000, truncated: true }),
      expect.objectContaining({ type: "resource", size: 6_300_000, truncated: true }),
    ]);
    expect(textIn(result)).not.toContain('"hash"');
    expect(tokensIn(result)).toBeLessThanOrEqual(1_000);
  });

  it("references see them whole, no matter what is sent", async () => {
    const { steps } = await office.query([
      gallery(picture(300_000)),
      gallery({ type: "hologram", head: "$prev.blocks[0].data[0:16]" }),
    ]);
    expect(steps[1]).not.toHaveProperty("warnings");
    expect(steps[1].isError).toBe(false);
  });

  it("the account records what their text costs", async () => {
    spent.length = 0;
    await look(office, [page(100), picture(1_000)]);
    expect(spent).toHaveLength(1);
    expect(spent[0]).toContain("all work and no play");
    expect(spent[0]).not.toContain(PNG);
  });
});
