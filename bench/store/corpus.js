// Files for benchmarks: real text from the installed packages (Markdown, TypeScript, JavaScript). Each source appears
// first as it is, then cut at other places and with some words replaced. The files are the same in every run on the
// same installation, and no two are equal.
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const SOURCES = fileURLToPath(new URL("../../node_modules", import.meta.url));
const FOLDERS = 200;

/** Generates seeded pseudo-random numbers, the same in every run. @param {number} seed */
export function randomNumbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** @param {string} folder @param {string[]} found @returns {string[]} */
function collect(folder, found = []) {
  const entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.name.startsWith(".")) continue;
    if (entry.isDirectory()) collect(path, found);
    else if (entry.isFile() && /\.(md|[cm]?[jt]s)$/.test(entry.name) && isUsual(statSync(path).size)) found.push(path);
  }
  return found;
}

/** @param {number} sizeBytes */
function isUsual(sizeBytes) {
  return sizeBytes > 200 && sizeBytes < 100_000;
}

/**
 * Yields the texts one after another, each with a suitable name. `lines` truncates each; `ending` is appended to each
 * name.
 * @param {{ files: number, lines?: number, ending?: string }} options
 * @returns {Generator<{ name: string, text: string }>}
 */
export function* corpus({ files, lines = 200, ending = "" }) {
  const sources = collect(SOURCES).map((path) => ({ path, lines: readFileSync(path, "utf8").split("\n") }));
  const words = [
    ...new Set(
      sources.filter((_, n) => n % 5 === 0).flatMap(({ lines: all }) => all.join(" ").match(/[a-z]{5,9}/g) ?? []),
    ),
  ].sort();
  const random = randomNumbers(42);
  for (let number = 0; number < files; number++) {
    const source = /** @type {{ path: string, lines: string[] }} */ (sources[number % sources.length]);
    const round = Math.floor(number / sources.length);
    const start = round === 0 ? 0 : Math.floor(random() * Math.max(1, source.lines.length - 20));
    const part = source.lines.slice(start, start + lines).join("\n");
    const text =
      round === 0
        ? part
        : part.replace(/\b[a-z]{6,}\b/g, (word) =>
            random() < 0.04 ? (words[Math.floor(random() * words.length)] ?? word) : word,
          );
    const base = /** @type {string} */ (source.path.split("/").pop());
    yield { name: join(`part-${number % FOLDERS}`, `${number}-${base}${ending}`), text: `${text}\n// ${number}\n` };
  }
}

/**
 * Writes the files, starting at number `from`. Returns their total size in bytes.
 * @param {string} folder
 * @param {{ files: number, from?: number, lines?: number, ending?: string }} options
 */
export function writeCorpus(folder, { files, from = 0, ...options }) {
  for (let part = 0; part < Math.min(FOLDERS, files); part++)
    mkdirSync(join(folder, `part-${part}`), { recursive: true });
  let bytes = 0;
  let number = 0;
  for (const { name, text } of corpus({ files, ...options })) {
    if (number++ < from) continue;
    writeFileSync(join(folder, name), text);
    bytes += Buffer.byteLength(text);
  }
  return bytes;
}

/**
 * Generates questions that the texts could answer: two to four adjacent words from prose or a comment.
 * @param {{ count: number, seed?: number }} options
 * @returns {string[]}
 */
export function questions({ count, seed = 7 }) {
  const random = randomNumbers(seed);
  const lines = collect(SOURCES)
    .filter((_, number) => number % 3 === 0)
    .flatMap((path) => readFileSync(path, "utf8").split("\n"))
    .filter((line) => /^\s*(?:\/\/|\*|#|[A-Z][a-z]+ )/.test(line));
  /** @type {string[]} */
  const found = [];
  while (found.length < count) {
    const words = lines[Math.floor(random() * lines.length)]?.match(/[A-Za-z][A-Za-z]{2,}/g) ?? [];
    const length = 2 + Math.floor(random() * 3);
    const start = Math.floor(random() * Math.max(1, words.length - length));
    if (words.length >= length) found.push(words.slice(start, start + length).join(" "));
  }
  return found;
}
