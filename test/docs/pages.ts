// The pages of the documentation and the blocks of code in them.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../e2e/command.js";

/** Written by programs, which are tested themselves. */
const GENERATED: ReadonlySet<string> = new Set(["docs/benchmarks.md"]);

/** Every page with commands for a reader, from the root of the repository. */
export const PAGES: readonly string[] = [
  "README.md",
  "CONTRIBUTING.md",
  "examples/README.md",
  ...markdownIn("docs"),
  ...markdownIn("docs/guides"),
  ...readdirSync(join(root, "packages"))
    .sort()
    .flatMap((name) => markdownIn(`packages/${name}`)),
].filter((page) => !GENERATED.has(page));

function markdownIn(folder: string): string[] {
  return readdirSync(join(root, folder))
    .filter((name) => name.endsWith(".md"))
    .sort()
    .map((name) => `${folder}/${name}`);
}

/** A block of code. */
export interface Block {
  readonly line: number;
  readonly language: string;
  /** The words behind the language, which no reader sees. */
  readonly marks: readonly string[];
  readonly text: string;
  /** In a comment: for the test alone, to set up what a reader has already. */
  readonly isHidden: boolean;
  /** Nothing but space stands between it and the block before. */
  readonly isRightBelow: boolean;
}

/** The text of a page. */
export function readPage(page: string): string {
  return readFileSync(join(root, page), "utf8");
}

/** The blocks of a page, in order: fenced ones, and those in comments (`<!-- sh`). */
export function blocksOf(markdown: string): Block[] {
  const found = markdown.matchAll(/^```(\w*)([^\n]*)\n([\s\S]*?)^```$|^<!-- (sh)([^\n]*)\n([\s\S]*?)^-->$/gm);
  let end = 0;
  return [...found].map((match) => {
    const [all, fenced, marks, text, hidden, hiddenMarks, hiddenText] = match;
    const block = {
      line: markdown.slice(0, match.index).split("\n").length,
      language: fenced ?? hidden ?? "",
      marks: (marks ?? hiddenMarks ?? "").split(/\s+/).filter((mark) => mark !== ""),
      text: text ?? hiddenText ?? "",
      isHidden: hidden !== undefined,
      isRightBelow: end > 0 && markdown.slice(end, match.index).trim() === "",
    };
    end = match.index + all.length;
    return block;
  });
}
