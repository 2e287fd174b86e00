/** Text of somebody else's file for a terminal: it must neither move the cursor nor turn the direction of writing. */
export function printable(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\u2028\u2029]/gu,
    (char) => `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`,
  );
}

/** A command line, with quotes around the words that need them. */
export function commandLine(words: readonly string[]): string {
  return words
    .map((word) => (/^[\w@%+=:,./\\${}<>~?&#*-]+$/.test(word) ? word : printable(JSON.stringify(word))))
    .join(" ");
}
