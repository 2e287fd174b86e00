/**
 * The journal and the token account on disk: `@trunkline/gateway/journal`. A separate entry point, so that a program
 * that only reads them loads no protocol code.
 */
export { CallMetrics, type Metric, prometheusText, type Sample } from "./call-metrics.js";
export { FileJournal } from "./file-journal.js";
export type { CallRecord, Journal, TokenAccount } from "./journal.js";
export { CallLog, isDefinitionNews } from "./journal.js";
export { journalFolder, workspaceKey } from "./journal-files.js";
export { fileJournalReader, type JournalReader } from "./journal-reader.js";
export { type JournalLine, type JournalLines, LineJournal, lineJournalReader } from "./line-journal.js";
export { type JournalEntry, readJournal } from "./read-journal.js";
export {
  FileTokenAccount,
  type ListedTool,
  listCost,
  type TokenReport,
  tokenDays,
  tokenReport,
} from "./token-account.js";
export { countTokens } from "./token-counter.js";
export { dayOf } from "./token-totals.js";
export { ToolUsage } from "./tool-usage.js";
