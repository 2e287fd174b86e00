// Writes ripgrep.json: the real ripgrep's answers to cases.js on tree.js. Run this script with ripgrep installed, then
// format the file.
import { rmSync, writeFileSync } from "node:fs";
import { CASES, REFUSED } from "./cases.js";
import { askRg, rgVersion, writeTree } from "./rg.js";
import { makeTree } from "./tree.js";

const version = rgVersion();
if (version === undefined) throw new Error("rg is not installed.");
const folder = writeTree(makeTree());
const answers = [...CASES, ...REFUSED].map((what) => ({ what, lines: askRg(folder, what) }));
rmSync(folder, { recursive: true });
const rows = answers.map((answer) => `    ${JSON.stringify(answer)}`).join(",\n");
writeFileSync(
  new URL("./ripgrep.json", import.meta.url),
  `{\n  "version": ${JSON.stringify(version)},\n  "answers": [\n${rows}\n  ]\n}\n`,
);
