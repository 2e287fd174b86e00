// Renders Markdown for a terminal while it arrives: words appear as soon as no later text can change how they look. Only
// spans, headings, lines of code and tables wait until they are complete.
import { printableLines } from "@trunkline/core";
import { type MarkdownPalette, renderInline, renderStable } from "./markdown-inline.js";
import { isTable, renderTable } from "./markdown-table.js";
import { widthOf } from "./text-width.js";

interface MarkdownOptions {
  readonly write: (text: string) => void;
  /** The width of the terminal, which can change. */
  readonly columns: () => number;
  readonly palette: MarkdownPalette;
}

/** Narrower text is harder to read than text without indentation. */
const NARROWEST = 20;
const RULE_COLUMNS = 40;
/** Longer tables are shown in parts. */
const MAX_TABLE_LINES = 500;

const FENCE = /^\s*(`{3,}|~{3,})([^`]*)$/;
const HEADING = /^\s{0,3}(#{1,6})\s+(.*?)(?:\s+#+)?\s*$/;
const RULE = /^\s{0,3}([-*_])(?:\s*\1){2,}\s*$/;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])(\s+)(?:\[([ xX])\]\s+)?(?=\S)/;
const QUOTE = /^\s{0,3}((?:>\s?)+)/;

/** A line of text that is being written. */
interface OpenLine {
  /** What further rows of the line begin with. */
  readonly hang: string;
}

export class MarkdownStream {
  readonly #options: MarkdownOptions;
  /** The part of the current line that is not written yet. */
  #line = "";
  #open: OpenLine | undefined;
  #column = 0;
  #gap = "";
  #fence: string | undefined;
  #table: string[] = [];

  constructor(options: MarkdownOptions) {
    this.#options = options;
  }

  add(text: string): void {
    const lines = text.split("\n");
    lines.forEach((line, index) => {
      this.#line += line;
      if (index < lines.length - 1) this.#endLine();
      else this.#advance();
    });
  }

  /** Writes what was held back, and starts over. */
  end(): void {
    if (this.#line !== "" || this.#open !== undefined) this.#endLine();
    this.#endTable();
    this.#fence = undefined;
  }

  /** Writes as much of an incomplete line as is certain. */
  #advance(): void {
    if (this.#fence !== undefined) return;
    if (this.#open === undefined && !this.#begin()) return;
    const { shown, rest } = renderStable(this.#line, this.#options.palette);
    this.#line = rest;
    this.#put(shown);
  }

  /** Begins a line of text. Returns false if it may become something else. */
  #begin(): boolean {
    const line = this.#line;
    if (this.#table.length > 0 || /^\s*(?:$|[|#`~])/.test(line)) return false;
    // A marker needs the text after it: `-` can begin an item or a rule.
    if (/^\s*(?:[-*+_>]|\d)/.test(line) && !/^\s*\S+\s+[^\s\-*_[>]/.test(line)) return false;
    this.#beginText();
    return true;
  }

  #beginText(): void {
    const { palette } = this.#options;
    const line = this.#line;
    const item = ITEM.exec(line);
    const quote = item === null ? QUOTE.exec(line) : null;
    const indent = /^\s*/.exec(line)?.[0] ?? "";
    let used = indent.length;
    let lead = expanded(indent);
    let prefix = lead;
    if (item !== null) {
      const [all, , marker = "", , box] = item;
      const bullet = box === undefined ? (/\d/.test(marker) ? marker : "•") : box === " " ? "☐" : "☑";
      lead = `${expanded(indent)}${" ".repeat(widthOf(bullet) + 1)}`;
      prefix = `${expanded(indent)}${palette.accent(bullet)} `;
      used = all.length;
    } else if (quote !== null) {
      prefix = lead = palette.dim("│ ".repeat((quote[1] ?? "").replace(/[^>]/g, "").length));
      used = quote[0].length;
    }
    const isNarrow = widthOf(lead) + NARROWEST > this.#options.columns();
    this.#options.write(prefix);
    this.#column = widthOf(prefix);
    this.#gap = "";
    this.#open = { hang: isNarrow ? "" : lead };
    this.#line = line.slice(used);
  }

  #endLine(): void {
    const line = this.#line.replace(/\r$/, "");
    this.#line = line;
    if (this.#fence !== undefined) this.#codeLine(line, this.#fence);
    else if (this.#open === undefined && this.#isBlock(line)) this.#line = "";
    else {
      if (this.#open === undefined) this.#beginText();
      this.#put(renderInline(this.#line, this.#options.palette));
      this.#options.write("\n");
    }
    this.#line = "";
    this.#open = undefined;
    this.#column = 0;
    this.#gap = "";
  }

  #codeLine(line: string, fence: string): void {
    const closing = FENCE.exec(line);
    if (closing?.[1]?.startsWith(fence) && closing[2]?.trim() === "") this.#fence = undefined;
    else this.#writeLine(line.trim() === "" ? "" : `  ${this.#options.palette.accent(printableLines(line))}`);
  }

  /** Handles a complete line that is not running text. Returns false if it is. */
  #isBlock(line: string): boolean {
    const { palette, columns } = this.#options;
    if (/^\s*\|/.test(line) || (this.#table.length > 0 && line.includes("|"))) {
      this.#table.push(line);
      if (this.#table.length >= MAX_TABLE_LINES) this.#endTable();
      return true;
    }
    this.#endTable();
    this.#line = line;
    const fence = FENCE.exec(line);
    const heading = HEADING.exec(line);
    if (line.trim() === "") this.#writeLine("");
    else if (fence !== null) this.#fence = fence[1];
    else if (RULE.test(line)) this.#writeLine(palette.dim("─".repeat(Math.min(columns(), RULE_COLUMNS))));
    else if (heading !== null) {
      const title = renderInline(heading[2] ?? "", palette);
      // Without colours the marks are what sets a heading apart.
      this.#writeLine(palette.hasColours ? palette.heading(title) : `${heading[1]} ${title}`);
    } else return false;
    return true;
  }

  #endTable(): void {
    const lines = this.#table;
    if (lines.length === 0) return;
    this.#table = [];
    const { palette, columns } = this.#options;
    const shown = isTable(lines)
      ? renderTable(lines, { columns: columns(), palette })
      : lines.map((line) => renderInline(line, palette));
    for (const line of shown) this.#writeLine(line);
  }

  #writeLine(line: string): void {
    this.#options.write(`${line}\n`);
  }

  /** Writes text and breaks rows at spaces. */
  #put(shown: string): void {
    const { write, columns } = this.#options;
    const hang = this.#open?.hang ?? "";
    for (const [, gap = "", word = ""] of shown.matchAll(/( *)([^ ]*)/g)) {
      this.#gap += gap;
      if (word === "") continue;
      const width = widthOf(word);
      if (this.#column > widthOf(hang) && this.#column + this.#gap.length + width > columns()) {
        write(`\n${hang}${word}`);
        this.#column = widthOf(hang) + width;
      } else {
        write(`${this.#gap}${word}`);
        this.#column += this.#gap.length + width;
      }
      this.#gap = "";
    }
  }
}

function expanded(indent: string): string {
  return indent.replaceAll("\t", "  ");
}
