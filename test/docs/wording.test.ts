// Phrases that people stumbled over. Messages, help texts and pages say it in plain English.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "../e2e/command.js";

const PHRASES: readonly (readonly [phrase: RegExp, instead: string])[] = [
  [/must be a text\b|is a text,/, "a string"],
  [/\bwrite a content\b/, "write content"],
  [/\b(?:is|not) a name of (?:the|a) registry\b/, "a registry name"],
  [/\bkeeps? a state\b/, "keeps state"],
];

/** Lines that only we read. */
function withoutComments(text: string): string {
  return text.replaceAll(/^\s*(?:\/\/|\/?\*).*$/gm, "");
}

it.each(PHRASES)("no source and no page has %s", (phrase) => {
  const below = (folder: string) =>
    readdirSync(join(root, folder), { recursive: true }).map((file) => join(folder, String(file)));
  const sources = readdirSync(join(root, "packages")).flatMap((name) => below(join("packages", name, "src")));
  const files = ["README.md", ...sources, ...below("docs")].filter((file) => /\.(?:ts|md)$/.test(file));
  expect(files.length).toBeGreaterThan(500);
  expect(files.filter((file) => phrase.test(withoutComments(readFileSync(join(root, file), "utf8"))))).toEqual([]);
});
