/** Searches texts for patterns in ripgrep's dialect: linear time, in threads, with a trigram index to skip texts that cannot match. */
export type { BatchAnswer, DocumentMatches, GrepReader } from "./grep-messages.js";
export { type BatchRequest, GrepPool } from "./grep-pool.js";
export { mayMatch, queryText, type TrigramQuery } from "./literals.js";
export { type CompiledPattern, compilePattern, type PatternOptions } from "./pattern.js";
export { type ScannedMatch, Scanner } from "./scan.js";
export { TRIGRAM_KEYS, textKeys, trigramKey } from "./trigram-keys.js";
export { type Block, type EntryKeys, findList, makeBlocks, readBlock } from "./trigram-segment.js";
