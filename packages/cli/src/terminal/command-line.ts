import { printable } from "@trunkline/core";

/** A command line, quoting words that need it. */
export function commandLine(words: readonly string[]): string {
  return words
    .map((word) => (/^[\w@%+=:,./\\${}<>~?&#*-]+$/.test(word) ? word : printable(JSON.stringify(word))))
    .join(" ");
}
