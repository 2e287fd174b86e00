/**
 * The journal and the token account on disk: `@trunkline/server/journal`. A separate entry point, so that a program
 * that only reads them loads no protocol code.
 */
export { CallDays, type ClientDay } from "./call-days.js";
export { CallMetrics, type Metric, prometheusText, type Sample } from "./call-metrics.js";
export { FileJournal, type FileJournalOptions } from "./file-journal.js";
export type { CallRecord, Journal, TokenAccount, TokenUse } from "./journal.js";
export { CallLog, isDefinitionNews } from "./journal.js";
export { journalFolder, workspaceKey } from "./journal-files.js";
export { type JournalPage, type ReadPageOptions, readAround, readPage } from "./journal-pages.js";
export { fileJournalReader, type JournalReader } from "./journal-reader.js";
export {
  type JournalLine,
  type JournalLines,
  LineJournal,
  type LineJournalOptions,
  lineJournalReader,
} from "./line-journal.js";
export {
  followEntries,
  followJournal,
  type JournalEntry,
  JournalPosition,
  type ReadJournalOptions,
  readJournal,
} from "./read-journal.js";
export type { SentList } from "./surface-totals.js";
export {
  FileTokenAccount,
  type FileTokenAccountOptions,
  type ListedTool,
  listCost,
  type SurfaceReport,
  type TokenDay,
  type TokenReport,
  tokenDays,
  tokenReport,
} from "./token-account.js";
export { countTokens } from "./token-counter.js";
export { dayOf, type TokenTotals } from "./token-totals.js";
export { ToolUsage, type ToolUsageOptions, type ToolUse } from "./tool-usage.js";
