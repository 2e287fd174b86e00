// The results of earlier steps, and what a later step's references can see of them: steps by position and by name, and
// the item of `for_each`.
import {
  type ContentStore,
  isRecord,
  LargeValue,
  parseContentIdPrefix,
  type Segment,
  TrunklineError,
  wholeOf,
} from "@trunkline/core";
import { serializeValue, storeValue } from "../budget/stored-value.js";
import type { ContentBlock, Operation } from "../interfaces/operation.js";
import type { ReferenceRoot, ReferenceScope } from "./references.js";

/** A finished step. */
export interface StepRecord {
  readonly op: string;
  /** The full value, never truncated. */
  readonly value: unknown;
  readonly blocks: readonly (ContentBlock | LargeValue)[];
  /** Stores the value and returns its id; absent for our own operations. */
  readonly store?: () => Promise<string>;
  /** The other fields of its entry in the answer of `execute`. */
  readonly entry?: Readonly<Record<string, unknown>>;
  /** The code with which it failed. */
  readonly failure?: string;
  /** Whether a dry run only described it: its result is not known. */
  readonly isPending?: boolean;
  /** Whether a later step has read it. */
  isUsed: boolean;
}

/** Reads the content with an id or id prefix. */
type ReadContent = (id: string) => Promise<string>;

export class StepScope implements ReferenceScope {
  readonly #steps: readonly StepRecord[];
  readonly #names: ReadonlyMap<string, StepRecord>;
  readonly #readContent: ReadContent;
  readonly #item: { readonly value: unknown } | undefined;
  #isPending = false;

  constructor(options: {
    steps: readonly StepRecord[];
    names: ReadonlyMap<string, StepRecord>;
    readContent: ReadContent;
    item?: { readonly value: unknown };
  }) {
    this.#steps = options.steps;
    this.#names = options.names;
    this.#readContent = options.readContent;
    this.#item = options.item;
  }

  hasName(name: string): boolean {
    return this.#names.has(name);
  }

  get isPending(): boolean {
    return this.#isPending;
  }

  async read(root: ReferenceRoot, path: readonly Segment[], options: { forContent: boolean }) {
    switch (root.kind) {
      case "item":
        return this.#item === undefined ? undefined : { value: this.#item.value, rest: path };
      case "prev": {
        const last = this.#steps.at(-1);
        if (last === undefined) return { value: {}, rest: path, absence: "No step comes before this one." };
        return await this.#read(last, path, options);
      }
      case "name": {
        const named = this.#names.get(root.name);
        return named === undefined ? undefined : await this.#read(named, path, options);
      }
      case "steps": {
        const [first, ...rest] = path;
        if (first?.kind !== "index") {
          const isPending = this.#steps.some((each) => each.isPending);
          this.#isPending ||= isPending;
          for (const step of this.#steps) step.isUsed = true;
          return {
            isPending,
            value: await Promise.all(this.#steps.map(({ value }) => wholeOf(value))),
            rest: path,
          };
        }
        const step = this.#steps.at(first.index);
        return step === undefined ? undefined : await this.#read(step, rest, options);
      }
    }
  }

  async #read(step: StepRecord, path: readonly Segment[], options: { forContent: boolean }) {
    const { failure, isPending } = step;
    this.#isPending ||= isPending === true;
    const absence = failure === undefined ? undefined : `That step failed with ${failure}.`;
    return { ...(await readStep(step, path, options)), absence, isPending };
  }

  async content(id: string): Promise<string> {
    return await this.#readContent(id);
  }
}

/** Fields of the value take precedence; `hash`, `blocks` and the entry's own fields are available too. */
async function readStep(step: StepRecord, path: readonly Segment[], { forContent }: { forContent: boolean }) {
  const { value, blocks, store, entry } = step;
  step.isUsed = true;
  const [first, ...rest] = path;
  if (first?.kind !== "field") return { value, rest: path };
  const { name } = first;
  // `$hash:$prev.hash` means the stored value, even if the value has its own, different hash.
  if (name === "hash" && store !== undefined && (forContent || !(await has(value, name)))) {
    return { value: await store(), rest };
  }
  if (name === "result" && entry !== undefined && Object.hasOwn(entry, name)) return { value: entry[name], rest };
  if (await has(value, name)) return { value, rest: path };
  if (name === "blocks" && blocks.length > 0) return { value: await Promise.all(blocks.map(wholeOf)), rest };
  if (entry !== undefined && Object.hasOwn(entry, name)) return { value: entry[name], rest };
  return { value, rest: path };
}

async function has(value: unknown, name: string): Promise<boolean> {
  if (value instanceof LargeValue) return (await value.read([{ kind: "field", name }])).missing === 0;
  return isRecord(value) && Object.hasOwn(value, name);
}

export interface Trail {
  readonly steps: StepRecord[];
  readonly names: Map<string, StepRecord>;
  /** Operations already looked up: the steps of one call often use the same ones. */
  readonly found: Map<string, Operation>;
  /** The names of all steps of the call. */
  readonly stepNames: ReadonlySet<string>;
}

export function emptyTrail(steps: readonly { readonly as: string | undefined }[]): Trail {
  const stepNames = new Set(steps.flatMap(({ as }) => (as === undefined ? [] : [as])));
  return { steps: [], names: new Map(), found: new Map(), stepNames };
}

interface ContentSource {
  readonly store: () => Promise<ContentStore>;
  readonly exchange: { readonly signal: AbortSignal };
}

/** Creates the scope for a step that follows these. */
export function scopeOf(
  env: ContentSource,
  { steps, names }: Trail,
  item: { readonly value: unknown } | undefined,
): StepScope {
  return new StepScope({ steps, names, item, readContent: (id) => readContent(env, id) });
}

/** Reads the content with an id or id prefix: as text if it is UTF-8, otherwise as base64. */
async function readContent({ store, exchange: { signal } }: ContentSource, given: string): Promise<string> {
  const contents = await store();
  const matches = await contents.resolve(parseContentIdPrefix(given), { signal });
  const [id, ...others] = matches;
  if (id === undefined) {
    throw new TrunklineError("NOT_FOUND", `The store has no content with the hash ${given}.`, {
      hint: "Stored results are deleted after 7 days.",
    });
  }
  if (others.length > 0) {
    throw new TrunklineError(
      "AMBIGUOUS",
      `${given} matches ${matches.length} contents: ${matches.slice(0, 5).join(", ")}.`,
      {
        hint: "Use more digits of the hash.",
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

/** Records a finished step as later references see it. */
export function recordOf(
  env: { readonly store: () => Promise<ContentStore> },
  op: string,
  {
    outcome,
    entry,
    isPending,
    signal,
  }: {
    outcome: Pick<StepRecord, "value" | "blocks"> & {
      readonly operation: Operation | undefined;
      readonly error: { readonly code: string } | undefined;
    };
    entry?: Readonly<Record<string, unknown>>;
    isPending?: boolean;
    signal: AbortSignal;
  },
): StepRecord {
  const { value, blocks, operation } = outcome;
  let stored: Promise<string> | undefined;
  const store = () => {
    stored ??= env.store().then(async (contents) => storeValue(contents, await serializeValue(value), { op, signal }));
    return stored;
  };
  return {
    op: operation?.name ?? op,
    value,
    blocks,
    entry,
    isUsed: false,
    failure: outcome.error?.code,
    isPending,
    ...(operation?.server === undefined ? {} : { store }),
  };
}
