// `list` → `grep` needs no reference: if a step names nothing to work on, `grep` and `get` use the documents that the
// previous step returned.
import { type ContentStore, isRecord, TrunklineError } from "@trunkline/core";
import type { Operation, Params } from "../interfaces/operation.js";
import type { Step } from "./read-steps.js";
import type { Trail } from "./step-trail.js";

/** A document in an answer. If it has no hash, its path identifies it. */
interface FoundDocument {
  readonly path?: string;
  readonly hash?: string;
  readonly collection?: string;
}

const TAKERS: ReadonlySet<string> = new Set(["grep", "get"]);
const GIVERS: ReadonlySet<string> = new Set(["search", "grep", "list", "get", "graph"]);
const LISTS = ["documents", "results", "nodes", "matches", "files", "paths"];
/** A step with any of these parameters, in any spelling, names its own targets. */
const NAMED: ReadonlySet<string> = new Set([
  "path",
  "paths",
  "file",
  "files",
  "filepath",
  "name",
  "document",
  "documents",
  "hash",
  "hashes",
  "id",
  "sha256",
]);

/** Whether a step, as written, uses the documents of the previous step. */
export function takesDocuments(op: string, params: Params | string): boolean {
  if (!TAKERS.has(op) || typeof params === "string") return false;
  return !Object.keys(params).some((key) => NAMED.has(key.toLowerCase().replace(/[^a-z0-9]/g, "")));
}

/**
 * Returns the documents of a step's result, in order and without duplicates; undefined if the step does not return
 * documents.
 */
function documentsOf(op: string, value: unknown): readonly FoundDocument[] | undefined {
  if (!GIVERS.has(op)) return undefined;
  // `for_each` returns a list.
  if (Array.isArray(value)) {
    const all = value.map((item: unknown) => documentsOf(op, item));
    return all.every((each) => each === undefined) ? undefined : unique(all.flatMap((each) => each ?? []));
  }
  if (!isRecord(value)) return undefined;
  const list = LISTS.map((name) => value[name]).find(Array.isArray) as unknown[] | undefined;
  if (list !== undefined) return unique(list.flatMap(documentIn));
  return typeof value.hash === "string" ? documentIn(value) : undefined;
}

function documentIn(item: unknown): FoundDocument[] {
  if (typeof item === "string") return [{ path: item }];
  if (!isRecord(item)) return [];
  const { path, hash, collection } = item;
  if (typeof path !== "string" && typeof hash !== "string") return [];
  return [
    {
      ...(typeof path === "string" ? { path } : {}),
      ...(typeof hash === "string" ? { hash } : {}),
      ...(typeof collection === "string" ? { collection } : {}),
    },
  ];
}

function unique(documents: readonly FoundDocument[]): FoundDocument[] {
  return [
    ...new Map(documents.map((each) => [JSON.stringify([each.path, each.hash, each.collection]), each])).values(),
  ];
}

interface DocumentTaker {
  readonly step: Step;
  readonly operation: Operation;
  readonly trail: Trail;
  readonly env: { readonly store: () => Promise<ContentStore>; readonly exchange: { readonly signal: AbortSignal } };
}

/** Returns the previous step's documents if this step uses them. */
export function documentsBefore({ step, trail, operation }: DocumentTaker): readonly FoundDocument[] | undefined {
  const before = trail.steps.at(-1);
  if (before === undefined || before.store !== undefined || operation.server !== undefined) return undefined;
  if (!takesDocuments(operation.name, step.params)) return undefined;
  if (before.failure !== undefined && GIVERS.has(before.op)) {
    const message = `${operation.name} uses the documents of the step before it, but ${before.op} failed with ${before.failure}.`;
    throw new TrunklineError("REFERENCE_UNRESOLVED", `${message} The operation was not run.`, {
      hint: "Correct the failed step, or name the documents.",
    });
  }
  return documentsOf(before.op, before.value);
}

/** Adds these documents to the parameters. */
export async function withDocuments(
  { env, operation }: DocumentTaker,
  params: Params,
  found: readonly FoundDocument[],
): Promise<Params> {
  const byPath = found.filter(({ hash }) => hash === undefined);
  if (operation.name === "grep" && byPath.length > 0) {
    return { ...params, paths: found.flatMap(({ path }) => (path === undefined ? [] : [path])) };
  }
  const documents = byPath.length === 0 ? found : await Promise.all(found.map((each) => withHash(env, each)));
  return { ...params, documents };
}

async function withHash(env: DocumentTaker["env"], document: FoundDocument): Promise<FoundDocument> {
  const { path, hash, collection } = document;
  if (hash !== undefined || path === undefined) return document;
  const store = await env.store();
  const place = collection === undefined ? {} : { collection };
  const { hash: known } = await store.run("get", { path, ...place }, { signal: env.exchange.signal });
  return typeof known === "string" ? { ...document, hash: known } : document;
}
