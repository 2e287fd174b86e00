/** grep: searches documents for patterns in ripgrep's dialect, in its own threads. */

export type { GrepReader } from "@trunkline/grep";
export {
  compilePattern,
  GrepPool,
  mayMatch,
  type PatternOptions,
  queryText,
  Scanner,
  type TrigramQuery,
} from "@trunkline/grep";
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
export { findCandidates, trigramIndexer } from "./trigram-index.js";
