import { isAbsolute, relative, resolve } from "node:path";
import {
  type ContentStore,
  isFolder,
  isRecord,
  isTrunklineError,
  messageOf,
  parseContentId,
  TrunklineError,
} from "@trunkline/core";
import type { Operation, Params } from "../interfaces/operation.js";

/** A document before an operation. */
interface DocumentState {
  readonly path: string;
  readonly collection: string;
  readonly state: "live" | "hidden" | "absent";
  readonly hash: string | undefined;
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** The documents that an operation can change. */
type Target =
  | { readonly kind: "path"; readonly path: string; readonly collection: string }
  | { readonly kind: "pattern"; readonly pattern: string; readonly collection: string | undefined };

interface Note {
  readonly targets: readonly Target[];
  readonly before: ReadonlyMap<string, DocumentState>;
  /** Documents that the operation restored from the trash. */
  readonly restored: readonly { readonly path: string; readonly collection: string | undefined }[];
}

const DEFAULT_COLLECTION = "default";
const PAGE = 1_000;
/** Characters that make a name a pattern. */
const GLOB = /[*?[\]{}]/;

/** Rejects operations that cannot be undone, before anything runs. The last one may be a snapshot. */
export function requireUndoable(operation: Operation, params: Params | string, isLast: boolean): void {
  const { name, kind, server } = operation;
  if (server !== undefined) {
    throw refused(
      `atomic cannot undo ${name}: it runs on the server ${server}.`,
      "Omit atomic, or run it in a separate call.",
    );
  }
  if (kind === "read" || (typeof params !== "string" && params.dry_run === true)) return;
  if (name === "snapshot" && !isLast) throw snapshotNotLast(name);
  if (name !== "snapshot" && operation.undoable !== true) {
    throw refused(`atomic cannot undo ${name}.`, "Run it in a separate call.");
  }
}

/** Rejects an `add` that would create a snapshot, which cannot be undone: in an atomic batch it has to come last. */
export async function requireNoSnapshot(
  operation: Operation,
  params: Params,
  { workspace, isTrusted }: { workspace: string; isTrusted: boolean },
): Promise<void> {
  if (operation.name !== "add") return;
  if (typeof params.snapshot_label === "string") throw snapshotNotLast("add");
  if (typeof params.content === "string") return;
  for (const path of pathsOf(params)) {
    const absolute = resolve(workspace, path);
    // Clients must not learn whether a folder exists outside the workspace.
    if (!isTrusted && !isInside(absolute, workspace)) continue;
    if (await isFolder(absolute)) throw snapshotNotLast("add of a folder");
  }
}

function snapshotNotLast(what: string): TrunklineError {
  return refused(
    "A snapshot cannot be undone, so it has to come last in an atomic batch.",
    `Move the ${what} to the end.`,
  );
}

function refused(message: string, hint: string): TrunklineError {
  return new TrunklineError("INVALID_ARGUMENT", message, { hint });
}

function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return !way.startsWith("..") && !isAbsolute(way);
}

function pathsOf({ path, paths }: Params): string[] {
  const many = Array.isArray(paths) ? paths : [];
  return [path, ...many].filter((each): each is string => typeof each === "string");
}

/** Records what operations change and undoes it. */
export class UndoLog {
  readonly #store: ContentStore;
  readonly #workspace: string;
  readonly #notes: Note[] = [];

  constructor(store: ContentStore, workspace: string) {
    this.#store = store;
    this.#workspace = workspace;
  }

  /** Called before an operation: records the documents that it can change. */
  async before(operation: Operation, params: Params, signal: AbortSignal): Promise<void> {
    if (operation.kind === "read" || operation.name === "snapshot") return;
    const targets = await this.#targets(operation.name, params, signal);
    const before = new Map<string, DocumentState>();
    for (const target of targets) {
      for (const state of await this.#states(target, signal)) before.set(keyOf(state), state);
    }
    this.#notes.push({ targets, before, restored: [] });
  }

  /** Called after a successful operation: only its answer says what it restored. */
  after(operation: Operation, params: Params, value: unknown): void {
    if (operation.name !== "undelete" || !isRecord(value) || !Array.isArray(value.restored)) return;
    const note = this.#notes.pop();
    const collection = typeof params.collection === "string" ? params.collection : undefined;
    const restored = value.restored
      .filter((path): path is string => typeof path === "string")
      .map((path) => ({ path, collection }));
    this.#notes.push({ targets: note?.targets ?? [], before: note?.before ?? new Map(), restored });
  }

  /** Reverts all changes, latest first. Continues after a failure and returns all failures. */
  async undo(): Promise<readonly string[]> {
    const problems: string[] = [];
    const attempt = async (what: string, work: () => Promise<unknown>) => {
      try {
        await work();
      } catch (error) {
        problems.push(`${what}: ${messageOf(error)}`);
      }
    };
    for (const note of this.#notes.toReversed()) {
      for (const { path, collection } of note.restored) {
        await attempt(path, () =>
          this.#store.run("delete", { names: [path], ...(collection === undefined ? {} : { collection }) }),
        );
      }
      const states = new Map(note.before);
      for (const target of note.targets) {
        if (target.kind === "path") continue;
        await attempt(target.pattern, async () => {
          for (const now of await this.#states(target)) {
            const absent: DocumentState = { ...now, state: "absent", hash: undefined, tags: [], metadata: {} };
            if (!states.has(keyOf(now))) states.set(keyOf(now), absent);
          }
        });
      }
      for (const state of states.values()) await attempt(state.path, () => this.#putBack(state));
    }
    this.#notes.length = 0;
    return problems;
  }

  async #putBack(before: DocumentState): Promise<void> {
    const { path, collection } = before;
    let now = await this.#state(path, collection);
    if (before.state === "absent") {
      if (now.state === "live") await this.#store.run("delete", { names: [path], collection });
      return;
    }
    if (before.state === "hidden") {
      if (now.state !== "live") return;
      await this.#putContent(before, now);
      await this.#store.run("delete", { names: [path], collection });
      return;
    }
    if (now.state === "hidden") {
      try {
        await this.#store.run("undelete", { name: path, collection });
        now = await this.#state(path, collection);
      } catch (error) {
        // Its file was deleted, so it is not in the trash: write its content again.
        if (!isTrunklineError(error, "NOT_FOUND")) throw error;
      }
    }
    await this.#putContent(before, now);
  }

  /** Restores the content, tags and metadata of a document. */
  async #putContent(before: DocumentState, now: DocumentState): Promise<void> {
    const { path, collection, hash } = before;
    if (hash !== undefined && (now.state !== "live" || now.hash !== hash)) {
      const content = await this.#store.get(parseContentId(hash));
      await this.#store.run("add", { content, name: path, collection });
    }
    const current = await this.#state(path, collection);
    const tags = before.tags.filter((tag) => !current.tags.includes(tag));
    const removeTags = current.tags.filter((tag) => !before.tags.includes(tag));
    const metadata: Record<string, unknown> = {};
    for (const key of new Set([...Object.keys(before.metadata), ...Object.keys(current.metadata)])) {
      const value = Object.hasOwn(before.metadata, key) ? before.metadata[key] : null;
      if (JSON.stringify(value) !== JSON.stringify(current.metadata[key])) metadata[key] = value;
    }
    if (tags.length + removeTags.length + Object.keys(metadata).length === 0) return;
    await this.#store.run("update", { name: path, collection, tags, remove_tags: removeTags, metadata });
  }

  async #targets(name: string, params: Params, signal: AbortSignal): Promise<readonly Target[]> {
    const given = typeof params.collection === "string" ? params.collection : undefined;
    switch (name) {
      case "add":
        return await this.#added(params, given ?? DEFAULT_COLLECTION);
      case "download":
        return [{ kind: "path", path: String(params.url), collection: given ?? DEFAULT_COLLECTION }];
      case "update":
      case "delete":
        return await this.#named(params, given, signal);
      default:
        return [];
    }
  }

  async #added(params: Params, collection: string): Promise<readonly Target[]> {
    if (typeof params.content === "string") {
      return [{ kind: "path", path: String(params.name ?? params.path), collection }];
    }
    const targets: Target[] = [];
    for (const path of pathsOf(params)) {
      const absolute = resolve(this.#workspace, path);
      targets.push(
        (await isFolder(absolute))
          ? { kind: "pattern", pattern: `${escapeGlob(absolute)}/**`, collection }
          : { kind: "path", path: absolute, collection },
      );
    }
    return targets;
  }

  /**
   * Returns the documents that a name, glob or hash matches. Anything not found here is not found by the operation
   * either.
   */
  async #named(params: Params, collection: string | undefined, signal: AbortSignal): Promise<readonly Target[]> {
    const targets: Target[] = [];
    const where = collection === undefined ? {} : { collection };
    const names = [params.name, ...(Array.isArray(params.names) ? params.names : [])];
    for (const name of names.filter((each): each is string => typeof each === "string")) {
      const found = await this.#get({ path: name, ...where }, signal);
      if (found !== undefined) targets.push({ kind: "path", path: found.path, collection: found.collection });
      if (GLOB.test(name)) targets.push({ kind: "pattern", pattern: name, collection });
    }
    if (typeof params.pattern === "string") targets.push({ kind: "pattern", pattern: params.pattern, collection });
    if (typeof params.hash === "string") targets.push(...(await this.#withContent(params.hash, collection, signal)));
    return targets;
  }

  async #withContent(hash: string, collection: string | undefined, signal: AbortSignal): Promise<readonly Target[]> {
    const where = collection === undefined ? {} : { collection };
    const found = await this.#get({ hash, ...where }, signal);
    if (found === undefined) return [];
    const others = await Promise.all(
      found.sameContent.map(async (path) => await this.#get({ path, ...where }, signal)),
    );
    return [found, ...others.filter((other) => other !== undefined)].map(
      ({ path, collection: place }): Target => ({ kind: "path", path, collection: place }),
    );
  }

  async #states(target: Target, signal?: AbortSignal): Promise<readonly DocumentState[]> {
    if (target.kind === "path") return [await this.#state(target.path, target.collection, signal)];
    const { pattern, collection } = target;
    const states: DocumentState[] = [];
    let cursor: unknown;
    do {
      const params = {
        pattern,
        limit: PAGE,
        ...(collection === undefined ? {} : { collection }),
        ...(cursor === undefined ? {} : { cursor }),
      };
      const page = await this.#run("list", params, signal);
      const documents = Array.isArray(page?.documents) ? page.documents.filter(isRecord) : [];
      states.push(...documents.map((document) => stateOf(document)));
      cursor = page?.cursor;
    } while (cursor !== undefined);
    return states;
  }

  async #state(path: string, collection: string, signal?: AbortSignal): Promise<DocumentState> {
    const found = await this.#run("get", { path, collection }, signal);
    // A document that only ends with this path is a different one.
    if (found?.path === path) return stateOf(found);
    return { path, collection, state: "absent", hash: undefined, tags: [], metadata: {} };
  }

  async #get(
    params: Params,
    signal: AbortSignal,
  ): Promise<{ path: string; collection: string; sameContent: readonly string[] } | undefined> {
    const found = await this.#run("get", params, signal);
    if (typeof found?.path !== "string" || typeof found.collection !== "string") return undefined;
    const same = Array.isArray(found.same_content) ? found.same_content : [];
    return {
      path: found.path,
      collection: found.collection,
      sameContent: same.filter((path): path is string => typeof path === "string"),
    };
  }

  /** Runs a store operation; undefined if its target is missing or ambiguous. */
  async #run(operation: "get" | "list", params: Params, signal: AbortSignal | undefined) {
    try {
      return await this.#store.run(operation, params, signal === undefined ? {} : { signal });
    } catch (error) {
      if (isTrunklineError(error, "NOT_FOUND") || isTrunklineError(error, "AMBIGUOUS")) return undefined;
      throw error;
    }
  }
}

function stateOf(document: Readonly<Record<string, unknown>>): DocumentState {
  return {
    path: String(document.path),
    collection: String(document.collection),
    state: document.state === undefined ? "live" : "hidden",
    hash: typeof document.hash === "string" ? document.hash : undefined,
    tags: Array.isArray(document.tags) ? document.tags.filter((tag): tag is string => typeof tag === "string") : [],
    metadata: isRecord(document.metadata) ? document.metadata : {},
  };
}

function keyOf({ path, collection }: { path: string; collection: string }): string {
  return JSON.stringify([collection, path]);
}

function escapeGlob(path: string): string {
  return path.replaceAll(/[[\]{}*?!\\]/g, "\\$&");
}
