import { printable } from "@trunkline/core";

/** A command line, with quotes around the words that need them. */
export function commandLine(words: readonly string[]): string {
  return words
    .map((word) => (/^[\w@%+=:,./\\${}<>~?&#*-]+$/.test(word) ? word : printable(JSON.stringify(word))))
    .join(" ");
}
