// Counts the tokens sent to clients. Texts are counted on another thread and discarded; the sums are stored next
// to the journal, so that `trunkline stats` can read them from another process.
import { atMost } from "@trunkline/core";
import type { TokenAccount, TokenUse } from "./journal.js";
import { type SentList, type SurfaceTotals, surfaceRow } from "./surface-totals.js";
import { BYTES_PER_TOKEN, estimateTokens, TokenCounter } from "./token-counter.js";
import {
  appendTotals,
  compactTotals,
  dayOf,
  NO_TOKENS,
  plus,
  readTotals,
  type Spent,
  type TokenTotals,
} from "./token-totals.js";

/** A tool as a client would list it. */
export interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: unknown;
}

interface FileTokenAccountOptions {
  /** The folder of the journal. */
  readonly folder: string;
  /** All known upstream tools: what a client would list without Trunkline. */
  readonly directTools?: () => Promise<readonly ListedTool[]>;
  /** Called once when the sums cannot be saved. */
  readonly onProblem?: (error: unknown) => void;
  /** How long closing waits for pending counts; the rest is estimated. Default 2 s. */
  readonly lastCountMs?: number;
}

/** The data for `status {tokens: true}` and `trunkline stats`. */
export interface TokenReport {
  readonly encoding: "o200k_base";
  readonly today: TokenTotals & { readonly total: number };
  readonly all: TokenTotals & { readonly total: number };
  /** The first day with data. */
  readonly since: string | null;
  /** What listing the upstream servers' tools directly would have cost, for each list that was sent. */
  readonly direct: {
    readonly tools: number;
    /** The cost of one list of all tools. */
    readonly per_list: number;
    readonly today: number;
    readonly all: number;
  };
  /** What a search for a tool costs on average: an answer of `describe`. */
  readonly per_search: number;
  readonly surfaces: readonly SurfaceReport[];
}

/** What a client got, and what that saved. Negative if it cost more. */
interface SurfaceReport extends SurfaceTotals {
  /** Compared with lists of all upstream tools; null if the client searches its list itself. */
  readonly saved_direct: number | null;
  /** Compared with the composite surface: its lists are shorter, but each new tool takes a search. */
  readonly saved_composite: number | null;
}

/** How long texts are buffered so that they are counted in one batch. */
const BATCH_MS = 1_000;
/** How often the sums are written. */
const INTERVAL_MS = 10_000;
/** Size limit for texts waiting to be counted; beyond it, counts are estimated. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;
/** Maximum number of cached counts. Few are needed: the tool list is almost always the same text. */
const MAX_KNOWN_TEXTS = 64;
const DEFAULT_LAST_COUNT_MS = 2_000;

/** A text to count. `composite` is our own part of a list, for comparison. */
interface Counted {
  readonly use: TokenUse | "composite";
  readonly text: string;
  readonly list?: SentList;
}

/** A token account in a folder. Several processes can update it concurrently. */
export class FileTokenAccount implements TokenAccount, AsyncDisposable {
  readonly #options: FileTokenAccountOptions;
  readonly #counter = new TokenCounter();
  /** Counts of tool lists and schemas, which are sent repeatedly. */
  readonly #known = new Map<string, number>();
  readonly #counting = new Set<Promise<void>>();
  readonly #waiting: Counted[] = [];
  #batchTimer: NodeJS.Timeout | undefined;
  #waitingBytes = 0;
  #unwritten = NO_TOKENS;
  #hasUnwritten = false;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();
  #isFailing = false;
  #isCompacted = false;
  #closed = false;

  constructor(options: FileTokenAccountOptions) {
    this.#options = options;
  }

  add(use: TokenUse, text: string): void {
    this.#count({ use, text });
  }

  addList(text: string, list: SentList): void {
    this.#count({ use: "surface", text, list });
    this.#count({ use: "composite", text: list.composite, list });
  }

  addFound(list: Omit<SentList, "composite">): void {
    if (!this.#closed) this.#note({ ...NO_TOKENS, surfaces: [surfaceRow(list, { found: 1 })] });
  }

  #count(counted: Counted): void {
    if (this.#closed) return;
    const { text } = counted;
    const isTooMuch = this.#waitingBytes + text.length > MAX_WAITING_BYTES;
    const known = this.#known.get(text) ?? (isTooMuch ? estimateTokens(text) : undefined);
    if (known !== undefined) {
      this.#spend(counted, known);
      return;
    }
    this.#waitingBytes += text.length;
    this.#waiting.push(counted);
    this.#batchTimer ??= setTimeout(() => this.#countWaiting(), BATCH_MS).unref();
  }

  addBytes(use: TokenUse, bytes: number): void {
    if (!this.#closed) this.#spend({ use }, Math.ceil(bytes / BYTES_PER_TOKEN));
  }

  /**
   * Sends the buffered texts to the counter in one batch: a message to another thread costs more than counting a short
   * text.
   */
  #countWaiting(): void {
    clearTimeout(this.#batchTimer);
    this.#batchTimer = undefined;
    const batch = this.#waiting.splice(0);
    if (batch.length === 0) return;
    const counted = this.#counter.count(batch.map(({ text }) => text)).then((counts) => {
      this.#counting.delete(counted);
      for (const [index, item] of batch.entries()) {
        const tokens = counts[index] ?? 0;
        this.#waitingBytes -= item.text.length;
        if (item.use !== "results") this.#remember(item.text, tokens);
        this.#spend(item, tokens);
      }
    });
    this.#counting.add(counted);
  }

  /** The tokens spent so far, by all processes that share this account. */
  async report(): Promise<Omit<TokenReport, "surfaces"> & Record<string, unknown>> {
    this.#countWaiting();
    await Promise.all(this.#counting);
    await this.flush();
    const { folder, directTools } = this.#options;
    // Any client can ask for this report, but the names of other clients are not its business.
    const { surfaces: _, ...report } = await tokenReport({
      folder,
      directTools,
      counter: this.#counter,
    });
    return report;
  }

  /** Writes the counts. Never rejects. */
  async flush(): Promise<void> {
    this.#write();
    await this.#writing;
  }

  /** Counts the texts so far, for a limited time, and writes the result. Never rejects. */
  async settle(): Promise<void> {
    this.#countWaiting();
    await atMost(this.#options.lastCountMs ?? DEFAULT_LAST_COUNT_MS, Promise.all(this.#counting));
    await this.flush();
  }

  /** Does the same for the last time; what is not counted by then is estimated. Idempotent; never rejects. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.settle();
    await this.#counter.close();
    await Promise.all(this.#counting);
    await this.flush();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #remember(text: string, tokens: number): void {
    const [oldest] = this.#known.keys();
    if (this.#known.size >= MAX_KNOWN_TEXTS && oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(text, tokens);
  }

  #spend({ use, list }: Omit<Counted, "text">, tokens: number): void {
    if (list === undefined) {
      if (use !== "composite") this.#note(spentOn(use, tokens));
      return;
    }
    const { direct = 0, isSearched = false } = list;
    const counted = { lists: 1, tokens: isSearched ? 0 : tokens, direct, unmeasured: direct === 0 ? 1 : 0 };
    const row = use === "composite" ? { composite: tokens } : counted;
    const spent = use === "composite" || isSearched ? NO_TOKENS : spentOn(use, tokens);
    this.#note({ ...spent, surfaces: [surfaceRow(list, row)] });
  }

  #note(spent: Spent): void {
    this.#unwritten = plus(this.#unwritten, spent);
    this.#hasUnwritten = true;
    if (this.#timer !== undefined || this.#closed) return;
    this.#timer = setTimeout(() => this.#write(), INTERVAL_MS);
    this.#timer.unref();
  }

  #write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const spent = this.#unwritten;
    if (!this.#hasUnwritten) return;
    this.#unwritten = NO_TOKENS;
    this.#hasUnwritten = false;
    const { folder, onProblem } = this.#options;
    this.#writing = this.#writing.then(async () => {
      try {
        await appendTotals(folder, dayOf(Date.now()), spent).catch((error: unknown) => {
          this.#unwritten = plus(this.#unwritten, spent);
          this.#hasUnwritten = true;
          throw error;
        });
        this.#isFailing = false;
        // Once per process is enough, since days rarely end.
        if (!this.#isCompacted) await compactTotals(folder, Date.now());
        this.#isCompacted = true;
      } catch (error) {
        if (!this.#isFailing) onProblem?.(error);
        this.#isFailing = true;
      }
    });
  }
}

/** Returns the report of the account in a folder, except for what direct tools would have cost. */
export async function tokenReport(options: {
  readonly folder: string;
  readonly directTools?: () => Promise<readonly ListedTool[]>;
  readonly counter?: TokenCounter;
}): Promise<TokenReport> {
  const { folder, directTools } = options;
  const days = await readTotals(folder);
  const today = days.find(({ day }) => day === dayOf(Date.now()))?.spent ?? NO_TOKENS;
  const all = days.reduce((sum, { spent }) => plus(sum, spent), NO_TOKENS);
  const tools = (await directTools?.()) ?? [];
  const perList = await directCost(tools, options.counter);
  const perSearch = all.searches < MIN_SEARCHES ? TYPICAL_SEARCH : Math.round(all.schemas / all.searches);
  return {
    encoding: "o200k_base",
    today: totalsOf(today),
    all: totalsOf(all),
    since: days[0]?.day ?? null,
    direct: { tools: tools.length, per_list: perList, today: perList * today.lists, all: perList * all.lists },
    per_search: perSearch,
    surfaces: all.surfaces.map((row) => savingsOf(row, { perList, perSearch })),
  };
}

/** What was spent on one day, and what it saved. */
interface TokenDay {
  /** `2026-11-17`. */
  readonly day: string;
  /** Tokens sent to clients. */
  readonly tokens: number;
  /** What lists of all upstream tools would have cost in addition. Negative if they would have cost less. */
  readonly saved: number;
}

/** Returns the account in a folder by day, oldest first. `perList` is the cost of one list of all upstream tools. */
export async function tokenDays(folder: string, perList: number): Promise<readonly TokenDay[]> {
  return (await readTotals(folder)).map(({ day, spent }) => {
    const { surface, schemas, results, lists, surfaces } = spent;
    // A client that searches its list itself costs nothing either way.
    const counted = surfaces.filter(({ tokens }) => tokens > 0);
    const measured = counted.reduce((sum, row) => sum + row.lists - row.unmeasured, 0);
    const direct = counted.reduce((sum, row) => sum + row.direct, 0) + perList * Math.max(0, lists - measured);
    // Listed directly, tools need no search.
    return { day, tokens: surface + schemas + results, saved: lists === 0 ? 0 : direct - surface - schemas };
  });
}

/** Counts what one list of these tools costs. */
export async function listCost(tools: readonly ListedTool[]): Promise<number> {
  return await directCost(tools, undefined);
}

/** With fewer searches than this, their average says little. */
const MIN_SEARCHES = 5;
/** The tokens of an ordinary answer to `describe {find}`. */
const TYPICAL_SEARCH = 300;

function savingsOf(row: SurfaceTotals, { perList, perSearch }: { perList: number; perSearch: number }): SurfaceReport {
  const { tokens, direct, unmeasured, composite, found } = row;
  // The client's model reads only what its own search returns, and we do not see that.
  if (tokens === 0) return { ...row, saved_direct: null, saved_composite: null };
  return {
    ...row,
    saved_direct: direct + perList * unmeasured - tokens,
    saved_composite: composite + perSearch * found - tokens,
  };
}

function totalsOf({ surfaces: _, ...totals }: Spent): TokenTotals & { readonly total: number } {
  return { ...totals, total: totals.surface + totals.schemas + totals.results };
}

function spentOn(use: TokenUse, tokens: number): Spent {
  return {
    ...NO_TOKENS,
    [use]: tokens,
    answers: 1,
    ...(use === "surface" ? { lists: 1 } : {}),
    ...(use === "schemas" ? { searches: 1 } : {}),
  };
}

async function directCost(tools: readonly ListedTool[], given: TokenCounter | undefined): Promise<number> {
  const texts = tools.map(({ name, description, inputSchema }) => JSON.stringify({ name, description, inputSchema }));
  const counter = given ?? new TokenCounter();
  try {
    return (await counter.count(texts)).reduce((sum, tokens) => sum + tokens, 0);
  } finally {
    if (given === undefined) await counter.close();
  }
}
