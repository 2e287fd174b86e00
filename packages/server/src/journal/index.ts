/**
 * The journal and the token account on disk: `@trunkline/server/journal`. A separate entry point, so that a program
 * that only reads them loads no protocol code.
 */
export { FileJournal, type FileJournalOptions } from "./file-journal.js";
export type { CallRecord, Journal, TokenAccount, TokenUse } from "./journal.js";
export { journalFolder, workspaceKey } from "./journal-files.js";
export { followJournal, JournalPosition, type ReadJournalOptions, readJournal } from "./read-journal.js";
export type { SentList } from "./surface-totals.js";
export {
  FileTokenAccount,
  type FileTokenAccountOptions,
  type ListedTool,
  type SurfaceReport,
  type TokenReport,
  tokenReport,
} from "./token-account.js";
export { countTokens } from "./token-counter.js";
export type { TokenTotals } from "./token-totals.js";
export { ToolUsage, type ToolUsageOptions, type ToolUse } from "./tool-usage.js";
