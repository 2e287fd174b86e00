// The store's operations as the server's clients see them. They are defined in the store's own table; this file adds
// what only a server has: results stored under a handle, documents of an earlier answer, the caller's session, the
// token account, and path rules.
import { join } from "node:path";
import { type FileLimits, type ParameterSet, param, type StoreOperation, TrunklineError } from "@trunkline/core";
import { DEFAULT_MAX_TOKENS } from "../budget/step-budget.js";
import {
  ExchangeContext,
  type Operation,
  type OperationContext,
  type OperationKind,
  type Params,
} from "../interfaces/operation.js";
import type { NamedPath } from "./allowed-paths.js";
import { define } from "./define.js";
import type { SessionParam, StoreCalls } from "./store-calls.js";
import { type DocumentRef, getDocuments, grepDocuments, lookedUp, searchHandles } from "./store-documents.js";

/** Returns the token account for `status`. */
export type TokenReport = () => unknown;

interface StoreOperationsOptions {
  readonly calls: StoreCalls;
  /** The store's table of operations. */
  readonly operations: readonly StoreOperation[];
  readonly tokens?: TokenReport;
}

/** One call with its paths checked and its session resolved. */
interface StoreCall {
  readonly calls: StoreCalls;
  readonly params: Params;
  readonly context: OperationContext;
  readonly limits: FileLimits | undefined;
  /** The client to act for, if not the caller. */
  readonly client: string | undefined;
  readonly tokens: TokenReport | undefined;
}

/** What the server adds to a store operation. */
interface Extension {
  /** Parameters that the store does not have, or has in another form. */
  readonly params?: ParameterSet;
  /** Adjusts parameters before they are checked. */
  readonly prepare?: (params: Params) => Params;
  /** Runs the operation. Default: the store runs it. */
  readonly run?: (call: StoreCall) => Promise<unknown>;
}

const CONTENT_HINT = `Content not included: set include_content (cut to max_tokens, default ${DEFAULT_MAX_TOKENS}), lines or bytes, or outputPath to write it to a file.`;

const handles = (description: string) =>
  param.of<string | readonly string[]>(
    { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }], description },
    { aliases: ["hashes"], narrows: true },
  );

const EXTENSIONS: Readonly<Record<string, Extension>> = {
  search: {
    params: {
      hash: handles("Only content whose hash starts with these digits (at least 8); searches inside a stored result."),
    },
    // A hash alone is enough to search.
    prepare: (params) => (params.hash === undefined ? params : { query: "", ...params }),
    run: async (call) => {
      const { calls, params, context } = call;
      if (params.hash !== undefined) {
        return await searchHandles(calls, params as Parameters<typeof searchHandles>[1], context);
      }
      if (String(params.query).trim() === "") {
        throw new TrunklineError("INVALID_ARGUMENT", "query is empty.", {
          hint: "Say what to look for. list shows documents without a query.",
          data: { parameter: "query" },
        });
      }
      return await explained(call, await calls.run("search", params, { context }));
    },
  },
  grep: {
    params: { hash: handles("Only this content: the hash of a document or of a stored result.") },
    run: async (call) => {
      const { calls, params, context } = call;
      return params.hash === undefined && params.documents === undefined
        ? await explained(call, await calls.run("grep", params, { context }))
        : await grepDocuments(calls, params as Parameters<typeof grepDocuments>[1], context);
    },
  },
  list: { run: async (call) => await explained(call, await call.calls.run("list", call.params, call)) },
  get: {
    params: {
      documents: param.of<readonly DocumentRef[]>(
        {
          type: "array",
          items: {
            type: "object",
            properties: { path: { type: "string" }, hash: { type: "string" }, collection: { type: "string" } },
          },
          description: "Several documents of an earlier answer; returns {documents}.",
        },
        { narrows: true },
      ),
    },
    run: async ({ calls, params, context, limits }) => {
      const result =
        params.documents === undefined
          ? await calls.run("get", lookedUp(params), { context, limits })
          : await getDocuments(calls, params as Parameters<typeof getDocuments>[1], { context, limits });
      const wantsContent = [params.include_content, params.lines, params.bytes, params.symbol, params.outputPath];
      return wantsContent.some((given) => given !== undefined && given !== false)
        ? result
        : { ...result, hint: CONTENT_HINT };
    },
  },
  status: {
    params: { tokens: param.flag("Add this server's token account.") },
    run: async ({ calls, params: { tokens, ...params }, context, tokens: report }) => {
      const result = await calls.run("status", params, { context });
      return tokens ? { ...result, tokens: (await report?.()) ?? {} } : result;
    },
  },
  add: {
    prepare: namedContent,
    run: async (call) => {
      const result = await call.calls.run("add", call.params, call);
      const hasNone = result.files === 0 && result.skipped === 0;
      return hasNone ? { ...result, notice: "Nothing was added: no file there matches." } : result;
    },
  },
  start: { run: async ({ calls, params, context }) => await calls.start(params, context) },
  stop: { run: async ({ calls, context, client }) => await calls.stop(client, context) },
  watch: {
    // The operation continues after the answer is sent, so nothing receives its progress.
    run: async ({ calls, params, context, client, limits }) =>
      await calls.run("watch", params, { context: new ExchangeContext(context.exchange), client, limits }),
  },
  restore: { run: restoreWithPermission },
};

type StoreResult = Awaited<ReturnType<StoreCalls["run"]>>;

/** Adds why nothing was found, if that has nothing to do with what was looked for. */
async function explained({ calls, params, context }: StoreCall, result: StoreResult): Promise<StoreResult> {
  const isEmpty = result.total === 0 || (Array.isArray(result.files) && result.files.length === 0);
  if (!isEmpty || result.notice !== undefined) return result;
  const count = async (pattern?: unknown) =>
    (await calls.run("list", { pattern, limit: 1, collection: params.collection }, { context })).total;
  if ((await count()) === 0) {
    const where = typeof params.collection === "string" ? `The collection "${params.collection}"` : "The store";
    return { ...result, notice: `${where} has no documents. add {"path": "…"} adds a file or folder.` };
  }
  const globs = Array.isArray(params.include) ? params.include : [];
  for (const glob of globs) if ((await count(glob)) !== 0) return result;
  return globs.length === 0 ? result : { ...result, notice: `No document matches ${globs.join(" or ")}.` };
}

/** Returns the operations of this kind, in table order. */
export function storeOperations(kind: OperationKind, options: StoreOperationsOptions): Operation[] {
  return options.operations
    .filter((operation) => operation.kind === kind)
    .map((operation) => storeOperation(operation, kind, options));
}

function storeOperation(
  operation: StoreOperation,
  kind: OperationKind,
  { calls, tokens }: StoreOperationsOptions,
): Operation {
  const { name, summary, example, undoable } = operation;
  const extension = EXTENSIONS[name] ?? {};
  const params = { ...operation.params, ...extension.params, ...sessionParams(operation) };
  return define({
    name,
    kind,
    summary,
    params,
    prepare: extension.prepare,
    example,
    undoable,
    run: async (given: Params, context) => {
      const { client, ...rest } = await inSession(operation, { calls, given, context });
      const placed = await resolvedPlaces(operation, { calls, given: rest.params, context });
      const call = { calls, ...placed, context, client, tokens };
      return extension.run === undefined ? await calls.run(name, placed.params, call) : await extension.run(call);
    },
  });
}

/** Adds `session` to operations that belong to one. Reads have it in the table, as a filter. */
function sessionParams({ name, kind, inSession }: StoreOperation): ParameterSet {
  if (inSession !== true && (kind !== "session" || name === "start")) return {};
  const description =
    inSession === true
      ? "The session it belongs to: its id, or true for the current one."
      : "The session id; default: the current session.";
  return {
    session: param.of<boolean | string>(
      { anyOf: [{ type: "boolean" }, { type: "string" }], description },
      { aliases: ["session_id", ...(name === "stop" ? ["id"] : [])] },
    ),
  };
}

interface Given {
  readonly calls: StoreCalls;
  readonly given: Params;
  readonly context: OperationContext;
}

/** Returns the client to act for and the remaining parameters for the store. */
async function inSession(
  { name, kind, inSession: joins }: StoreOperation,
  { calls, given, context }: Given,
): Promise<{ params: Params; client: string | undefined }> {
  const session = given.session as SessionParam;
  if (joins !== true && kind !== "session") {
    calls.requireSession(session, context.exchange);
    return { params: given, client: undefined };
  }
  const { session: _, ...params } = given;
  if (name === "start") return { params, client: undefined };
  const client = kind === "session" ? calls.sessionClient(session, context) : calls.clientOf(session, context);
  return { params, client: await client };
}

/** Resolves files and folders according to this caller's path rules. */
async function resolvedPlaces(
  operation: StoreOperation,
  { calls, given, context }: Given,
): Promise<{ params: Params; limits: FileLimits | undefined }> {
  const named: (NamedPath & { readonly put: (path: string) => void })[] = [];
  const params: Record<string, unknown> = { ...given };
  for (const [name, { place }] of Object.entries(operation.params)) {
    const value = given[name];
    if (place === undefined || value === undefined) continue;
    if (!Array.isArray(value)) {
      named.push({ path: String(value), parameter: name, use: place, put: (path) => (params[name] = path) });
      continue;
    }
    const list: string[] = [];
    params[name] = list;
    for (const [at, path] of value.entries()) {
      named.push({ path: String(path), parameter: `${name}[${at}]`, use: place, put: (each) => list.push(each) });
    }
  }
  if (named.length === 0) return { params, limits: undefined };
  const { paths, limits } = await calls.places.resolve(named, operation.name, context);
  for (const [at, path] of paths.entries()) named[at]?.put(path);
  return { params, limits };
}

/**
 * Restores what needs no permission, then asks once about the other files. Rejects if that leaves nothing restored;
 * otherwise files without permission are conflicts.
 */
async function restoreWithPermission({ calls, params, context, limits }: StoreCall): Promise<unknown> {
  const { unapproved, ...result } = await calls.run("restore", params, { context, limits });
  if (limits === undefined || !Array.isArray(unapproved) || params.dry_run === true) return result;
  const folder = limits.realPaths[String(params.output_directory)] ?? "";
  const files = unapproved.map((path) => join(folder, String(path)));
  if (await calls.places.approveFiles(files, "restore", context)) {
    const approved = { ...limits, approved: files };
    const more = await calls.run("restore", params, { context, limits: approved });
    const isOpen = ({ path }: { path: string }) => !unapproved.includes(path);
    return {
      ...result,
      restored: Number(result.restored) + Number(more.restored),
      conflicts: [...(result.conflicts as { path: string }[]).filter(isOpen), ...(more.conflicts as unknown[])],
    };
  }
  if (result.restored !== 0) return result;
  const conflicts = result.conflicts as { path: string; reason: string }[];
  const first = conflicts.find(({ path }) => unapproved.includes(path));
  throw new TrunklineError("DENIED", `${first?.path} was not restored: ${first?.reason}.`, {
    hint: 'If a file would be lost, add it to the store first. Otherwise use a client that supports elicitation and let the user decide, or add the file to "paths.write" in your own settings.json.',
    data: { parameter: "output_directory", conflicts },
  });
}

/** Uses the path as the name of the content if no name is given. The value of an earlier step is stored as JSON. */
function namedContent({ content, ...params }: Params): Params {
  if (content === undefined) return params;
  const stored = typeof content === "string" ? content : JSON.stringify(content, null, 2);
  const { path, ...rest } = params;
  if (params.name !== undefined) return { ...params, content: stored };
  if (path !== undefined) return { ...rest, name: path, content: stored };
  throw new TrunklineError("INVALID_ARGUMENT", "add with content needs a name.", {
    hint: 'Set name, for example "notes/plan.md".',
    data: { parameter: "name" },
  });
}
