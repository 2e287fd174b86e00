/** Text of somebody else's file for a terminal: it must neither move the cursor nor turn the direction of writing. */
export function printable(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\u2028\u2029]/gu,
    (char) => `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`,
  );
}

/** Text of several lines for a terminal: line ends and tabs stay, everything else that controls something becomes visible. */
export function screenText(text: string): string {
  // Joiners belong to emoji and to some scripts.
  return text.replace(/\r\n/g, "\n").replace(/[^\n\t\u200c\u200d]+/g, printable);
}

/** A command line, with quotes around the words that need them. */
export function commandLine(words: readonly string[]): string {
  return words
    .map((word) => (/^[\w@%+=:,./\\${}<>~?&#*-]+$/.test(word) ? word : printable(JSON.stringify(word))))
    .join(" ");
}
