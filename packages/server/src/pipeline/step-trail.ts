// What steps leave behind, and what the references of a later step can see of it: the steps before it, by place and by
// name, and the item of `for_each`.
import { type Clock, type ContentStore, isRecord, parseContentIdPrefix, TrunklineError } from "@trunkline/core";
import { serializeValue, storeValue } from "../budget/stored-value.js";
import type { ContentBlock, Operation } from "../interfaces/operation.js";
import type { Segment } from "./paths.js";
import type { ReferenceRoot, ReferenceScope } from "./references.js";

/** A step that has run. */
export interface StepRecord {
  readonly op: string;
  /** Its whole value, never a truncated one. */
  readonly value: unknown;
  readonly blocks: readonly ContentBlock[];
  /** Stores the value and answers its id; absent for operations of our own. */
  readonly store?: (() => Promise<string>) | undefined;
  /** What else its entry in the answer of `execute` has. */
  readonly entry?: Readonly<Record<string, unknown>> | undefined;
}

/** Reads the content of an id, or of the beginning of one. */
type ReadContent = (id: string) => Promise<string>;

/** The scope of one step. */
export class StepScope implements ReferenceScope {
  readonly #steps: readonly StepRecord[];
  readonly #names: ReadonlyMap<string, StepRecord>;
  readonly #readContent: ReadContent;
  readonly #item: { readonly value: unknown } | undefined;

  constructor(options: {
    steps: readonly StepRecord[];
    names: ReadonlyMap<string, StepRecord>;
    readContent: ReadContent;
    item?: { readonly value: unknown } | undefined;
  }) {
    this.#steps = options.steps;
    this.#names = options.names;
    this.#readContent = options.readContent;
    this.#item = options.item;
  }

  hasName(name: string): boolean {
    return this.#names.has(name);
  }

  async read(root: ReferenceRoot, path: readonly Segment[], options: { forContent: boolean }) {
    switch (root.kind) {
      case "item":
        return this.#item === undefined ? undefined : { value: this.#item.value, rest: path };
      case "prev": {
        const last = this.#steps.at(-1);
        return last === undefined ? { value: {}, rest: path } : await readStep(last, path, options);
      }
      case "name": {
        const named = this.#names.get(root.name);
        return named === undefined ? undefined : await readStep(named, path, options);
      }
      case "steps": {
        const [first, ...rest] = path;
        if (first?.kind !== "index") return { value: this.#steps.map(({ value }) => value), rest: path };
        const step = this.#steps.at(first.index);
        return step === undefined ? undefined : await readStep(step, rest, options);
      }
    }
  }

  async content(id: string): Promise<string> {
    return await this.#readContent(id);
  }
}

/** The fields of the value come first; `hash`, `blocks` and the entry's own fields are there beside them. */
async function readStep(step: StepRecord, path: readonly Segment[], { forContent }: { forContent: boolean }) {
  const { value, blocks, store, entry } = step;
  const [first, ...rest] = path;
  if (first?.kind !== "field") return { value, rest: path };
  const { name } = first;
  // `$hash:$prev.hash` means the stored value, even where the value has a hash of its own that is something else.
  if (name === "hash" && store !== undefined && (forContent || !has(value, name))) {
    return { value: await store(), rest };
  }
  if (name === "result" && entry !== undefined && Object.hasOwn(entry, name)) return { value: entry[name], rest };
  if (has(value, name)) return { value, rest: path };
  if (name === "blocks" && blocks.length > 0) return { value: blocks, rest };
  if (entry !== undefined && Object.hasOwn(entry, name)) return { value: entry[name], rest };
  return { value, rest: path };
}

function has(value: unknown, name: string): boolean {
  return isRecord(value) && Object.hasOwn(value, name);
}

/** What steps have left behind so far. */
export interface Trail {
  readonly steps: StepRecord[];
  readonly names: Map<string, StepRecord>;
  /** Operations that were found already: steps of one call often have the same. */
  readonly found: Map<string, Operation>;
}

/** A trail without steps. */
export function emptyTrail(): Trail {
  return { steps: [], names: new Map(), found: new Map() };
}

/** What reading content by id takes. */
interface ContentSource {
  readonly store: () => Promise<ContentStore>;
  readonly exchange: { readonly signal: AbortSignal };
}

/** The scope of a step that comes after these. */
export function scopeOf(
  env: ContentSource,
  { steps, names }: Trail,
  item: { readonly value: unknown } | undefined,
): StepScope {
  return new StepScope({ steps, names, item, readContent: (id) => readContent(env, id) });
}

/** The content of an id or of the beginning of one: text where it is UTF-8, else base64. */
async function readContent({ store, exchange: { signal } }: ContentSource, given: string): Promise<string> {
  const contents = await store();
  const matches = await contents.resolve(parseContentIdPrefix(given), { signal });
  const [id, ...others] = matches;
  if (id === undefined) {
    throw new TrunklineError("NOT_FOUND", `The store has no content ${given}.`, {
      hint: "Stored results are kept for 7 days.",
    });
  }
  if (others.length > 0) {
    throw new TrunklineError(
      "AMBIGUOUS",
      `${given} is the beginning of ${matches.length} contents: ${matches.slice(0, 5).join(", ")}.`,
      {
        hint: "Give more digits.",
      },
    );
  }
  const bytes = await contents.get(id, { signal });
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return Buffer.from(bytes).toString("base64");
  }
}

/** A step that has run, as later references see it. */
export function recordOf(
  env: { readonly store: () => Promise<ContentStore>; readonly clock: Clock },
  op: string,
  {
    outcome,
    entry,
    signal,
  }: {
    outcome: Pick<StepRecord, "value" | "blocks"> & { readonly operation: Operation | undefined };
    entry?: Readonly<Record<string, unknown>>;
    signal: AbortSignal;
  },
): StepRecord {
  const { value, blocks, operation } = outcome;
  let stored: Promise<string> | undefined;
  const store = () => {
    stored ??= env
      .store()
      .then((contents) => storeValue(contents, serializeValue(value), { op, now: env.clock.now(), signal }));
    return stored;
  };
  return {
    op: operation?.name ?? op,
    value,
    blocks,
    entry,
    ...(operation?.server === undefined ? {} : { store }),
  };
}
