// One page of a grep answer: what it contains, where it ends, and the cursor for the next one.
import { TrunklineError } from "@trunkline/core";
import type { BatchAnswer, BatchRequest, CompiledPattern, DocumentMatches, ScannedMatch } from "@trunkline/grep";
import type { GrepMatch, GrepResult, GrepState } from "../contract/index.js";
import { decodeCursor, encodeCursor } from "../contract/params.js";
import type { GrepDocument, GrepQuery } from "./grep-query.js";

/** The default limits of an answer. */
export const DEFAULTS = { budgetMs: 10_000, maxMatches: 1000, maxBytes: 1 << 20, maxFiles: 10_000 };

/** In a cursor: the whole document has been returned. */
export const WHOLE_DOCUMENT = -1;

/** Where an answer ends, and what was counted up to there, or in total if `known` is set. */
export interface Place {
  readonly path: string;
  readonly hash: string;
  readonly line: number;
  /** With `only_matching`: how many parts of the line were returned. */
  readonly part: number;
  readonly total: number;
  readonly files: number;
  readonly binary: number;
  readonly known: boolean;
}

/** A validated query. */
export interface Query {
  readonly params: GrepQuery;
  readonly pattern: CompiledPattern;
  readonly mode: "matches" | "count" | "files";
  readonly before: number;
  readonly after: number;
  readonly maxCount: number;
  readonly onlyMatching: boolean;
  readonly limits: typeof DEFAULTS;
  readonly digest: string;
  readonly from: Place | undefined;
  readonly wanted: (path: string) => boolean;
}

/** Decodes where the previous answer ended. Throws `INVALID_ARGUMENT` for another query's cursor. */
export function readCursor(cursor: string, digest: string): Place {
  const [of, path, hash, line, part, total, files, binary, known] = decodeCursor(cursor, 9);
  const numbers = [line, part, total, files, binary, known];
  if (of !== digest || typeof path !== "string" || typeof hash !== "string" || !numbers.every(Number.isInteger)) {
    throw new TrunklineError("INVALID_ARGUMENT", "This cursor belongs to another grep.", {
      hint: "Pass the cursor of the previous answer, with the same parameters.",
    });
  }
  return {
    path,
    hash,
    line: line as number,
    part: part as number,
    total: total as number,
    files: files as number,
    binary: binary as number,
    known: known === 1,
  };
}

/** An answer in progress. Takes batch answers in order until it is full, then only counts. */
export class Page {
  readonly #query: Query;
  readonly #matches: GrepMatch[] = [];
  readonly #files: { path: string; count: number }[] = [];
  #bytes = 0;
  #total: number;
  #fileCount: number;
  #binary: number;
  /** Where the page ends, once something did not fit. */
  #end: Place | undefined;
  /** The last position up to which the page is complete. */
  #reached: Place | undefined;
  #timedOutAt: string | undefined;
  #told = 0;
  /** Where the last match of the page is in its document. */
  #last = { line: 0, part: 0 };

  constructor(query: Query) {
    this.#query = query;
    this.#total = query.from?.total ?? 0;
    this.#fileCount = query.from?.files ?? 0;
    this.#binary = query.from?.binary ?? 0;
    this.#reached = query.from;
  }

  countBinary(): void {
    if (this.#query.from?.known !== true) this.#binary++;
  }

  scanOptions(first: GrepDocument | undefined): BatchRequest["scan"] {
    const { mode, limits, maxCount, before, after, from, onlyMatching } = this.#query;
    const full = this.#end !== undefined || mode !== "matches";
    return {
      maxCount,
      before,
      after,
      afterLine: first !== undefined && isSame(first, from) ? (from?.line ?? 0) : 0,
      // One more than fits, so the page knows whether there is more.
      collect: full ? 0 : limits.maxMatches - this.#matches.length + 1,
      collectBytes: full ? 0 : limits.maxBytes - this.#bytes,
      firstOnly: mode === "files",
      onlyMatching,
      afterPart: from?.part ?? 0,
    };
  }

  /** Takes a batch's answer. Returns false if the page is done and running work is not needed. */
  take(documents: readonly GrepDocument[], answer: BatchAnswer): boolean {
    const { from } = this.#query;
    if (from?.known !== true) this.#binary += answer.binary;
    const stop = answer.stoppedAt ?? documents.length;
    let next = 0;
    for (const found of answer.found) {
      this.#reach(documents[Math.min(found.index, stop) - 1]);
      const document = documents[found.index] as GrepDocument;
      this.#takeDocument(document, found);
      next = found.index + 1;
      if (this.#end !== undefined && from?.known === true) return false;
    }
    if (stop > next) this.#reach(documents[stop - 1]);
    if (answer.stoppedAt === undefined) return true;
    this.#timedOutAt = (documents[answer.stuckAt ?? answer.stoppedAt] ?? documents[0])?.path ?? "";
    return false;
  }

  /** Returns the matches added since the last call. */
  untold(): readonly GrepMatch[] {
    const matches = this.#matches.slice(this.#told);
    this.#told = this.#matches.length;
    return matches;
  }

  /** Marks everything up to and including this document as covered. */
  #reach(document: GrepDocument | undefined): void {
    if (document !== undefined && this.#end === undefined) {
      this.#reached = this.#place(document, { line: WHOLE_DOCUMENT, part: 0 });
    }
  }

  #place(document: { path: string; hash: string }, { line, part }: { line: number; part: number }): Place {
    const known = this.#query.from?.known === true;
    return {
      path: document.path,
      hash: document.hash,
      line,
      part,
      total: this.#total,
      files: this.#fileCount,
      binary: this.#binary,
      known,
    };
  }

  #takeDocument(document: GrepDocument, found: DocumentMatches): void {
    const { mode, from, limits } = this.#query;
    const isContinued = isSame(document, from);
    if (mode === "matches") this.#takeMatches(document, found, isContinued);
    else {
      if (this.#end === undefined && this.#files.length >= limits.maxFiles) this.#end = this.#reached;
      if (this.#end === undefined) this.#files.push({ path: document.path, count: found.count });
    }
    if (from?.known !== true) {
      // A resumed document was already counted up to the cursor's line.
      this.#total += found.count - found.skipped;
      if (!isContinued) this.#fileCount++;
    }
    this.#reach(document);
  }

  #takeMatches(document: GrepDocument, found: DocumentMatches, isContinued: boolean): void {
    const { limits } = this.#query;
    let taken = 0;
    for (const match of found.matches) {
      if (this.#end !== undefined) return;
      if (this.#matches.length >= limits.maxMatches || this.#bytes > limits.maxBytes) break;
      this.#matches.push(this.#render(document, match));
      this.#bytes += match.sizeBytes;
      this.#last = { line: match.line, part: match.part ?? 0 };
      taken++;
    }
    // The thread may also have collected fewer matches than there are, because they would not have fitted.
    if (this.#end === undefined && taken < found.count - found.skipped) this.#endAt(document, { taken, isContinued });
  }

  /** Ends the page after its last match. */
  #endAt(document: GrepDocument, { taken, isContinued }: { taken: number; isContinued: boolean }): void {
    if (taken === 0 && !isContinued) {
      this.#end = this.#reached;
      return;
    }
    const { line, part } = (taken === 0 ? this.#query.from : undefined) ?? this.#last;
    const place = this.#place(document, { line, part });
    this.#end = place.known
      ? place
      : { ...place, total: place.total + taken, files: place.files + (isContinued ? 0 : 1) };
  }

  #render(document: GrepDocument, match: ScannedMatch): GrepMatch {
    const numbered = this.#query.params.lineNumbers === true;
    const firstLine = match.line - match.before.length;
    const context = (line: number) => (text: string, index: number) => (numbered ? `${line + index}-${text}` : text);
    return {
      path: document.path,
      hash: document.hash,
      line: match.line,
      text: numbered ? `${match.line}:${match.text}` : match.text,
      ...(match.matchEnd === undefined ? {} : { matchEnd: match.matchEnd }),
      ...(this.#query.before > 0 ? { before: match.before.map(context(firstLine)) } : {}),
      ...(this.#query.after > 0 ? { after: match.after.map(context(match.line + 1)) } : {}),
    };
  }

  answer(): GrepResult {
    const { mode, from, limits } = this.#query;
    const timedOutAt = this.#timedOutAt;
    const end = this.#end ?? (timedOutAt === undefined ? undefined : this.#reached);
    if (timedOutAt !== undefined && (end === undefined || end === from)) throw this.#timeout(timedOutAt);
    const complete = timedOutAt === undefined;
    const place = end === undefined || from?.known === true || !complete ? end : this.#withTotals(end);
    const state: GrepState = {
      truncated: end !== undefined,
      ...(place === undefined ? {} : { cursor: this.#cursor(place) }),
      binary: this.#binary,
      ...(timedOutAt === undefined ? {} : { timedOut: { path: timedOutAt, budgetMs: limits.budgetMs } }),
    };
    if (mode === "files") return { files: this.#files.map((file) => file.path), ...state };
    if (mode === "count") return { total: this.#total, files: this.#files, ...state };
    return { matches: this.#matches, total: this.#total, files: this.#fileCount, ...state };
  }

  /** Adds the totals: all documents have been searched, so later pages do not need to count again. */
  #withTotals(end: Place): Place {
    return { ...end, total: this.#total, files: this.#fileCount, binary: this.#binary, known: true };
  }

  #cursor(place: Place): string {
    const { path, hash, line, part, total, files, binary, known } = place;
    return encodeCursor([this.#query.digest, path, hash, line, part, total, files, binary, known ? 1 : 0]);
  }

  #timeout(path: string): TrunklineError {
    const { budgetMs } = this.#query.limits;
    return new TrunklineError("TIMEOUT", `grep reached its limit of ${budgetMs} ms in ${path}.`, {
      hint: "Skip the document with `exclude`, or simplify the pattern: smaller counts in {n,m}.",
      retryable: false,
      data: { path, budgetMs: budgetMs },
    });
  }
}

function isSame(document: { path: string; hash: string }, place: Place | undefined): boolean {
  return place !== undefined && document.path === place.path && document.hash === place.hash;
}
