// The questions that wait for a person. A question goes to the client whose call caused it, as always; while it waits
// there, the console shows it too, and the first answer counts.
import { randomBytes } from "node:crypto";
import { TrunklineError } from "@trunkline/core";
import type { AskedClient, AskThrough } from "@trunkline/gateway";

type Answer = Readonly<Record<string, unknown>>;

export interface WaitingQuestion extends AskedClient {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly sinceMs: number;
  /** The folder of the workspace. */
  readonly folder: string;
}

/** More than a person answers. */
const MOST_SHOWN = 100;
/** Pages read all questions again after each event, and a server can ask thousands. */
const QUIET_MS = 100;

interface Entry {
  readonly question: WaitingQuestion;
  readonly answer: (answer: Answer) => void;
}

export class QuestionBoard {
  readonly #entries = new Map<string, Entry>();
  readonly #listeners = new Set<() => void>();

  #quiet: NodeJS.Timeout | undefined;
  #isLate = false;

  /** Oldest first. Only the oldest hundred of each server: the others still wait, and their clients can answer them. */
  get waiting(): readonly WaitingQuestion[] {
    const counts = new Map<string, number>();
    const shown: WaitingQuestion[] = [];
    for (const { question } of this.#entries.values()) {
      // A server must not hide what others ask: not Trunkline itself, nor one with its name in another workspace.
      const asker = JSON.stringify([question.folder, question.context.server, question.context.isOwn === true]);
      const count = (counts.get(asker) ?? 0) + 1;
      counts.set(asker, count);
      if (count <= MOST_SHOWN) shown.push(question);
    }
    return shown;
  }

  /**
   * Calls the listener when questions arrived or have been answered: at once, but not more often than ten times a
   * second. Returns a function that removes it.
   */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Finds a question. Throws `NOT_FOUND` if it no longer waits. */
  find(id: string): WaitingQuestion {
    return this.#entry(id).question;
  }

  /** Answers a question in the client's place. Throws `NOT_FOUND` if it no longer waits. */
  answer(id: string, answer: Answer): void {
    this.#entry(id).answer(answer);
  }

  /** Returns what shows the questions of a folder's calls here. Only elicitations are for a person to answer. */
  through(folder: string): AskThrough {
    return (asked, askClient) =>
      asked.question.method === "elicitation/create"
        ? this.#ask({ ...asked, folder, id: randomBytes(8).toString("hex"), sinceMs: Date.now() }, askClient)
        : askClient(asked.context.signal);
  }

  /** The first answer counts, and settles everything at once: a later one must not seem to have been accepted. */
  #ask(question: WaitingQuestion, askClient: Parameters<AskThrough>[1]): Promise<Answer> {
    const { id, context } = question;
    const withdrawing = new AbortController();
    return new Promise((resolve, reject) => {
      const settle = (finish: () => void) => {
        if (!this.#entries.delete(id)) return;
        context.signal.removeEventListener("abort", onAbort);
        finish();
        this.#tell();
      };
      const onAbort = () => settle(() => reject(context.signal.reason));
      this.#entries.set(id, {
        question,
        answer: (answer) =>
          settle(() => {
            resolve(answer);
            // The client may still show it.
            withdrawing.abort(new TrunklineError("ABORTED", "The question was answered in the console."));
          }),
      });
      context.signal.addEventListener("abort", onAbort, { once: true });
      askClient(AbortSignal.any([context.signal, withdrawing.signal])).then(
        (answer) => settle(() => resolve(answer)),
        (error: unknown) => settle(() => reject(error)),
      );
      if (context.signal.aborted) onAbort();
      this.#tell();
    });
  }

  #entry(id: string): Entry {
    const entry = this.#entries.get(id);
    if (entry !== undefined) return entry;
    throw new TrunklineError("NOT_FOUND", "This question is no longer open: it was answered elsewhere or withdrawn.");
  }

  #tell(): void {
    if (this.#quiet !== undefined) {
      this.#isLate = true;
      return;
    }
    this.#quiet = setTimeout(() => {
      this.#quiet = undefined;
      if (!this.#isLate) return;
      this.#isLate = false;
      this.#tell();
    }, QUIET_MS).unref();
    for (const listener of this.#listeners) listener();
  }
}
