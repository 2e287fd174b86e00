// Copies the grammars of the code graph, and their licenses, to packages/code-graph/grammars: the package they come from has
// more of them, and parts we do not need.
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { GRAMMAR_NAMES } from "../packages/code-graph/dist/reading/parser.js";

const codeGraph = fileURLToPath(new URL("../packages/code-graph", import.meta.url));
const target = join(codeGraph, "grammars");
const source = dirname(createRequire(join(codeGraph, "package.json")).resolve("@vscode/tree-sitter-wasm/package.json"));

/** @type {Map<string, string>} sources by file name */
const files = new Map(
  GRAMMAR_NAMES.map((name) => [`tree-sitter-${name}.wasm`, join(source, "wasm", `tree-sitter-${name}.wasm`)]),
);
files.set("LICENSES.md", join(codeGraph, "GRAMMARS.md"));

mkdirSync(target, { recursive: true });
for (const name of readdirSync(target)) if (!files.has(name)) rmSync(join(target, name), { recursive: true });
for (const [name, file] of files) {
  const copy = join(target, name);
  // A running test may be reading the copy.
  if (!existsSync(copy) || !readFileSync(copy).equals(readFileSync(file))) copyFileSync(file, copy);
}
