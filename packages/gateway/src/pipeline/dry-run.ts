// Reports what an operation would do, without doing it.
import { type ContentStore, contentIdOf, isTrunklineError } from "@trunkline/core";
import type { Operation, OperationContext, OperationOutcome, Params } from "../interfaces/operation.js";
import type { RunWith } from "../operations/run-operation.js";

/** Operations with their own dry run. */
const TELL_THEMSELVES: ReadonlySet<string> = new Set(["delete", "restore"]);

/**
 * Runs read operations and describes the others. `isCertain` is false if parameters depend on other operations,
 * `isPending` is true if one of those was only described: then a read operation cannot run either.
 */
export async function dryRun(
  operation: Operation,
  params: Params,
  options: {
    run: RunWith;
    store: () => Promise<ContentStore>;
    context: OperationContext;
    isCertain: boolean;
    isPending: boolean;
  },
): Promise<OperationOutcome> {
  const { run, isCertain, isPending } = options;
  if (operation.server === undefined && operation.kind === "read" && !isPending) return await run(params);
  if (!isCertain) {
    return { value: { dry_run: true, would: `${operation.name}, with the results of the operations before it` } };
  }
  const valid = operation.validate(params);
  if (TELL_THEMSELVES.has(operation.name)) {
    const { value } = await run({ ...params, dry_run: true });
    return { value: { dry_run: true, would: operation.name, ...(value as object) } };
  }
  const told = operation.server === undefined ? await tell(operation.name, valid, options) : {};
  const would = operation.server === undefined ? operation.name : `call ${operation.name}`;
  return { value: { dry_run: true, would, ...told } };
}

async function tell(
  name: string,
  params: Params,
  { store, context }: { store: () => Promise<ContentStore>; context: OperationContext },
): Promise<Readonly<Record<string, unknown>>> {
  const { collection = "default" } = params;
  switch (name) {
    case "add":
      if (typeof params.content !== "string") return { path: params.path ?? params.paths, collection };
      return {
        hash: contentIdOf(params.content),
        path: params.name ?? params.path,
        size: Buffer.byteLength(params.content),
        collection,
      };
    case "update":
      return { matched: await countMatches(await store(), params, context.signal) };
    case "undelete":
      return { name: params.name };
    case "download":
      return { url: params.url, collection };
    default:
      return { collection };
  }
}

/** Counts the documents that `update` would change. Fails like `update` would. */
async function countMatches(store: ContentStore, params: Params, signal: AbortSignal): Promise<number> {
  const { name, pattern, hash, collection } = params;
  const where = typeof collection === "string" ? { collection } : {};
  if (typeof hash === "string") {
    const { same_content: same } = await store.run("get", { hash, ...where }, { signal });
    return 1 + (Array.isArray(same) ? same.length : 0);
  }
  if (typeof pattern !== "string") {
    try {
      await store.run("get", { path: String(name), ...where }, { signal });
      return 1;
    } catch (error) {
      // A glob can match none or several.
      const isCount = isTrunklineError(error, "NOT_FOUND") || isTrunklineError(error, "AMBIGUOUS");
      if (!isCount || !/[*?[\]{}]/.test(String(name))) throw error;
    }
  }
  const { total } = await store.run("list", { pattern: pattern ?? name, limit: 1, ...where }, { signal });
  return typeof total === "number" ? total : 0;
}
