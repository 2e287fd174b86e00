// The pages of the documentation and their code blocks.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../e2e/command.js";

/** Written by programs that have their own tests. */
const GENERATED: ReadonlySet<string> = new Set(["docs/benchmarks.md"]);

/** Every page with commands for a reader, relative to the repository root. */
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

export interface Block {
  readonly line: number;
  readonly language: string;
  /** The words after the language, which readers do not see. */
  readonly marks: readonly string[];
  readonly text: string;
  /** In a comment: only for the test, to set up what a reader already has. */
  readonly isHidden: boolean;
  /** Only white space between it and the previous block. */
  readonly isRightBelow: boolean;
}

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
