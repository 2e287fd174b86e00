// Makes untrusted text (from servers, project files, arguments) safe for a terminal or a question to the user. It must
// not move the cursor, change colours, start a new line or reverse the writing direction.

const CONTROL = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
const CONTROLS = new RegExp(CONTROL, "gu");
const GAPS = /[\s\p{Cc}\p{Cf}\p{Cs}]+/gu;

/** Whether a text contains control, format or bidi characters or line breaks. */
export function hasControls(text: string): boolean {
  return CONTROL.test(text);
}

/** Makes control characters visible: ESC becomes `\u001b`. The result is one line. */
export function printable(text: string): string {
  return text.replace(CONTROLS, (char) => {
    const hex = (char.codePointAt(0) ?? 0).toString(16);
    return hex.length > 4 ? `\\u{${hex}}` : `\\u${hex.padStart(4, "0")}`;
  });
}

/** {@link printable} for multi-line text: keeps line breaks, tabs and the joiners of emoji and some scripts. */
export function printableLines(text: string): string {
  return text.replace(/\r\n/g, "\n").replace(/[^\n\t\u200c\u200d]+/g, printable);
}

export function replaceControls(text: string, replacement: string): string {
  return text.replace(CONTROLS, replacement);
}

/** Joins a text into one line of words separated by single spaces, without control characters. */
export function toOneLine(text: string): string {
  return text.replace(GAPS, " ").trim();
}
