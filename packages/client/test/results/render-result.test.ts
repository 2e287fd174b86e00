import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { contentIdOf, createLogger } from "@trunkline/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { seededRandom } from "../../../../test/support/seed.js";
import { capText } from "../../src/results/cap-text.js";
import { type ResultBlock, renderBlocks, renderText } from "../../src/results/render-result.js";
import { extensionOf } from "../../src/results/save-binary.js";

const PNG = Buffer.from("89504e470d0a1a0a", "hex").toString("base64");
const PDF = Buffer.from("%PDF-1.7 with some bytes \0\x01\x02");

function text(content: string): ResultBlock {
  return { type: "text", text: content };
}

function binary(blob: unknown, mimeType?: unknown) {
  return { type: "resource", resource: { uri: "file:///x", blob, ...(mimeType === undefined ? {} : { mimeType }) } };
}

let home: string;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "trunkline-results-"));
});

afterEach(async () => {
  await rm(home, { recursive: true, force: true });
});

describe("a result as text", () => {
  it.each([
    ["text blocks, one per line", { content: [text("one"), text("two")] }, "one\ntwo"],
    [
      "every other block as its JSON",
      { content: [text("one"), { type: "image", data: "x" }] },
      'one\n{"type":"image","data":"x"}',
    ],
    ["structuredContent where there are no blocks", { content: [], structuredContent: { a: 1 } }, '{"a":1}'],
    ["structuredContent where there is no content", { structuredContent: [1, null] }, "[1,null]"],
    ["blocks before structuredContent", { content: [text("one")], structuredContent: { a: 1 } }, "one"],
    ["one empty text block", { content: [text("")], structuredContent: { a: 1 } }, ""],
    ["nothing", {}, ""],
    ["an error's text", { content: [text("no")], isError: true }, "no"],
    ["content that is null", { content: null, structuredContent: 0 }, "0"],
    ["content that is text", { content: "hello" }, "hello"],
    ["content that is one block", { content: text("hello") }, "hello"],
    ["blocks that are no objects", { content: [null, 1, "x", ["y"]] }, 'null\n1\nx\n["y"]'],
    ["a text block without text", { content: [{ type: "text" }] }, '{"type":"text"}'],
    ["a text block whose text is a number", { content: [{ type: "text", text: 1 }] }, '{"type":"text","text":1}'],
  ])("is %s", (_, raw: Record<string, unknown>, expected) => {
    expect(renderText(raw)).toBe(expected);
  });

  it("has a note in place of a value that cannot be JSON", () => {
    const loop: Record<string, unknown> = { type: "loop" };
    loop.self = loop;
    expect(renderText({ content: [loop, text("after")] })).toMatch(/^\[not shown: .*\]\nafter$/);
    expect(renderText({ content: [1n, undefined] })).toMatch(/^\[not shown: .*\]\nundefined$/);
  });
});

describe("a result as blocks", () => {
  const link = {
    type: "resource_link",
    uri: "file:///a",
    name: "a",
    mimeType: "text/plain",
    annotations: { priority: 1 },
  };

  it.each<[string, unknown, ResultBlock]>([
    ["text", { type: "text", text: "one", annotations: {} }, text("one")],
    [
      "an image",
      { type: "image", data: PNG, mimeType: "image/png" },
      { type: "image", data: PNG, mimeType: "image/png" },
    ],
    [
      "an image with line breaks in its data",
      { type: "image", data: `${PNG.slice(0, 4)}\r\n${PNG.slice(4)}\n`, mimeType: "image/png" },
      { type: "image", data: PNG, mimeType: "image/png" },
    ],
    [
      "an image in the URL alphabet without padding",
      { type: "image", data: "-_8", mimeType: "image/png" },
      { type: "image", data: "+/8=", mimeType: "image/png" },
    ],
    [
      "an image that is not base64",
      { type: "image", data: "?!", mimeType: "image/png" },
      text("[image not shown: image/png, its data is not base64]"),
    ],
    [
      "an image without data",
      { type: "image", mimeType: "image/png" },
      text("[image not shown: image/png, its data is not base64]"),
    ],
    [
      "an image with empty data",
      { type: "image", data: "", mimeType: "image/png" },
      text("[image not shown: image/png, its data is empty]"),
    ],
    ["an image without a type", { type: "image", data: PNG }, text("[image not shown: it has no type, 8 bytes]")],
    [
      "an image whose type is none",
      { type: "image", data: PNG, mimeType: "x]\n[binary saved at /etc/passwd" },
      text("[image not shown: it has no type, 8 bytes]"),
    ],
    ["audio", { type: "audio", data: "AAAA", mimeType: "audio/wav" }, text("[audio: audio/wav, 3 bytes]")],
    ["audio of one byte", { type: "audio", data: "AA==", mimeType: "audio/wav" }, text("[audio: audio/wav, 1 byte]")],
    [
      "audio that is not base64",
      { type: "audio", data: "A", mimeType: "audio/wav" },
      text("[audio: audio/wav, its data is not base64]"),
    ],
    ["audio without anything", { type: "audio" }, text("[audio: no type, its data is not base64]")],
    ["an embedded text", { type: "resource", resource: { uri: "file:///a", text: "inside" } }, text("inside")],
    ["an embedded empty text", { type: "resource", resource: { uri: "file:///a", text: "" } }, text("")],
    ["a link", link, link as ResultBlock],
    ["a link without a URI", { type: "resource_link", name: "a" }, text('{"type":"resource_link","name":"a"}')],
    [
      "a binary with no home",
      binary(PDF.toString("base64"), "application/pdf"),
      text(
        `[binary received and not saved: application/pdf, ${PDF.length} bytes, there is no home folder to save it in]`,
      ),
    ],
    [
      "a binary that is not base64",
      binary("%%%", "application/pdf"),
      text("[binary received and not saved: application/pdf, its data is not base64]"),
    ],
    ["a binary that is a number", binary(7), text('{"type":"resource","resource":{"uri":"file:///x","blob":7}}')],
    ["a resource that is none", { type: "resource", resource: "x" }, text('{"type":"resource","resource":"x"}')],
    ["a resource that is missing", { type: "resource" }, text('{"type":"resource"}')],
    ["a type that nobody knows", { type: "hologram", depth: 3 }, text('{"type":"hologram","depth":3}')],
    ["no type", { text: "x" }, text('{"text":"x"}')],
    ["null", null, text("null")],
    ["a list", [text("x")], text('[{"type":"text","text":"x"}]')],
  ])("renders %s", async (_, block, expected) => {
    const raw = { content: [block] };
    const rendered = await renderBlocks(raw);
    expect(rendered).toEqual({ isError: false, blocks: [expected], raw, leftOutChars: 0 });
    expect(rendered.raw).toBe(raw);
  });

  it("carries isError only if it is true", async () => {
    expect((await renderBlocks({ content: [], isError: true })).isError).toBe(true);
    expect((await renderBlocks({ content: [], isError: "yes" })).isError).toBe(false);
    expect((await renderBlocks({})).isError).toBe(false);
  });

  it("keeps the order, and shows structuredContent only if there are no blocks", async () => {
    const content = [text("one"), { type: "image", data: PNG, mimeType: "image/png" }, text("two")];
    expect((await renderBlocks({ content, structuredContent: {} })).blocks.map(({ type }) => type)).toEqual([
      "text",
      "image",
      "text",
    ]);
    expect((await renderBlocks({ structuredContent: { a: 1 } })).blocks).toEqual([text('{"a":1}')]);
  });

  it.each([[{}], [{ content: null }], [{ content: [] }]])("has no blocks for %j", async (raw) => {
    expect((await renderBlocks(raw)).blocks).toEqual([]);
  });

  it.each([null, undefined, 1, "x", []])("does not fail on %j in place of a result", async (raw) => {
    // A broken server does not always answer with the declared type.
    const wrong = raw as unknown as Record<string, unknown>;
    expect((await renderBlocks(wrong)).blocks).toEqual([]);
    expect(renderText(wrong)).toBe("");
  });
});

describe("a binary resource", () => {
  it("is saved under the home folder, named by its content, for the user only", async () => {
    const { blocks } = await renderBlocks({ content: [binary(PDF.toString("base64"), "application/pdf")] }, { home });
    const path = join(home, "mcp-blobs", `${contentIdOf(PDF)}.pdf`);
    expect(blocks).toEqual([text(`[binary saved at ${path}]`)]);
    expect(await readFile(path)).toEqual(PDF);
    expect(await readdir(join(home, "mcp-blobs"))).toEqual([`${contentIdOf(PDF)}.pdf`]);
    if (process.platform !== "win32") {
      expect((await stat(join(home, "mcp-blobs"))).mode & 0o777).toBe(0o700);
      expect((await stat(path)).mode & 0o777).toBe(0o600);
    }
  });

  it("is saved like this if it is audio, too, and named with its type and size", async () => {
    const sound = Buffer.from("RIFF....WAVE");
    const block = { type: "audio", data: sound.toString("base64"), mimeType: "audio/wav" };
    const { blocks } = await renderBlocks({ content: [block] }, { home });
    const path = join(home, "mcp-blobs", `${contentIdOf(sound)}.wav`);
    expect(blocks).toEqual([text(`[audio: audio/wav, 12 bytes; binary saved at ${path}]`)]);
    expect(await readFile(path)).toEqual(sound);
  });

  it.skipIf(process.platform === "win32")("makes an open folder private (not on Windows)", async () => {
    await mkdir(join(home, "mcp-blobs"));
    await chmod(join(home, "mcp-blobs"), 0o755);
    await renderBlocks({ content: [binary("AAAA")] }, { home });
    expect((await stat(join(home, "mcp-blobs"))).mode & 0o777).toBe(0o700);
  });

  it("is saved once for the same bytes, even by many callers at once", async () => {
    const bytes = seededRandom().bytes(300_000);
    const raw = { content: [binary(bytes.toString("base64"), "image/png")] };
    const rendered = await Promise.all(Array.from({ length: 20 }, () => renderBlocks(raw, { home })));
    expect(new Set(rendered.map(({ blocks }) => JSON.stringify(blocks))).size).toBe(1);
    expect(await readdir(join(home, "mcp-blobs"))).toEqual([`${contentIdOf(bytes)}.png`]);
    expect(await readFile(join(home, "mcp-blobs", `${contentIdOf(bytes)}.png`))).toEqual(bytes);
  });

  it("replaces a file of its name with different content", async () => {
    const path = join(home, "mcp-blobs", `${contentIdOf(PDF)}.pdf`);
    await mkdir(join(home, "mcp-blobs"));
    await writeFile(path, "half of it");
    await renderBlocks({ content: [binary(PDF.toString("base64"), "application/pdf")] }, { home });
    expect(await readFile(path)).toEqual(PDF);
  });

  it("is saved even if it is empty", async () => {
    const { blocks } = await renderBlocks({ content: [binary("")] }, { home });
    expect(blocks).toEqual([text(`[binary saved at ${join(home, "mcp-blobs", `${contentIdOf("")}.bin`)}]`)]);
  });

  it.each([
    ["application/pdf", ".pdf"],
    ["IMAGE/PNG", ".png"],
    ["text/csv; charset=utf-8", ".csv"],
    ["application/x-msdownload", ".bin"],
    ["application/../../evil", ".bin"],
    ["", ".bin"],
    [undefined, ".bin"],
  ])("of type %j has the extension %j", (mimeType, expected) => {
    expect(extensionOf(mimeType)).toBe(expected);
  });

  it("becomes a note and a log line if it cannot be saved, and the rest of the result is kept", async () => {
    await writeFile(join(home, "mcp-blobs"), "a file where the folder should be");
    const lines: string[] = [];
    const logger = createLogger({ write: (line) => void lines.push(line) });
    const { blocks } = await renderBlocks(
      { content: [text("one"), binary("AAAA", "image/png"), text("two")] },
      { home, logger },
    );
    expect(blocks).toEqual([
      text("one"),
      text("[binary received and not saved: image/png, 3 bytes, saving it failed with EEXIST]"),
      text("two"),
    ]);
    expect(lines.join("")).toContain("binary not saved");
  });

  it("is not saved if the caller has aborted", async () => {
    const signal = AbortSignal.abort();
    await expect(renderBlocks({ content: [binary("AAAA")] }, { home, signal })).rejects.toMatchObject({
      code: "ABORTED",
    });
    expect(await readdir(home)).toEqual([]);
  });
});

describe("a cap on text", () => {
  const note = (left: number, total: number, how = "the raw result has all of them") =>
    `[${left} of ${total} characters left out; ${how}]`;

  it.each([
    ["leaves a shorter text alone", "abc", 4, "abc"],
    ["leaves a text of just that length alone", "abc", 3, "abc"],
    ["cuts a longer one", "abcdef", 4, `abcd\n${note(2, 6)}`],
    ["keeps nothing at 0", "abc", 0, note(3, 3)],
    ["leaves nothing alone at 0", "", 0, ""],
    ["rounds down", "abc", 2.9, `ab\n${note(1, 3)}`],
    ["counts a pair of surrogates as one", "😀😀😀", 3, "😀😀😀"],
    ["cuts between code points", "a😀b😀c", 2, `a😀\n${note(3, 5)}`],
    ["keeps a letter and its accent together", "xe\u0301y", 2, `x\n${note(3, 4)}`],
    ["keeps a family together", "hi 👨‍👩‍👧 there", 5, `hi \n${note(11, 14)}`],
    ["keeps a flag whole", "go 🇩🇪🇫🇷 go", 6, `go 🇩🇪\n${note(5, 10)}`],
    ["keeps CR and LF together", "ab\r\ncd", 3, `ab\n${note(4, 6)}`],
    ["cuts a visible character that is larger than the cap", "👨‍👩‍👧", 1, `👨\n${note(4, 5)}`],
  ])("%s", (_, given, maxChars, expected) => {
    expect(capText(given, maxChars)).toBe(expected);
  });

  it("says how to get the rest", () => {
    expect(capText("abcdef", 4, "add --raw to see them")).toBe(`abcd\n${note(2, 6, "add --raw to see them")}`);
  });

  it("never splits a surrogate pair, at any length", () => {
    const given = "a😀日e\u0301👨‍👩‍👧🇩🇪z".repeat(20) + "\u0301".repeat(200);
    for (let maxChars = 0; maxChars <= [...given].length; maxChars++) {
      const kept = capText(given, maxChars).split("\n[")[0] ?? "";
      expect(given.startsWith(kept) || kept.startsWith("[")).toBe(true);
      expect(/[\ud800-\udbff]$/.test(kept)).toBe(false);
    }
  });

  it("keeps the beginning of a large text", () => {
    expect(capText("日".repeat(5_000_000), 10)).toBe(`${"日".repeat(10)}\n${note(4_999_990, 5_000_000)}`);
  });

  it.each([-1, Number.NaN])("of %j is rejected", (maxChars) => {
    expect(() => capText("abc", maxChars)).toThrowError(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
  });

  it("applies to all text blocks together; images, links and notes stay", async () => {
    const image = { type: "image", data: PNG, mimeType: "image/png" };
    const content = [text("abc"), image, text("defgh"), { type: "audio" }, text("ij"), text("")];
    const rendered = await renderBlocks({ content }, { maxChars: 5 });
    expect(rendered.leftOutChars).toBe(5);
    expect(rendered.blocks).toEqual([
      text("abc"),
      image,
      text(`de\n${note(5, 10)}`),
      text("[audio: no type, its data is not base64]"),
    ]);
  });

  it("omits all text after the first cut", async () => {
    const rendered = await renderBlocks(
      { content: [text("ab"), text("c👨‍👩‍👧"), text("d")] },
      { maxChars: 4, howToGet: "ask" },
    );
    expect(rendered.blocks).toEqual([text("ab"), text(`c\n${note(6, 9, "ask")}`)]);
  });

  it("changes nothing if everything fits", async () => {
    const content = [text("ab"), text(""), text("cd")];
    expect(await renderBlocks({ content }, { maxChars: 4 })).toMatchObject({ blocks: content, leftOutChars: 0 });
  });

  it("applies to structuredContent too", async () => {
    expect((await renderBlocks({ structuredContent: { a: "xxxxxxxx" } }, { maxChars: 4 })).blocks).toEqual([
      text(`{"a"\n${note(12, 16)}`),
    ]);
  });
});
