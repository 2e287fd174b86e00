/** grep: searches documents for patterns in ripgrep's dialect, in its own threads. */

export type { GrepReader } from "./grep-messages.js";
export { GrepPool } from "./grep-pool.js";
export {
  compareText,
  type GrepCallOptions,
  type GrepDocument,
  type GrepLimits,
  type GrepQuery,
  type GrepRequest,
  type GrepSource,
  grep,
} from "./grep-query.js";
export { mayMatch, queryText, type TrigramQuery } from "./literals.js";
export { compilePattern, type PatternOptions } from "./pattern.js";
export { Scanner } from "./scan.js";
export { findCandidates, trigramIndexer } from "./trigram-index.js";
