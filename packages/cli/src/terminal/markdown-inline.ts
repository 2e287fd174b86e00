// Emphasis, code and links inside a line of Markdown. The text comes from a model: it is made printable here, and the
// only escape codes in the result are our own.
import { printableLines } from "@trunkline/core";
import type { Palette } from "./palette.js";

/** The colours that Markdown uses. */
export type MarkdownPalette = Pick<Palette, "hasColours" | "heading" | "emphasis" | "accent" | "dim">;

/** A span that is longer than this is not formatted, so that text is never held back for long. */
const MAX_SPAN_CHARS = 500;

/** How a span is recognised at its start and shown. */
interface SpanKind {
  /** What can start the span. */
  readonly opens: RegExp;
  /** The whole span. */
  readonly whole: RegExp;
  show(match: RegExpExecArray, palette: MarkdownPalette): string;
}

const KINDS: readonly SpanKind[] = [
  {
    opens: /`/y,
    whole: /(`+)(?!`)(.*?[^`])\1(?!`)/y,
    show: ([all, , code = ""], palette) => (palette.hasColours ? palette.accent(shown(code.trim())) : shown(all)),
  },
  {
    opens: /!?\[/y,
    whole: /(!?)\[([^\]]*)\]\(\s*<?([^\s()<>]*(?:\([^\s()]*\)[^\s()<>]*)*)>?(?:\s+["'(][^"')]*["')])?\s*\)/y,
    show: ([, bang, text = "", url = ""], palette) => {
      const label = bang === "" ? renderInline(text, palette) : `[image${text === "" ? "" : `: ${shown(text)}`}]`;
      // The user sees where a link leads.
      return text === url || text === "" ? palette.accent(shown(url)) : `${label} ${palette.dim(`(${shown(url)})`)}`;
    },
  },
  { opens: /<(?=h)/y, whole: /<(https?:\/\/[^\s<>]+)>/y, show: ([, url = ""], palette) => palette.accent(shown(url)) },
  {
    opens: /\*{3}(?![\s*])/y,
    whole: /\*{3}(?=[^\s*])(.*?[^\s*])\*{3}(?!\*)/y,
    show: ([, text = ""], palette) =>
      emphasised(text, { palette, paint: (inner) => palette.heading(palette.emphasis(inner)), marker: "***" }),
  },
  {
    opens: /\*\*(?!\s)/y,
    whole: /\*\*(?=[^\s*])(.*?[^\s])\*\*(?!\*)/y,
    show: ([, text = ""], palette) => emphasised(text, { palette, paint: palette.heading, marker: "**" }),
  },
  {
    opens: /(?<![\p{L}\p{N}])__(?!\s)/uy,
    whole: /__(?=\S)(.*?\S)__(?![\p{L}\p{N}])/uy,
    show: ([, text = ""], palette) => emphasised(text, { palette, paint: palette.heading, marker: "__" }),
  },
  {
    opens: /~~(?!\s)/y,
    whole: /~~(?=\S)(.*?\S)~~/y,
    show: ([, text = ""], palette) => emphasised(text, { palette, paint: palette.dim, marker: "~~" }),
  },
  {
    opens: /\*(?![\s*])/y,
    whole: /\*(?=[^\s*])(.*?[^\s*])\*(?!\*)/y,
    show: ([, text = ""], palette) => emphasised(text, { palette, paint: palette.emphasis, marker: "*" }),
  },
  {
    opens: /(?<![\p{L}\p{N}_])_(?![\s_])/uy,
    whole: /_(?=[^\s_])(.*?[^\s_])_(?![\p{L}\p{N}_])/uy,
    show: ([, text = ""], palette) => emphasised(text, { palette, paint: palette.emphasis, marker: "_" }),
  },
];

function emphasised(
  text: string,
  { palette, paint, marker }: { palette: MarkdownPalette; paint: (text: string) => string; marker: string },
): string {
  const inner = renderInline(text, palette);
  // Without colours the markers are the emphasis.
  return palette.hasColours ? paint(inner) : `${marker}${inner}${marker}`;
}

function shown(text: string): string {
  return printableLines(text);
}

/** Renders a complete text. */
export function renderInline(text: string, palette: MarkdownPalette): string {
  return scan(text, palette, true).shown;
}

/**
 * Renders the part of an incomplete text that more text cannot change: whole words, up to a span that is still open.
 * Returns what it looks like, and the rest.
 */
export function renderStable(text: string, palette: MarkdownPalette): { shown: string; rest: string } {
  const { stableAt: end } = scan(text, palette, false);
  return { shown: scan(text.slice(0, end), palette, true).shown, rest: text.slice(end) };
}

/** Renders a text. Unless it is complete, `stableAt` is where the last word before an open span ends. */
function scan(text: string, palette: MarkdownPalette, isComplete: boolean): { shown: string; stableAt: number } {
  let out = "";
  let plain = "";
  let stableAt = 0;
  const flush = () => {
    out += shown(plain);
    plain = "";
  };
  for (let at = 0; at < text.length; ) {
    const char = text[at] ?? "";
    const escaped = text[at + 1];
    if (char === "\\" && escaped !== undefined && /[!-/:-@[-`{-~]/.test(escaped)) {
      plain += escaped;
      at += 2;
      continue;
    }
    const span = /[`![<*_~]/.test(char) ? spanAt(text, at, isComplete) : undefined;
    if (span === "open") break;
    if (span !== undefined) {
      flush();
      out += span.kind.show(span.match, palette);
      at += span.match[0].length;
      continue;
    }
    plain += char;
    at++;
    if (char === " ") stableAt = at;
  }
  flush();
  return { shown: out, stableAt };
}

function spanAt(
  text: string,
  at: number,
  isComplete: boolean,
): { kind: SpanKind; match: RegExpExecArray } | "open" | undefined {
  for (const kind of KINDS) {
    kind.opens.lastIndex = at;
    if (!kind.opens.test(text)) continue;
    // The character before counts, so the window starts one earlier.
    const from = Math.max(0, at - 1);
    const window = text.slice(from, at + MAX_SPAN_CHARS);
    kind.whole.lastIndex = at - from;
    const match = kind.whole.exec(window);
    const end = match === null ? 0 : at + match[0].length;
    // More text could still continue a span that ends here: `**a*` is not `*` and `*a*`.
    if (match !== null && (isComplete || end < text.length)) return { kind, match };
    if (!isComplete && text.length - at < MAX_SPAN_CHARS) return "open";
    if (match !== null) return { kind, match };
  }
  return undefined;
}
