import { printable } from "@trunkline/core";

/** Formats a command line, quoting words that need it. */
export function commandLine(words: readonly string[]): string {
  return words
    .map((word) => (/^[\w@%+=:,./\\${}<>~?&#*-]+$/.test(word) ? word : printable(JSON.stringify(word))))
    .join(" ");
}
