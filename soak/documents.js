// The documents that the writers produce. Name and version determine the content.
import { Random } from "./random.js";

/** One in LARGE_EVERY documents has several chunks, one in BINARY_EVERY is binary. */
const LARGE_EVERY = 9;
const BINARY_EVERY = 7;

/** Whether a document is searchable text. @param {string} name */
export function isText(name) {
  return numberOf(name) % BINARY_EVERY !== 3;
}

/** Returns a word that only this document contains. @param {string} name */
export function wordOf(name) {
  return name.replaceAll(/[^a-z0-9]/g, "");
}

/** @param {string} name ends in the document's number @param {number} version */
export function contentOf(name, version) {
  const random = new Random(version, name);
  const size = numberOf(name) % LARGE_EVERY === 4 ? random.between(100_000, 400_000) : random.between(1, 3_000);
  if (!isText(name)) return Buffer.from(Array.from({ length: size }, () => random.between(0, 255)));
  const line = `${wordOf(name)} version ${version}, written by the soak, ${random.next()}\n`;
  return Buffer.from(line.repeat(Math.ceil(size / line.length)));
}

/** @param {string} name */
function numberOf(name) {
  return Number(/(\d+)\.\w+$/.exec(name)?.[1] ?? 0);
}
