// Makes untrusted text (from servers, project files, arguments) safe for a terminal or a question to the user. It must
// not move the cursor, change colours, start a new line or reverse the writing direction.

/** Also the letters and marks that show nothing: Hangul fillers and the grapheme joiner. */
const CONTROL = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]|\u034f/u;
const CONTROLS = new RegExp(CONTROL, "gu");
const GAPS = /[\s\p{Cc}\p{Cf}\p{Cs}]+/gu;

/** Whether a text contains control, format or bidi characters or line breaks. */
export function hasControls(text: string): boolean {
  return CONTROL.test(text);
}

/** Makes control characters visible: ESC becomes `\u001b`, as in JSON. The result is one line. */
export function printable(text: string): string {
  return text.replace(CONTROLS, (char) =>
    Array.from({ length: char.length }, (_, at) => `\\u${char.charCodeAt(at).toString(16).padStart(4, "0")}`).join(""),
  );
}

/** {@link printable} for multi-line text: keeps line breaks, tabs and the joiners of emoji and some scripts. */
export function printableLines(text: string): string {
  return text.replace(/\r\n/g, "\n").replace(/[^\n\t\u200c\u200d]+/g, printable);
}

/**
 * Like `JSON.stringify`, but control, format and bidi characters are escaped too. That changes nothing for a parser, and
 * the text is safe to show on a terminal.
 */
export function printableJson(value: unknown, indent?: number): string {
  return printableLines(JSON.stringify(value, null, indent) ?? "null");
}

/** Writing stacks a few marks on a letter. Also the halfwidth ones, which normalization turns into marks. */
const MARK_STACK = /([\p{M}\uff9e\uff9f]{30})[\p{M}\uff9e\uff9f]+/gu;

/**
 * Unicode normalization that takes linear time. It sorts the marks on a letter, by insertion, so it keeps the first 30 of
 * them, as the Stream-Safe Text Format of Unicode does.
 */
export function normalized(text: string, form: "NFC" | "NFD" | "NFKC" | "NFKD"): string {
  return text.replace(MARK_STACK, "$1").normalize(form);
}

export function replaceControls(text: string, replacement: string): string {
  return text.replace(CONTROLS, replacement);
}

/**
 * The first words of a text, with "…" in place of the others. No word is cut: half a secret would no longer be
 * recognised by the redaction that comes later.
 */
export function firstWords(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  return `${text.slice(0, Math.max(0, text.slice(0, maxChars + 1).search(/\s+\S*$/)))}…`;
}

/** The first `maxChars` characters of a text, with "…" in place of the others. Does not halve a surrogate pair. */
export function firstChars(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** Joins a text into one line of words separated by single spaces, without control characters. */
export function toOneLine(text: string): string {
  return text.replace(GAPS, " ").trim();
}
