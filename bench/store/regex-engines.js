// Our regular expressions against re2js: how many of ripgrep's recorded answers each gives, and how fast each counts
// the matching lines of the installed packages. re2js isn't a dependency; pass the folder it is installed in:
//   npm install --prefix /tmp/re2js re2js && node bench/store/regex-engines.js /tmp/re2js [--files 4000]
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { compilePattern, Scanner } from "../../packages/grep/dist/index.js";
import { scannable } from "../../packages/grep/dist/scan.js";
import { makeTree } from "../../packages/grep/test/tree.js";
import { corpus } from "./corpus.js";

const { values, positionals } = parseArgs({
  options: { files: { type: "string", default: "4000" }, rounds: { type: "string", default: "5" } },
  allowPositionals: true,
});
const [place] = positionals;
if (place === undefined) throw new Error("Name the folder that re2js is installed in.");
const entry = createRequire(pathToFileURL(join(resolve(place), "package.json"))).resolve("re2js");
const { RE2JS } = await import(pathToFileURL(entry).href);

const ALL = { maxCount: 0, before: 0, after: 0, afterLine: 0, collect: 0, collectBytes: 1e12, firstOnly: false };

/**
 * @typedef {{ pattern: string, ignoreCase?: boolean, word?: boolean, invert?: boolean, fixed?: boolean, maxCount?: number }} Case
 */

/** @param {Case} what */
function compileRe2({ pattern, ignoreCase, word, fixed }) {
  let source = fixed ? RE2JS.quote(pattern) : pattern;
  if (word) source = `(?:^|\\W)(?:${source})(?:$|\\W)`;
  // re2js: Perl classes and \b are ASCII; ripgrep's are Unicode.
  return RE2JS.compile(source, RE2JS.MULTILINE | (ignoreCase ? RE2JS.CASE_INSENSITIVE : 0));
}

/** @param {Buffer | undefined} bytes undefined for a binary file */
function linesOf(bytes) {
  if (bytes === undefined) return [];
  const lines = bytes.toString("utf8").split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** @param {Case} what @param {(bytes: Buffer) => number[]} find */
function answer(what, find) {
  /** @type {Record<string, number[]>} */
  const found = {};
  for (const { name, bytes } of makeTree()) {
    const lines = find(bytes).slice(0, what.maxCount || undefined);
    if (lines.length > 0) found[name] = lines;
  }
  return found;
}

/** @param {() => unknown} work */
function outcome(work) {
  try {
    return JSON.stringify(work());
  } catch {
    return '"error"';
  }
}

/** @type {{ answers: { what: Case, lines: unknown }[] }} */
const recorded = JSON.parse(readFileSync(new URL("../../packages/grep/test/ripgrep.json", import.meta.url), "utf8"));
const right = { ours: 0, re2js: 0 };
const wrong = [];
for (const { what, lines } of recorded.answers) {
  const expected = JSON.stringify(lines);
  const ours = outcome(() => {
    const scanner = new Scanner(compilePattern(what.pattern, what));
    return answer(what, (bytes) =>
      scanner.scan(bytes, { ...ALL, maxCount: what.maxCount ?? 0, collect: 1e9 }).matches.map(({ line }) => line),
    );
  });
  const theirs = outcome(() => {
    const regex = compileRe2(what);
    return answer(what, (bytes) =>
      linesOf(scannable(bytes)).flatMap((line, at) => (regex.test(line) !== (what.invert ?? false) ? [at + 1] : [])),
    );
  });
  if (ours === expected) right.ours++;
  if (theirs === expected) right.re2js++;
  else wrong.push(`${JSON.stringify(what)}${theirs === '"error"' ? " (refused)" : ""}`);
}
console.log(`ripgrep's answers: ${recorded.answers.length}; ours gives ${right.ours}, re2js ${right.re2js}`);
console.log(`re2js differs on:\n  ${wrong.join("\n  ")}\n`);

const texts = [...corpus({ files: Number(values.files) })].map(({ text }) => ({ text, bytes: Buffer.from(text) }));
const megabytes = texts.reduce((sum, { bytes }) => sum + bytes.length, 0) / 1e6;

/** @param {() => number} work */
function fastest(work) {
  let ms = Number.POSITIVE_INFINITY;
  let count = 0;
  for (let round = 0; round < Number(values.rounds); round++) {
    const start = performance.now();
    count = work();
    ms = Math.min(ms, performance.now() - start);
  }
  return { ms, count };
}

const PATTERNS = [
  "parseHTTPRequest",
  "throw new \\w*Error\\(",
  "TODO|FIXME|HACK",
  "(?i)copyright \\(c\\)",
  "\\bconst\\s+\\w+\\s*=\\s*await\\b",
  "[A-Z]{4,}_\\d+",
  "^\\s*\\w",
  "\\d+\\.\\d+\\.\\d+",
  "[a-f0-9]{32}",
  "\\p{Lu}{8,}",
  "^.{200,}$",
  "(a+)+$",
];
console.log(
  `${texts.length} files, ${megabytes.toFixed(1)} MB; the fastest of ${values.rounds} rounds, matching lines counted`,
);
console.log("| pattern | ours ms | re2js ms | ratio | lines |\n|---|---|---|---|---|");
for (const pattern of PATTERNS) {
  const scanner = new Scanner(compilePattern(pattern));
  const ours = fastest(() => texts.reduce((sum, { bytes }) => sum + scanner.scan(bytes, ALL).count, 0));
  const regex = compileRe2({ pattern });
  // The fastest its API allows: strings are already decoded, and it looks at lines only in files that match at all.
  const theirs = fastest(() =>
    texts.reduce((sum, { text }) => {
      if (!regex.test(text)) return sum;
      let lines = 0;
      for (const line of text.split("\n")) if (regex.test(line)) lines++;
      return sum + lines - (text.endsWith("\n") && regex.test("") ? 1 : 0);
    }, 0),
  );
  const counts = ours.count === theirs.count ? `${ours.count}` : `${ours.count} / ${theirs.count}`;
  const ratio = (theirs.ms / ours.ms).toFixed(1);
  console.log(`| \`${pattern}\` | ${ours.ms.toFixed(0)} | ${theirs.ms.toFixed(0)} | ${ratio} | ${counts} |`);
}
