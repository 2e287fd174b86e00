import { expect, it } from "vitest";
import { parseIgnoreRules } from "../../src/engine/files/gitignore.js";

it.each([
  ["*.log", "a.log", "ignored"],
  ["*.log", "deep/er/a.log", "ignored"],
  ["/a.log", "deep/a.log", undefined],
  ["deep/*.log", "deep/a.log", "ignored"],
  ["deep/*.log", "x/deep/a.log", undefined],
  ["build/", "build", undefined],
  ["build/", "build/x.js", "ignored"],
  ["build/", "sub/build/x.js", "ignored"],
  ["build/\n!build/x.js", "build/x.js", "ignored"],
  ["*.log\n!keep.log", "keep.log", "kept"],
  ["a/**", "a", undefined],
  ["a/**", "a/b/c", "ignored"],
  ["a/**/z", "a/z", "ignored"],
  ["a/**/z", "a/b/c/z", "ignored"],
  ["**/z", "z", "ignored"],
  ["# a comment", "# a comment", undefined],
  ["\\#file", "#file", "ignored"],
  ["\\!file", "!file", "ignored"],
  ["file  ", "file", "ignored"],
  ["file\\ ", "file ", "ignored"],
  ["*.{a,b}", "x.a", undefined],
  ["[a-c].txt\r", "b.txt", undefined],
  ["[a-c].txt\r\n", "b.txt", "ignored"],
  ["NODE_MODULES/", "node_modules/x", "ignored"],
])("%j says about %s: %s", (rules, path, verdict) => {
  expect(parseIgnoreRules(rules)(path, false)).toBe(verdict);
});
