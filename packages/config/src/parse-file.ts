// Parses a configuration file into a tree with positions. The file is JSON with comments or YAML, by content and
// extension; a skill file is YAML between two lines of dashes.
import { extname } from "node:path";

import { looksLikeJson, parseJson } from "./parse-json.js";
import type { ParseOutcome } from "./tree.js";

const JSON_EXTENSIONS = new Set([".json", ".jsonc", ".json5", ".code-workspace"]);
const MARKDOWN_EXTENSIONS = new Set([".md", ".markdown", ".mdx", ".mdc"]);
/** The first line of front matter, and the line that ends it. */
const FRONT_MATTER = /^---[ \t]*\r?\n/;
const FRONT_MATTER_END = /^(?:---|\.\.\.)[ \t]*$/m;

/** Parses a file's text. If the extension and the content disagree, the content wins if it is readable. */
export async function parseConfigText(text: string, path: string): Promise<ParseOutcome> {
  const extension = extname(path).toLowerCase();
  if (text.trim() === "") return { ok: false, at: { line: 1, column: 1 }, reason: "it is empty" };
  if (FRONT_MATTER.test(text)) return await parseFrontMatter(text);
  if (MARKDOWN_EXTENSIONS.has(extension)) {
    return { ok: false, at: { line: 1, column: 1 }, reason: 'it has no front matter (a first line "---")' };
  }
  const isLikely = looksLikeJson(text);
  const asJson = JSON_EXTENSIONS.has(extension) || isLikely ? parseJson(text) : undefined;
  if (asJson?.ok) return asJson;
  // A YAML flow mapping starts like JSON, and a file named .json may contain YAML.
  if (asJson !== undefined && isLikely && JSON_EXTENSIONS.has(extension)) return asJson;
  const asYaml = (await yaml()).parseYaml(text);
  const isMap = asYaml.ok && asYaml.root.kind === "map";
  return isMap ? asYaml : (asJson ?? asYaml);
}

async function parseFrontMatter(text: string): Promise<ParseOutcome> {
  const offset = text.indexOf("\n") + 1;
  const rest = text.slice(offset);
  const end = FRONT_MATTER_END.exec(rest)?.index ?? rest.length;
  return (await yaml()).parseYaml(rest.slice(0, end), { whole: text, offset });
}

/** Loaded on demand: most files are JSON, and the YAML parser takes as long to load as the rest of a short command. */
function yaml(): Promise<typeof import("./parse-yaml.js")> {
  return import("./parse-yaml.js");
}
