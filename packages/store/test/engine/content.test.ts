import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { unifiedDiff } from "@trunkline/core";
import { describe, expect, it } from "vitest";
import { seededRandom } from "../../../../test/support/seed.js";
import { parseRange } from "../../src/contract/params.js";
import { targetsOf } from "../../src/documents/restore.js";
import { cutPoints, MAX_CHUNK_BYTES, MIN_CHUNK_BYTES } from "../../src/engine/content/chunker.js";
import { openChunk, prepareChunk, prepareContent, sha256 } from "../../src/engine/content/prepare.js";
import { contentTypeOf, decodeText, identifierWords, splitIdentifier, titleOf } from "../../src/engine/content/text.js";
import { compileGlob } from "../../src/engine/files/glob.js";
import { cutSnippet } from "../../src/search/snippet.js";

describe("chunking", () => {
  it("respects the limits, joins back to the whole, and cuts equal bytes equally", () => {
    const bytes = seededRandom().bytes(2_000_000);
    const ends = cutPoints(bytes);
    const sizes = ends.map((end, index) => end - (ends[index - 1] ?? 0));
    expect(ends.at(-1)).toBe(bytes.length);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(MAX_CHUNK_BYTES);
    expect(Math.min(...sizes.slice(0, -1))).toBeGreaterThan(MIN_CHUNK_BYTES);
    expect(cutPoints(Buffer.from(bytes))).toEqual(ends);
  });

  it("is part of the format: known bytes are cut at known places", () => {
    const bytes = Buffer.alloc(200_000);
    let state = 1;
    for (let index = 0; index < bytes.length; index++) {
      state = (state * 1_103_515_245 + 12_345) & 0x7fffffff;
      bytes[index] = state >> 16;
    }
    expect(sha256(Buffer.from(cutPoints(bytes).join(",")))).toMatchInlineSnapshot(
      `"3e9412cc1f90a7e54292c60cb2b0a73909eb680b608957ede99ad4bea14eb4b0"`,
    );
  });

  it("resynchronises after an insertion", () => {
    const bytes = seededRandom().bytes(1_000_000);
    const changed = Buffer.concat([bytes.subarray(0, 300_000), Buffer.from("!"), bytes.subarray(300_000)]);
    const known = new Set(prepareContent(bytes, () => false).chunks.map((chunk) => chunk.hash));
    const fresh = prepareContent(changed, () => false).chunks.filter((chunk) => !known.has(chunk.hash));
    expect(fresh.length).toBeLessThanOrEqual(3);
  });

  it("compresses when that helps, and does not open a damaged chunk", () => {
    const text = prepareChunk(Buffer.from("again and again ".repeat(100)), () => false);
    expect([text.codec, (text.data?.length ?? 0) < 200]).toEqual([1, true]);
    expect(prepareChunk(seededRandom().bytes(5000), () => false).codec).toBe(0);
    const data = Uint8Array.from(text.data as Uint8Array);
    expect(Buffer.from(openChunk({ ...text, data })).toString()).toContain("again");
    for (const at of [0, 5, data.length - 1]) {
      const harmed = Uint8Array.from(data);
      harmed[at] = (harmed[at] as number) ^ 4;
      expect(() => openChunk({ ...text, data: harmed })).toThrow(expect.objectContaining({ code: "IO" }));
    }
  });
});

describe("compression", () => {
  it("returns each thread's own bytes, however many threads compress at once", async () => {
    const program = new URL("../programs/compressing.js", import.meta.url);
    const wrong = await Promise.all(
      [1, 2, 3, 4].map(async () => {
        const worker = new Worker(program);
        const [count] = (await once(worker, "message")) as [number];
        return count;
      }),
    );
    expect(wrong).toEqual([0, 0, 0, 0]);
  });
});

describe("text", () => {
  it.each([
    ["parseHTTPRequest", ["parse", "HTTP", "Request"]],
    ["snake_case_name", ["snake", "case", "name"]],
    ["getÜberName", ["get", "Über", "Name"]],
    ["plain", ["plain"]],
  ])("splits %s", (identifier, parts) => {
    expect(splitIdentifier(identifier)).toEqual(parts);
  });

  it("collects only the parts of compound identifiers", () => {
    expect(identifierWords("const parseHTTPRequest = open(parseHTTPRequest, fileName); plain words NASA")).toBe(
      "parse HTTP Request file Name",
    );
    expect(identifierWords("_fooBar snake_caseName getÜberName x2Y 𝐚𝐁 A1 aB")).toBe(
      "foo Bar case Name get Über Name x2 Y 𝐚 𝐁 a B",
    );
  });

  it("finds the same identifiers as a regular expression, also where a long text is cut for reading", () => {
    const random = seededRandom();
    const characters = ["a", "b", "A", "B", "1", "_", " ", ".", "\n", "é", "Ñ", "日", "𝐚", "𝐁", "\ud835", "\udc1a"];
    const byExpression = (text: string) =>
      [...new Set(text.match(/[\p{L}\p{N}]+/gu))]
        .filter((identifier) => identifier.length <= 120)
        .map(splitIdentifier)
        .filter((parts) => parts.length > 1)
        .flat()
        .join(" ");
    for (let round = 0; round < 200; round++) {
      const text = Array.from({ length: random.below(60) }, () => random.pick(characters)).join("");
      expect(identifierWords(text)).toBe(byExpression(text));
      const later = " ".repeat(32 * 1024 - random.below(60)) + text;
      expect(identifierWords(later)).toBe(byExpression(text));
    }
  });

  it("tells text from binary, and decodes UTF-16", () => {
    expect(contentTypeOf(Buffer.from("text"))).toBe("text");
    expect(contentTypeOf(Buffer.from([1, 0, 2]))).toBe("binary");
    const utf16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from("grün", "utf16le")]);
    expect([contentTypeOf(utf16), decodeText(utf16)]).toEqual(["text", "grün"]);
  });

  it("finds titles", () => {
    expect(titleOf("# The title #\n\ntext")).toBe("The title");
    expect(titleOf("<html><head><title> A\n page </title>")).toBe("A page");
    expect(titleOf("#!/bin/sh\n# comment")).toBeUndefined();
  });

  it("cuts out the line with the most words", () => {
    const text = "nothing\nan index only\nthe indexing of queries\nend";
    expect(cutSnippet(text, ["index", "query"], { context: 1, lineNumbers: true })).toEqual({
      snippet: "2: an index only\n3: the indexing of queries\n4: end",
      line: 3,
    });
  });
});

describe("globs", () => {
  it.each([
    ["*.md", "/a/b/c.md", true],
    ["*.md", "/a/b/c.mdx", false],
    ["src/**/*.ts", "/x/src/a/b/c.ts", true],
    ["src/**/*.ts", "/x/src/c.ts", true],
    ["src/*.ts", "/x/src/a/c.ts", false],
    ["/x/**", "/x/src/a/c.ts", true],
    ["/y/**", "/x/y/c.ts", false],
    ["draft-?.{md,txt}", "draft-1.txt", true],
    ["[!a]*.ts", "abc.ts", false],
    ["[a-c]*.ts", "/b.ts", true],
    ["a+b(1).txt", "a+b(1).txt", true],
    ["sub/", "/x/sub/deep/file", true],
  ])("%s against %s: %s", (pattern, path, matches) => {
    expect(compileGlob(pattern)(path)).toBe(matches);
  });
});

describe("diffs", () => {
  it("turn one text into the other", () => {
    const { below } = seededRandom();
    const random = (length: number) => Array.from({ length }, () => `line ${below(12)}`);
    for (let round = 0; round < 200; round++) {
      const before = random(below(30));
      const after = random(below(30));
      const diff = unifiedDiff(toText(before), toText(after), { from: "a", to: "b" });
      expect(applied(before, diff)).toEqual(after);
    }
  });

  it("are empty for equal texts, and mark a missing final newline", () => {
    expect(unifiedDiff("a\n", "a\n", { from: "a", to: "b" })).toBe("");
    expect(unifiedDiff("a\n", "a", { from: "a", to: "b" })).toContain("\\ No newline at end of file");
  });
});

function toText(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}

/** Applies a unified diff, checking every line in it. */
function applied(before: readonly string[], diff: string): string[] {
  const after: string[] = [];
  let position = 0;
  for (const line of diff.split("\n").slice(2, -1)) {
    const hunk = /^@@ -(\d+)(?:,(\d+))? /.exec(line);
    if (hunk !== null) {
      const start = hunk[2] === "0" ? Number(hunk[1]) : Number(hunk[1]) - 1;
      after.push(...before.slice(position, start));
      position = start;
      continue;
    }
    if (line[0] !== "+") expect(before[position++]).toBe(line.slice(1));
    if (line[0] !== "-") after.push(line.slice(1));
  }
  return [...after, ...before.slice(position)];
}

describe("restore targets", () => {
  it("strip roots, keep equal names of different roots apart, and reject escapes", () => {
    const rows = [
      { path: "/w/app/readme.md", root: "/w/app" },
      { path: "/w/lib/readme.md", root: "/w/lib" },
      { path: "/w/lib/src/a.ts", root: "/w/lib" },
      { path: "note.md", root: null },
      { path: "/etc/passwd", root: null },
      { path: "a/../../b", root: null },
    ];
    expect(targetsOf(rows).map(([, target]) => target)).toEqual([
      "app/readme.md",
      "lib/readme.md",
      "src/a.ts",
      "note.md",
      "etc/passwd",
      undefined,
    ]);
  });
});

describe("ranges", () => {
  it("include both ends and can be open-ended", () => {
    expect(parseRange("10-40", { name: "lines", first: 1 })).toEqual({ from: 10, to: 40 });
    expect(parseRange("7", { name: "lines", first: 1 })).toEqual({ from: 7, to: 7 });
    expect(parseRange("7-", { name: "lines", first: 1 }).from).toBe(7);
    for (const text of ["", "a", "0", "5-3", "1-2-3"]) {
      expect(() => parseRange(text, { name: "lines", first: 1 })).toThrow(
        expect.objectContaining({ code: "INVALID_ARGUMENT" }),
      );
    }
  });
});
