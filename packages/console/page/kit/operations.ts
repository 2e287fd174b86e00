// Operations of the store: what `query`, `execute` and `session` run, with errors as `RequestError`.
import type { Json, Topic } from "@trunkline/console/contract";
import { useEffect, useState } from "preact/hooks";
import { type Answered, ask, live, RequestError, useAnswer } from "./live.js";

type OperationParams = Readonly<Record<string, Json | undefined>>;

/** A call of an operation. `result` has the wire's names, as in docs/reference/operations.md. */
interface OperationCall {
  readonly workspace: string;
  readonly op: string;
  readonly params?: OperationParams;
  readonly signal?: AbortSignal;
}

/** Runs an operation. `Result` is what docs/reference/operations.md promises for it. */
export async function runOperation<Result>({ workspace, op, params = {}, signal }: OperationCall): Promise<Result> {
  const { result, error } = await ask("operation", { workspace, op, params: given(params) }, signal);
  if (error !== undefined) throw new RequestError(error);
  return result as Result;
}

/** The answer of an operation, asked for again when a topic changes. `params` undefined: not yet. */
export function useOperation<Result>(
  { workspace, op, params }: Pick<OperationCall, "workspace" | "op"> & { readonly params: OperationParams | undefined },
  topics: readonly Topic[] = [],
): Answered<Result> {
  const { data, error, isLoading, reload } = useAnswer(
    "operation",
    params === undefined ? undefined : { workspace, op, params: given(params) },
    topics.filter((topic) => topic !== "store"),
  );
  const followsStore = topics.includes("store");
  useEffect(() => (followsStore ? onStoreChange(workspace, reload) : undefined), [followsStore, workspace, reload]);
  const failure = error ?? (data?.error === undefined ? undefined : new RequestError(data.error));
  return { data: data?.result as Result | undefined, error: failure, isLoading, reload };
}

interface PagedCall extends Pick<OperationCall, "workspace" | "op"> {
  readonly params: OperationParams;
  /** Another number: ask again. */
  readonly turn: number;
}

interface Paged<Answer, Item> {
  /** The last part of the answer. */
  readonly answer: Answer | undefined;
  /** The items of all parts so far. */
  readonly items: readonly Item[];
  readonly error: Error | undefined;
  /** Asks for the next part, if there is one. */
  more(): void;
}

/** The answer of an operation that comes in parts, with a cursor. What was found stays until the next answer is there. */
export function usePagedOperation<Answer extends { readonly cursor?: string }, Item>(
  { workspace, op, params, turn }: PagedCall,
  itemsOf: (answer: Answer) => readonly Item[],
  onFailure: (error: unknown) => void,
): Paged<Answer, Item> {
  const key = JSON.stringify([workspace, op, given(params), turn]);
  const [found, setFound] = useState<{ key: string; answer?: Answer; items: readonly Item[]; error?: Error }>({
    key: "",
    items: [],
  });
  const [isMore, setMore] = useState(false);
  const run = (cursor?: string, signal?: AbortSignal) =>
    runOperation<Answer>({ workspace, op, params: { ...params, cursor }, signal });
  useEffect(() => {
    const leaving = new AbortController();
    run(undefined, leaving.signal).then(
      (answer) => !leaving.signal.aborted && setFound({ key, answer, items: itemsOf(answer) }),
      (error: Error) => !leaving.signal.aborted && setFound({ key, items: [], error }),
    );
    return () => leaving.abort();
  }, [key]);
  const { answer, items, error } = found;
  const more = () => {
    if (answer?.cursor === undefined || isMore || found.key !== key) return;
    setMore(true);
    run(answer.cursor)
      .then(
        (next) =>
          setFound((now) => (now.key === key ? { key, answer: next, items: [...now.items, ...itemsOf(next)] } : now)),
        onFailure,
      )
      .finally(() => setMore(false));
  };
  return { answer, items, error, more };
}

/** Operations after which the store is another one. */
const CHANGING: ReadonlySet<string> = new Set(["add", "update", "delete", "undelete", "download", "snapshot"]);
/** Several changes at once count as one. */
const CHANGE_MS = 250;

/** Calls back when the store of a workspace has changed: a client has changed it, or anything may have happened. */
export function onStoreChange(workspace: string, listener: () => void): () => void {
  let timer: number | undefined;
  const changed = () => {
    timer ??= window.setTimeout(() => {
      timer = undefined;
      listener();
    }, CHANGE_MS);
  };
  const stops = [
    live.onChange((topics, where) => {
      if (topics.includes("store") && (where === undefined || where === workspace)) changed();
    }),
    live.onCalls((where, calls) => {
      if (where === workspace && calls.some(({ operation }) => CHANGING.has(operation))) changed();
    }),
  ];
  return () => {
    clearTimeout(timer);
    for (const stop of stops) stop();
  };
}

function given(params: OperationParams): Record<string, Json> {
  return Object.fromEntries(Object.entries(params).filter((entry): entry is [string, Json] => entry[1] !== undefined));
}
