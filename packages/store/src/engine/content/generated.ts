// Recognises files that tools have written: minified code, bundles, generated code, source maps, lock files and data.
// They are searched by word and by pattern. Their symbols and their meaning say little about a project, and take most
// of the time that parsing and embedding need.
import { baseNameOf } from "../sqlite/documents.js";

/** What kind of file a tool has written. */
export type GeneratedKind = "minified" | "generated" | "sourceMap" | "lock" | "data";

const LOCK_FILES = new Set([
  "package-lock.json",
  "npm-shrinkwrap.json",
  "yarn.lock",
  "pnpm-lock.yaml",
  "bun.lock",
  "deno.lock",
  "cargo.lock",
  "composer.lock",
  "flake.lock",
  "gemfile.lock",
  "go.sum",
  "go.work.sum",
  "gradle.lockfile",
  "mix.lock",
  "packages.lock.json",
  "pdm.lock",
  "pipfile.lock",
  "podfile.lock",
  "poetry.lock",
  "pubspec.lock",
  "uv.lock",
]);

const MINIFIED_NAME = /[.-]min\.(?:[cm]?js|css|html?)$/;
/** The names that code generators give to their output. */
const GENERATED_NAME =
  /[._]generated\.\w+$|\.pb\.(?:go|cc|h)$|_pb2(?:_grpc)?\.pyi?$|_pb\.[jt]s$|\.g\.(?:cs|dart)$|\.designer\.cs$/;
const SOURCE_MAP_NAME = /\.(?:[cm]?js|css|[cm]?ts|jsx|tsx)\.map$/;
const DATA_NAME = /\.(?:json|jsonl|ndjson|geojson|csv|tsv)$/;
/** People write long lines in prose, and a generator's note in a page does not make its text less worth reading. */
const PROSE_NAME = /\.(?:md|mdx|markdown|txt|rst|adoc|html?|xhtml|tex|org)$/;

/** Smaller data may be a configuration or a fixture. */
const MIN_DATA_LENGTH = 100_000;
/** Shorter texts are not called minified: a few long lines can be written by hand. */
const MIN_MINIFIED_LENGTH = 4096;
/** Mean line length, in characters. Formatters wrap at 80 to 120. */
const MINIFIED_MEAN_LENGTH = 200;
/** A bundle that refers to its source map is not written by hand; only its licence may have short lines. */
const BUNDLE_MEAN_LENGTH = 120;
/** How much of a text is read to find its mean line length, and for marks of generators. */
const READ_LENGTH = 256 * 1024;
const HEAD_LENGTH = 2000;
const HEAD_LINES = 20;

const SOURCE_MAP_URL = /[#@] sourceMappingURL=\S+\s*(?:\*\/\s*)?$/;

/** The start of a comment in any of the languages that generators write. */
const COMMENT = /^\s*(?:\/\/|\/?\*|#|--|;|%|<!--|"""|''')/;
/** Whole statements. The words alone are also in hand-written comments about generated code. */
const MARKS = [
  /(?<![\w@.`'"/])@generated\b(?![`'"])/,
  /\bcode generated\b.*\bdo not edit\b/i,
  /<auto-?generated\b/i,
  /\b(?:this|the) (?:\w+ ){0,2}(?:file|code|module|source|class|header|script)\b[^:;.]{0,40}\b(?:is|was|were|has been) (?:auto-?generated|auto(?:matically)?[ -]generated|machine[ -]generated|generated (?:by|from|automatically|with|using)\b)/i,
  /^\W*(?:auto-?generated|automatically generated|machine generated|generated (?:by|from|automatically|with))\b.*\bdo not (?:edit|modify|change)\b/i,
  /\bdo not (?:edit|modify|change)\b.{0,60}\b(?:auto-?generated|automatically generated|generated (?:by|from|file))\b/i,
  /^\W*auto-?generated(?: file)?(?: (?:by|from|with)\b.*)?\W*$/i,
];

/** Returns what kind of file a text is if a tool has written it; undefined if a person may have. */
export function generatedKindOf(path: string, text: string): GeneratedKind | undefined {
  const name = baseNameOf(path).toLowerCase();
  if (LOCK_FILES.has(name)) return "lock";
  if (MINIFIED_NAME.test(name)) return "minified";
  if (SOURCE_MAP_NAME.test(name)) return "sourceMap";
  if (GENERATED_NAME.test(name)) return "generated";
  if (DATA_NAME.test(name)) return text.length >= MIN_DATA_LENGTH ? "data" : undefined;
  if (PROSE_NAME.test(name)) return undefined;
  if (text.length >= MIN_MINIFIED_LENGTH && isMinified(text)) return "minified";
  return hasMark(text) ? "generated" : undefined;
}

function isMinified(text: string): boolean {
  const end = Math.min(text.length, READ_LENGTH);
  // A text with this many lines cannot have such long ones.
  const mostLines = Math.ceil(end / BUNDLE_MEAN_LENGTH);
  let lines = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < end; at = text.indexOf("\n", at + 1)) {
    if (++lines > mostLines) return false;
  }
  return end / lines >= MINIFIED_MEAN_LENGTH || SOURCE_MAP_URL.test(text.slice(-500));
}

/** Whether a comment in the first lines says that a tool has written the file. */
function hasMark(text: string): boolean {
  const head = text.slice(0, HEAD_LENGTH);
  if (!/generated/i.test(head)) return false;
  return head
    .split("\n", HEAD_LINES)
    .some((line) => COMMENT.test(line) && /generated/i.test(line) && MARKS.some((mark) => mark.test(line)));
}
