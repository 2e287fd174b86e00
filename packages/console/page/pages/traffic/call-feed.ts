// Keeps the list up to date: older calls as the person scrolls, new ones as they happen.
import type { AnswerOf, CallRow } from "@trunkline/console/contract";
import { ask, live } from "../../kit/live.js";
import { toError } from "../../kit/parts.js";
import { type CallFilter, readFilter } from "./call-filter.js";
import { CallList } from "./call-list.js";

const PAGE = 2_000;
/** With a filter, pages are loaded until this many rows match: the list may be taller than what is found. */
const ENOUGH = 100;

export class CallFeed {
  readonly list = new CallList();
  isRecording = false;
  isPaused = false;
  isLoading = false;
  error: Error | undefined;
  /** Whether there is nothing older. */
  isComplete = false;
  /** New calls that wait until the list goes on. */
  #waiting: CallRow[] = [];
  #next: string | undefined;
  readonly #workspace: string;
  readonly #listeners = new Set<(added: number) => void>();
  readonly #leaving = new AbortController();

  constructor(workspace: string) {
    this.#workspace = workspace;
  }

  /** Begins, and returns what ends it. */
  start(): () => void {
    const stops = [
      live.onCalls((workspace, calls) => {
        if (workspace === this.#workspace) this.#receive(calls);
      }),
      live.onChange((topics, workspace) => {
        if (topics.includes("calls") && (workspace ?? this.#workspace) === this.#workspace) void this.#catchUp();
      }),
    ];
    void this.#catchUp();
    return () => {
      this.#leaving.abort();
      for (const stop of stops) stop();
    };
  }

  /** Calls the listener after each change, with how many rows were added at the top. */
  onChange(listener: (added: number) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  setFilter(text: string): void {
    const filter: CallFilter | undefined = readFilter(text);
    this.list.setFilter(filter);
    this.#tell();
    if (filter !== undefined && this.list.shown.length < ENOUGH) void this.loadOlder();
  }

  pause(isPaused: boolean): void {
    this.isPaused = isPaused;
    this.#tell(isPaused ? 0 : this.list.prepend(this.#waiting.splice(0)));
  }

  async record(on: boolean): Promise<void> {
    const { isRecording } = await ask("calls/record", { workspace: this.#workspace, on });
    this.isRecording = isRecording;
    this.#tell();
  }

  /** Loads the next page, and further ones while few rows fit the filter. Never rejects. */
  async loadOlder(): Promise<void> {
    if (this.isLoading || this.isComplete || this.#next === undefined) return;
    this.isLoading = true;
    this.error = undefined;
    const enough = this.list.shown.length + ENOUGH;
    try {
      do {
        const { calls, next }: AnswerOf<"calls"> = await ask("calls", this.#params(this.#next), this.#leaving.signal);
        this.#next = next;
        this.isComplete = next === undefined;
        this.list.append(calls);
        this.#tell();
      } while (!this.isComplete && this.list.shown.length < enough);
    } catch (error) {
      if (this.#leaving.signal.aborted) return;
      this.error = toError(error);
    } finally {
      this.isLoading = false;
    }
    this.#tell();
  }

  /** Loads the newest calls: at first, and after the stream was interrupted. Never rejects. */
  async #catchUp(): Promise<void> {
    try {
      const { calls, next, isRecording } = await ask("calls", this.#params(undefined), this.#leaving.signal);
      this.isRecording = isRecording;
      this.error = undefined;
      // Too much was missed for the list to have no gap.
      const isBehind = !this.list.isEmpty && next !== undefined && !calls.some(({ id }) => this.list.has(id));
      if (isBehind) this.list.clear();
      if (this.list.isEmpty) {
        this.#next = next;
        this.isComplete = next === undefined;
        this.list.append(calls);
        this.#tell();
      } else {
        this.#receive(calls.toReversed());
      }
    } catch (error) {
      if (this.#leaving.signal.aborted) return;
      this.error = toError(error);
      this.#tell();
    }
  }

  #params(before: string | undefined) {
    return { workspace: this.#workspace, limit: PAGE, before };
  }

  #receive(calls: readonly CallRow[]): void {
    if (this.isPaused) {
      const known = new Set(this.#waiting.map(({ id }) => id));
      this.#waiting.push(...calls.filter(({ id }) => !this.list.has(id) && !known.has(id)));
      this.#tell();
      return;
    }
    const added = this.list.prepend(calls);
    const oldest = this.list.trim();
    if (oldest !== undefined) {
      this.#next = oldest;
      this.isComplete = false;
    }
    this.#tell(added);
  }

  #tell(added = 0): void {
    for (const listener of this.#listeners) listener(added);
  }
}
