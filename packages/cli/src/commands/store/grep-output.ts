// Prints grep results: below each document's path at a terminal, as `path:line:text` in a pipe.
import { createContext, Script } from "node:vm";
import type { GrepMatch, GrepParams, GrepResult } from "@trunkline/store";
import { pathShower, shownText } from "../../terminal/output.js";
import type { Palette } from "../../terminal/palette.js";

interface GrepPrinterOptions {
  readonly pattern: Pick<GrepParams, "pattern" | "fixed" | "ignoreCase" | "word" | "invert" | "onlyMatching">;
  readonly palette: Palette;
  readonly cwd: string;
  /** Print the path once, above its lines. */
  readonly heading: boolean;
  readonly numbers: boolean;
  /** Whether context lines are shown; if so, `--` marks gaps. */
  readonly hasContext: boolean;
  /** The terminator of a path on its own. */
  readonly ending: "\n" | "\0";
}

/** Prints page after page; an unfinished group continues on the next page. */
export class GrepPrinter {
  readonly #options: GrepPrinterOptions;
  readonly #highlight: Highlighter;
  #document: string | undefined;
  #lastLine = 0;

  constructor(options: GrepPrinterOptions) {
    this.#options = options;
    this.#highlight = new Highlighter(options.pattern, options.palette);
  }

  /** Formats a page, including line endings. */
  page(page: GrepResult): string {
    if ("matches" in page) return this.#matches(page.matches);
    const { ending } = this.#options;
    return page.files
      .map((file) =>
        typeof file === "string" ? `${this.#path(file)}${ending}` : `${this.#path(file.path)}:${file.count}\n`,
      )
      .join("");
  }

  #matches(matches: readonly GrepMatch[]): string {
    const { pattern, palette } = this.#options;
    const shown = matches.map((match) => this.#shown(match.text));
    const isAllMatch = pattern.onlyMatching === true && pattern.invert !== true;
    const texts = isAllMatch ? shown.map((part) => palette.match(part)) : this.#highlight.lines(shown);
    return matches.map((match, position) => this.#match(match, texts[position] ?? "")).join("");
  }

  #match(match: GrepMatch, text: string): string {
    const { before = [], after = [], line } = match;
    const lines = [this.#opening(match, line - before.length)];
    before.forEach((context, index) => {
      lines.push(this.#line(match, { number: line - before.length + index, mark: "-", text: this.#shown(context) }));
    });
    lines.push(this.#line(match, { number: line, mark: ":", text }));
    after.forEach((context, index) => {
      lines.push(this.#line(match, { number: line + 1 + index, mark: "-", text: this.#shown(context) }));
    });
    this.#lastLine = line + after.length;
    return lines.join("");
  }

  /** Returns what precedes a match: the path of a new document, or a gap marker. */
  #opening({ path, hash }: GrepMatch, firstLine: number): string {
    const { heading, hasContext, palette } = this.#options;
    const document = `${hash} ${path}`;
    const isFirst = this.#document === undefined;
    const isNew = this.#document !== document;
    this.#document = document;
    if (isNew && heading) return `${isFirst ? "" : "\n"}${this.#path(path)}\n`;
    const hasGap = isNew ? !isFirst : firstLine > this.#lastLine + 1;
    return hasContext && hasGap ? `${palette.dim("--")}\n` : "";
  }

  #line({ path }: GrepMatch, { number, mark, text }: { number: number; mark: ":" | "-"; text: string }): string {
    const { heading, numbers, palette } = this.#options;
    const place = [...(heading ? [] : [this.#path(path)]), ...(numbers ? [palette.dim(String(number))] : [])];
    return `${place.map((part) => part + mark).join("")}${text}\n`;
  }

  #path(path: string): string {
    return this.#options.palette.accent(pathShower(this.#options)(path));
  }

  #shown(text: string): string {
    return shownText(text, this.#options.palette.isTerminal);
  }
}

/** Time limit for highlighting a page: it is only decoration, and some patterns would run forever. */
const HIGHLIGHT_MS = 1_000;

/** Runs in its own context, so it can be stopped. Returns where the matches in each line start and end. */
const FIND_SPANS = new Script(`
  const expression = new RegExp(source, flags);
  lines.map((line) =>
    Array.from(line.matchAll(expression), ({ index, 0: text }) => [index, index + text.length])
  )`);

/**
 * Highlights matches. The store says which lines match; the position in a line is found here with a roughly equivalent
 * JavaScript expression. Lines are left as they are if the pattern has no equivalent.
 */
class Highlighter {
  readonly #palette: Palette;
  #expression: RegExp | undefined;

  constructor(pattern: GrepPrinterOptions["pattern"], palette: Palette) {
    this.#palette = palette;
    this.#expression = palette.hasColours && pattern.invert !== true ? expressionOf(pattern) : undefined;
  }

  lines(lines: readonly string[]): readonly string[] {
    const expression = this.#expression;
    if (expression === undefined) return lines;
    let spans: readonly (readonly (readonly [number, number])[])[];
    try {
      const world = createContext({ lines, source: expression.source, flags: expression.flags });
      spans = FIND_SPANS.runInContext(world, { timeout: HIGHLIGHT_MS }) as typeof spans;
    } catch (error) {
      if ((error as { code?: unknown }).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
      this.#expression = undefined;
      return lines;
    }
    return lines.map((line, position) => this.#marked(line, spans[position] ?? []));
  }

  #marked(line: string, spans: readonly (readonly [number, number])[]): string {
    let text = "";
    let at = 0;
    for (const [start, end] of spans) {
      text += line.slice(at, start) + this.#palette.match(line.slice(start, end));
      at = end;
    }
    return text + line.slice(at);
  }
}

const WORD = "[\\p{L}\\p{M}\\p{N}_]";

function expressionOf({ pattern, fixed, word, ignoreCase }: GrepPrinterOptions["pattern"]): RegExp | undefined {
  const inline = fixed ? null : /^\(\?([imsu]+)\)/.exec(pattern);
  const source = fixed
    ? pattern.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")
    : pattern
        .slice(inline?.[0].length ?? 0)
        .replaceAll("(?P<", "(?<")
        .replace(/\\x\{([0-9a-fA-F]+)\}/g, "\\u{$1}")
        .replace(/\\(p)([A-Z])/gi, "\\$1{$2}");
  const bounded = word ? `(?<!${WORD})(?:${source})(?!${WORD})` : source;
  try {
    return new RegExp(bounded, `gu${ignoreCase || inline?.[1]?.includes("i") ? "i" : ""}`);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
