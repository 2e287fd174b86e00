// Checks links in the documentation: Markdown links to files and headings, and file names formatted as code.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

const SKIPPED_FOLDERS = new Set(["node_modules", "dist", ".git", "coverage", ".trunkline"]);
/**
 * A file name formatted as code counts as a link if it starts with one of these; planned locations are named as
 * folders.
 */
const CODE_PATH = /^(?:packages|test|docs|scripts|bench|conformance|examples)\/[\w./-]*\.\w+$/;

interface Link {
  line: number;
  target: string;
  /** `code` targets are relative to the repository root, others to the folder of their file. */
  kind: "markdown" | "code";
}

/** Finds every link in a Markdown text that should point into the repository. */
function linksOf(markdown: string): Link[] {
  return withoutFences(markdown).flatMap((text, index): Link[] => {
    const line = index + 1;
    const code = [...text.matchAll(/`([^`]+)`/g)].flatMap(([, span = ""]) => (CODE_PATH.test(span) ? [span] : []));
    const prose = text.replace(/`[^`]*`/g, "code");
    const inline = [...prose.matchAll(/\]\(\s*<?([^\s)>]+)>?(?:\s+["'(][^)]*)?\)/g)];
    const definitions = [...prose.matchAll(/^ {0,3}\[[^\]^]+\]:\s*<?([^\s>]+)>?/g)];
    const html = [...prose.matchAll(/<(?:a|img)\b[^>]*?\b(?:href|src)="([^"]+)"/g)];
    const targets = [...inline, ...definitions, ...html].map(([, target = ""]) => target);
    return [
      ...targets.filter(isRelative).map((target) => ({ line, target, kind: "markdown" as const })),
      ...code.filter((path) => !path.includes("/dist/")).map((target) => ({ line, target, kind: "code" as const })),
    ];
  });
}

function isRelative(target: string): boolean {
  return !/^[a-z][a-z0-9+.-]*:/i.test(target) && !target.startsWith("//");
}

/** Returns the lines of a text with fenced code blocks emptied, so line numbers stay correct. */
function withoutFences(markdown: string): string[] {
  let fence: string | undefined;
  return markdown.split(/\r?\n/).map((line) => {
    const marker = /^\s*(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence === undefined) {
      if (marker === undefined) return line;
      fence = marker;
    } else if (marker?.startsWith(fence)) {
      fence = undefined;
    }
    return "";
  });
}

/** Returns the anchors GitHub gives the headings. */
function anchorsOf(markdown: string): string[] {
  const seen = new Map<string, number>();
  return withoutFences(markdown).flatMap((line): string[] => {
    const title = /^#{1,6}\s+(.*?)\s*#*$/.exec(line)?.[1];
    if (title === undefined) return [];
    const text = title.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
    const anchor = text.replace(/[^\p{L}\p{N}\s_-]/gu, "").replace(/\s/g, "-");
    const count = seen.get(anchor) ?? 0;
    seen.set(anchor, count + 1);
    return [count === 0 ? anchor : `${anchor}-${count}`];
  });
}

/** Says why a link in `file` is broken, or returns undefined if it is not. */
function faultOf(link: Link, file: string): string | undefined {
  const [path = "", anchor] = link.target.split("#");
  const base = link.kind === "code" || path.startsWith("/") ? root : dirname(file);
  const decoded = decodeURIComponent(path.replace(/\?.*$/, "")).replace(/^\//, "");
  const target = decoded === "" ? file : resolve(base, decoded);
  if (relative(root, target).split(sep)[0] === "..") return "leaves the repository";
  if (!existsSync(target)) return "does not exist";
  if (anchor === undefined || anchor === "" || !target.endsWith(".md")) return undefined;
  return anchorsOf(readFileSync(target, "utf8")).includes(anchor) ? undefined : "has no such heading";
}

function* markdownFiles(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && !SKIPPED_FOLDERS.has(entry.name)) yield* markdownFiles(path);
    else if (entry.isFile() && entry.name.endsWith(".md")) yield path;
  }
}

describe("the documentation", () => {
  const files = [...markdownFiles(root)].map((file) => relative(root, file)).sort();

  it("is found in the root and below docs", () => {
    expect(files).toContain("GLOSSARY.md");
    expect(files).toContain(join("docs", "architecture.md"));
    expect(files.some((file) => file.includes("node_modules"))).toBe(false);
  });

  it.each(files)("%s has no broken links", (name) => {
    const file = join(root, name);
    const faults = linksOf(readFileSync(file, "utf8")).flatMap((link) => {
      const fault = faultOf(link, file);
      return fault === undefined ? [] : [`${name}:${link.line}: ${link.target} ${fault}`];
    });
    expect(faults).toEqual([]);
  });

  it("lists every decision in the decision index", () => {
    const folder = join(root, "docs", "adr");
    const records = readdirSync(folder).filter((name) => /^\d{4}-.*\.md$/.test(name));
    const index = linksOf(readFileSync(join(folder, "README.md"), "utf8")).map(({ target }) => target);
    expect(records.filter((record) => !index.includes(record))).toEqual([]);
  });

  it("lists every page in the index of the documentation", () => {
    const docs = join(root, "docs");
    const pages = ["", "guides", "reference"].flatMap((folder) =>
      readdirSync(join(docs, folder)).flatMap((name) => (name.endsWith(".md") ? [join(folder, name)] : [])),
    );
    const index = linksOf(readFileSync(join(docs, "README.md"), "utf8")).map(({ target }) => target);
    expect(pages.filter((page) => page !== "README.md" && !index.includes(page))).toEqual([]);
  });
});

describe("the link check", () => {
  const file = join(root, "docs", "planted.md");
  const faultsIn = (markdown: string) => linksOf(markdown).map((link) => faultOf(link, file));

  it("detects a link to a missing file, however it is written", () => {
    const spellings = [
      "[a](nowhere.md)",
      '[a](nowhere.md "title")',
      "![a](<nowhere.png>)",
      "[`a`](nowhere.md)",
      "[a]: nowhere.md",
      '<a href="nowhere.md">a</a>',
      "see `docs/nowhere.md`",
      "[a](/nowhere.md)",
    ];
    expect(spellings.map(faultsIn)).toEqual(spellings.map(() => ["does not exist"]));
  });

  it("detects a link to a missing heading and a link that leaves the repository", () => {
    expect(faultsIn("[a](../GLOSSARY.md#nothing-of-the-kind)")).toEqual(["has no such heading"]);
    expect(faultsIn("[a](../../elsewhere.md)")).toEqual(["leaves the repository"]);
  });

  it("accepts files, folders, headings and external URLs", () => {
    expect(faultsIn("[a](../GLOSSARY.md#configuration) [b](adr/) `package.json` `docs/architecture.md`")).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(linksOf("[a](https://example.org/x.md) [b](mailto:ada@example.org)")).toEqual([]);
  });

  it("skips code blocks and reports the right line after one", () => {
    expect(linksOf("```\n[a](nowhere.md)\n```\n[b](nowhere.md)")).toEqual([
      { line: 4, target: "nowhere.md", kind: "markdown" },
    ]);
  });

  it("numbers headings that occur twice", () => {
    expect(anchorsOf("# One `two`\n## One two\n")).toEqual(["one-two", "one-two-1"]);
  });
});
