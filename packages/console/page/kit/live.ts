// Requests and live updates. Components use `useAnswer` for what they show and `ask` for what they do.
import type {
  AnswerOf,
  ApiError,
  CallRow,
  ConsoleEvent,
  ParamsOf,
  RequestName,
  Topic,
} from "@trunkline/console/contract";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { authorization, checkConsole, forgetToken, SignedOutError } from "./session.js";

/** A request that failed, with what to do about it. */
export class RequestError extends Error {
  readonly code: string;
  readonly hint: string | undefined;

  constructor({ code, message, hint }: ApiError["error"]) {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}

/** Sends a request. Rejects with {@link RequestError} or {@link SignedOutError}. */
export async function ask<Name extends RequestName>(
  name: Name,
  params: ParamsOf<Name>,
  signal?: AbortSignal,
): Promise<AnswerOf<Name>> {
  await live.whenConnected(signal);
  let response: Response;
  try {
    response = await fetch(`/api/${name}`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: authorization() },
      body: JSON.stringify(params),
      signal,
    });
  } catch (error) {
    if (signal?.aborted || error instanceof SignedOutError) throw error;
    throw new RequestError({ code: "IO", message: "The console did not answer.", hint: "It may be restarting." });
  }
  if (response.status === 401) {
    live.signOut();
    throw new SignedOutError("The console no longer accepts this tab's token.");
  }
  const body: unknown = await response.json();
  if (!response.ok) throw new RequestError((body as ApiError).error);
  return body as AnswerOf<Name>;
}

type Connection = "connecting" | "live" | "lost" | "signed-out";

const RETRY_MS = [250, 500, 1_000, 2_000];
/** The server sends a tick every 10 seconds. */
const SILENCE_MS = 25_000;
/**
 * A page that no one looks at does not keep the broker running, and leaves its connection to others: a browser opens six
 * to one address, for all tabs together.
 */
const HIDDEN_MS = 30_000;

/** The event stream: one for the whole page, reconnected when it ends. */
class Live {
  state: Connection = "connecting";
  version = "";
  readonly #states = new Set<() => void>();
  readonly #changes = new Set<(topics: readonly Topic[], workspace: string | undefined) => void>();
  readonly #calls = new Set<(workspace: string, calls: readonly CallRow[]) => void>();
  #waiting: (() => void)[] = [];
  #stream: AbortController | undefined;
  #isStarted = false;
  #failures = 0;
  #wake = () => {};

  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    let hiding: number | undefined;
    document.addEventListener("visibilitychange", () => {
      clearTimeout(hiding);
      if (document.hidden) hiding = window.setTimeout(() => this.#stream?.abort(), HIDDEN_MS);
      else this.#wake();
    });
    void this.#run();
  }

  onState(listener: () => void): () => void {
    this.#states.add(listener);
    return () => this.#states.delete(listener);
  }

  onChange(listener: (topics: readonly Topic[], workspace: string | undefined) => void): () => void {
    this.#changes.add(listener);
    return () => this.#changes.delete(listener);
  }

  onCalls(listener: (workspace: string, calls: readonly CallRow[]) => void): () => void {
    this.#calls.add(listener);
    return () => this.#calls.delete(listener);
  }

  /** Waits until requests can be sent. Before that, the token must not leave the page. */
  whenConnected(signal?: AbortSignal): Promise<void> {
    if (this.state === "live") return Promise.resolve();
    if (this.state === "signed-out") return Promise.reject(new SignedOutError("This tab is not signed in."));
    return new Promise((resolve, reject) => {
      this.#waiting.push(() => (this.state === "live" ? resolve() : reject(new SignedOutError("Signed out."))));
      signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
  }

  /** Tries again at once. */
  retry(): void {
    this.#wake();
  }

  signOut(): void {
    forgetToken();
    this.#to("signed-out");
    this.#stream?.abort();
  }

  async #run(): Promise<void> {
    while (this.state !== "signed-out") {
      if (document.hidden && this.#failures > 0) await this.#pause();
      try {
        await checkConsole();
        await this.#listen();
      } catch (error) {
        if (error instanceof SignedOutError) {
          // After a reload, the program that answers at this address could read what is stored for it.
          forgetToken();
          return this.#to("signed-out");
        }
      }
      this.#failures++;
      this.#to("lost");
      await this.#pause(RETRY_MS[Math.min(this.#failures - 1, RETRY_MS.length - 1)]);
    }
  }

  async #listen(): Promise<void> {
    const stream = new AbortController();
    this.#stream = stream;
    let silence: number | undefined;
    const hear = () => {
      clearTimeout(silence);
      silence = window.setTimeout(() => stream.abort(), SILENCE_MS);
    };
    try {
      const response = await fetch("/api/events", {
        method: "POST",
        headers: { "content-type": "application/json", authorization: authorization() },
        body: "{}",
        signal: stream.signal,
      });
      if (response.status === 401) throw new SignedOutError("The console no longer accepts this tab's token.");
      if (!response.ok || response.body === null) throw new Error(`Status ${response.status}`);
      let rest = "";
      const text = response.body.pipeThrough(new TextDecoderStream());
      for await (const chunk of text) {
        hear();
        const lines = (rest + chunk).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) if (line !== "") this.#receive(JSON.parse(line) as ConsoleEvent);
      }
    } finally {
      clearTimeout(silence);
    }
  }

  #receive(event: ConsoleEvent): void {
    switch (event.kind) {
      case "hello":
        this.#failures = 0;
        this.version = event.version;
        this.#to("live");
        // Anything may have happened since the last stream ended.
        for (const listener of this.#changes) listener(ALL_TOPICS, undefined);
        return;
      case "changed":
        for (const listener of this.#changes) listener(event.topics, event.workspace);
        return;
      case "calls":
        for (const listener of this.#calls) listener(event.workspace, event.calls);
        return;
      case "tick":
        return;
    }
  }

  #to(state: Connection): void {
    if (this.state === state) return;
    this.state = state;
    if (state === "live" || state === "signed-out") for (const go of this.#waiting.splice(0)) go();
    for (const listener of this.#states) listener();
  }

  #pause(ms?: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = ms === undefined ? undefined : window.setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

const ALL_TOPICS: readonly Topic[] = [
  "overview",
  "servers",
  "definitions",
  "tools",
  "questions",
  "settings",
  "store",
  "calls",
];

export const live = new Live();

export function useConnection(): Connection {
  const [state, setState] = useState(live.state);
  useEffect(() => {
    // It may have changed before this ran.
    setState(live.state);
    return live.onState(() => setState(live.state));
  }, []);
  return state;
}

export interface Answered<T> {
  /** The last answer, also while a newer one is awaited. */
  readonly data: T | undefined;
  readonly error: Error | undefined;
  /** Whether an answer is awaited. */
  readonly isLoading: boolean;
  reload(): void;
}

/** At most so often is something asked for again that changes all the time. */
const REFRESH_MS = 250;

/**
 * Asks for something, and again whenever one of the topics changes. `params` undefined: not yet. An answer that arrives
 * late, for other parameters, is dropped.
 */
export function useAnswer<Name extends RequestName>(
  name: Name,
  params: ParamsOf<Name> | undefined,
  topics: readonly Topic[] = [],
): Answered<AnswerOf<Name>> {
  const key = params === undefined ? undefined : JSON.stringify(params);
  const [answered, setAnswered] = useState<{ key?: string; data?: AnswerOf<Name>; error?: Error }>({});
  const [isLoading, setLoading] = useState(true);
  const [turn, setTurn] = useState(0);
  const reload = useCallback(() => setTurn((count) => count + 1), []);
  useEffect(() => {
    if (key === undefined) return undefined;
    const leaving = new AbortController();
    setLoading(true);
    ask(name, JSON.parse(key) as ParamsOf<Name>, leaving.signal).then(
      (data) => {
        if (leaving.signal.aborted) return;
        setAnswered({ key, data });
        setLoading(false);
      },
      (error: Error) => {
        if (leaving.signal.aborted) return;
        // What was shown stays, beside the error.
        setAnswered((before) => ({ ...(before.key === key ? before : {}), key, error }));
        setLoading(false);
      },
    );
    return () => leaving.abort();
  }, [name, key, turn]);
  const timer = useRef<number | undefined>(undefined);
  const wanted = topics.join();
  useEffect(() => {
    const stop = live.onChange((changed, workspace) => {
      const own = key === undefined ? undefined : (JSON.parse(key) as { workspace?: string }).workspace;
      if (workspace !== undefined && own !== undefined && workspace !== own) return;
      if (!changed.some((topic) => wanted.split(",").includes(topic))) return;
      timer.current ??= window.setTimeout(() => {
        timer.current = undefined;
        reload();
      }, REFRESH_MS);
    });
    return () => {
      stop();
      clearTimeout(timer.current);
      timer.current = undefined;
    };
  }, [wanted, key, reload]);
  const isCurrent = answered.key === key;
  return {
    data: isCurrent ? answered.data : undefined,
    error: isCurrent ? answered.error : undefined,
    isLoading,
    reload,
  };
}
