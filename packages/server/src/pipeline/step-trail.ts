// What the references of a step can see: the steps before it, by place and by name, and the item of `for_each`.
import { isRecord } from "@trunkline/core";
import type { ContentBlock } from "../interfaces/operation.js";
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
export type ReadContent = (id: string) => Promise<string>;

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
