// Our own resources: documents, contents and snapshots of the store, and the overall status.
import { type ContentId, type ContentStore, isRecord, TrunklineError } from "@trunkline/core";

// The media type of a document, by its name. Only types that clients treat differently; the rest is text or bytes.
const TYPES: Readonly<Record<string, string>> = {
  avif: "image/avif",
  bmp: "image/bmp",
  css: "text/css",
  csv: "text/csv",
  gif: "image/gif",
  gz: "application/gzip",
  htm: "text/html",
  html: "text/html",
  ico: "image/x-icon",
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  js: "text/javascript",
  json: "application/json",
  jsonl: "application/jsonl",
  md: "text/markdown",
  mjs: "text/javascript",
  mp3: "audio/mpeg",
  mp4: "video/mp4",
  ogg: "audio/ogg",
  pdf: "application/pdf",
  png: "image/png",
  svg: "image/svg+xml",
  tar: "application/x-tar",
  tiff: "image/tiff",
  toml: "application/toml",
  ts: "text/typescript",
  wasm: "application/wasm",
  wav: "audio/wav",
  webp: "image/webp",
  xml: "application/xml",
  yaml: "application/yaml",
  yml: "application/yaml",
  zip: "application/zip",
};

type Raw = Readonly<Record<string, unknown>>;

const SCHEME = "trunkline://";
const DOCUMENT = `${SCHEME}document/`;
const BLOB = `${SCHEME}blob/`;
const SNAPSHOT = `${SCHEME}snapshot/`;
const STATUS = `${SCHEME}status`;

/** The maximum size of a resource, which is sent as one message. Anything larger is read in parts, with `get`. */
const MAX_BYTES = 32 * 1024 * 1024;
/** The protocol's limit. */
export const MAX_COMPLETIONS = 100;
/** The maximum number of documents listed for a snapshot in one message. */
const MAX_LISTED = 1_000;

const STATUS_RESOURCE: Raw = {
  uri: STATUS,
  name: "status",
  title: "Status",
  description: "The connected servers and the contents of the store.",
  mimeType: "application/json",
};

/** Who reads a resource. */
export interface ResourceReader {
  readonly principal: string;
  readonly signal?: AbortSignal;
}

interface OwnResourcesOptions {
  /** Opens the store as a principal sees it. */
  readonly store: (principal: string) => Promise<ContentStore>;
  /** The status fields in addition to the store's. */
  readonly status: () => Promise<Raw>;
}

/** The resources that start with `trunkline://`. */
export class OwnResources {
  readonly #options: OwnResourcesOptions;

  constructor(options: OwnResourcesOptions) {
    this.#options = options;
  }

  /**
   * For `resources/list`. Lists nothing from the store, which can have any number of documents and is not opened for a
   * list. Documents are found with operations or by completion.
   */
  readonly resources: readonly Raw[] = [STATUS_RESOURCE];

  readonly templates: readonly Raw[] = [
    {
      uriTemplate: `${DOCUMENT}{path}`,
      name: "document",
      title: "Document",
      description: "A document in the store, by its path.",
    },
    {
      uriTemplate: `${BLOB}{hash}`,
      name: "blob",
      title: "Content",
      description: "Any content in the store by its hash, including results that were too long for an answer.",
    },
    {
      uriTemplate: `${SNAPSHOT}{id}`,
      name: "snapshot",
      title: "Snapshot",
      description: "The contents of a snapshot, by its id or label.",
      mimeType: "application/json",
    },
  ];

  has(uri: string): boolean {
    return uri.startsWith(SCHEME);
  }

  /** Reads the contents of a resource. Rejects with `NOT_FOUND`. */
  async read(uri: string, reader: ResourceReader): Promise<readonly Raw[]> {
    if (uri === STATUS) return [await this.#status(reader)];
    const path = partOf(uri, DOCUMENT);
    if (path !== undefined) return [await this.#document(uri, path, reader)];
    const hash = partOf(uri, BLOB);
    if (hash !== undefined) return [await this.#blob(uri, hash, reader)];
    const id = partOf(uri, SNAPSHOT);
    if (id !== undefined) return [await this.#snapshot(uri, id, reader)];
    throw notThere(uri);
  }

  /** Returns what to watch for a resource; undefined if the resource never changes. Rejects with `NOT_FOUND`. */
  async watched(uri: string, reader: ResourceReader): Promise<{ path: string } | "status" | undefined> {
    if (uri === STATUS) return "status";
    const path = partOf(uri, DOCUMENT);
    if (path !== undefined) {
      const store = await this.#options.store(reader.principal);
      const found = await store.run("get", { path }, signalOf(reader));
      return { path: String(found.path ?? path) };
    }
    if (partOf(uri, BLOB) !== undefined || partOf(uri, SNAPSHOT) !== undefined) return undefined;
    throw notThere(uri);
  }

  /** Returns completions for a template's variable; undefined if the template is not ours. */
  async complete(template: string, value: string, reader: ResourceReader): Promise<readonly string[] | undefined> {
    switch (template) {
      case `${DOCUMENT}{path}`:
        return await this.values("document", value, reader);
      case `${BLOB}{hash}`:
        return await this.values("hash", value, reader);
      case `${SNAPSHOT}{id}`:
        return await this.values("snapshot", value, reader);
      default:
        return undefined;
    }
  }

  /** Finds values in the store that start with this text or contain it. */
  async values(
    kind: "document" | "hash" | "snapshot" | "collection",
    value: string,
    reader: ResourceReader,
  ): Promise<readonly string[]> {
    const store = await this.#options.store(reader.principal);
    const run = (operation: string, params: Raw) => store.run(operation, params, signalOf(reader));
    switch (kind) {
      case "document": {
        // Escapes the store's special pattern characters: each is replaced by `?`, which matches any character.
        const pattern = value === "" ? {} : { pattern: `**${value.replace(/[*?[\]{}\\!]/g, "?")}**` };
        const { paths } = await run("list", { ...pattern, paths_only: true, limit: 1_000, sort_by: "name" });
        return best(textsOf(paths), value);
      }
      case "hash": {
        if (!/^[0-9a-f]*$/i.test(value)) return [];
        if (value.length >= 8) return (await store.resolve(value, signalOf(reader))).slice(0, MAX_COMPLETIONS);
        const { documents } = await run("list", { recent: 1_000, limit: 1_000 });
        const hashes = recordsOf(documents).map(({ hash }) => String(hash));
        return best([...new Set(hashes)], value.toLowerCase()).filter((hash) => hash.startsWith(value.toLowerCase()));
      }
      case "snapshot": {
        const { snapshots } = await run("list_snapshots", { limit: 1_000 });
        const names = recordsOf(snapshots).flatMap(({ id, label }) => [label, id]);
        return best([...new Set(textsOf(names))], value);
      }
      case "collection": {
        const { collections } = await run("list_collections", {});
        return best(textsOf(recordsOf(collections).map(({ name }) => name)), value);
      }
    }
  }

  async #status(reader: ResourceReader): Promise<Raw> {
    const [store, rest] = await Promise.all([
      this.#options.store(reader.principal).then((opened) => opened.run("status", {}, signalOf(reader))),
      this.#options.status(),
    ]);
    return { uri: STATUS, mimeType: "application/json", text: JSON.stringify({ ...rest, store }, null, 2) };
  }

  async #document(uri: string, path: string, reader: ResourceReader): Promise<Raw> {
    const store = await this.#options.store(reader.principal);
    const found = await store.run("get", { path }, signalOf(reader));
    // A document in the trash is only available by its hash.
    if (found.state !== undefined) throw notThere(uri);
    return await contentOf(store, { uri, found, reader });
  }

  async #blob(uri: string, hash: string, reader: ResourceReader): Promise<Raw> {
    const store = await this.#options.store(reader.principal);
    return await contentOf(store, { uri, found: await store.run("get", { hash }, signalOf(reader)), reader });
  }

  async #snapshot(uri: string, id: string, reader: ResourceReader): Promise<Raw> {
    const store = await this.#options.store(reader.principal);
    const { snapshots } = await store.run("list_snapshots", { limit: 10_000 }, signalOf(reader));
    const snapshot = recordsOf(snapshots).find((one) => one.id === id || one.label === id);
    if (snapshot === undefined) throw notThere(uri);
    const listed = await store.run("list", { snapshot: snapshot.id, limit: MAX_LISTED }, signalOf(reader));
    const documents = recordsOf(listed.documents).map(({ path, hash, size }) => ({ path, hash, size }));
    const total = Number(listed.total);
    const text = JSON.stringify(
      { ...snapshot, listed: documents, ...(total > documents.length ? { truncated: true, total } : {}) },
      null,
      2,
    );
    return { uri, mimeType: "application/json", text };
  }
}

async function contentOf(
  store: ContentStore,
  { uri, found, reader }: { uri: string; found: Raw; reader: ResourceReader },
): Promise<Raw> {
  const size = Number(found.size);
  if (size > MAX_BYTES) {
    throw new TrunklineError("INVALID_ARGUMENT", `${uri} has ${size} bytes, which is too large for one resource.`, {
      hint: 'Read it in parts: use get with "lines" or "bytes".',
    });
  }
  const bytes = await store.get(found.hash as ContentId, signalOf(reader)); // comes from the store
  const kind = found.type === "text" ? "text" : "binary";
  const mimeType = mimeTypeOf(typeof found.path === "string" ? found.path : undefined, kind);
  const text = kind === "text" ? decoded(bytes) : undefined;
  if (text !== undefined) return { uri, mimeType, text };
  return { uri, mimeType, blob: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64") };
}

/** Decodes UTF-8. Undefined if the bytes are not valid UTF-8; then they are sent as binary. */
function decoded(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** Returns the part after the prefix, decoded. Slashes need not be encoded. */
function partOf(uri: string, prefix: string): string | undefined {
  if (!uri.startsWith(prefix) || uri.length === prefix.length) return undefined;
  const part = uri.slice(prefix.length);
  try {
    return decodeURIComponent(part);
  } catch (error) {
    if (error instanceof URIError) return part;
    throw error;
  }
}

/** Sorts values: first those that start with the text, then those whose last path segment does, then the rest. */
function best(values: readonly string[], text: string): string[] {
  const wanted = text.toLowerCase();
  const rank = (value: string) => {
    const lower = value.toLowerCase();
    if (lower.startsWith(wanted)) return 0;
    if (lower.slice(lower.lastIndexOf("/") + 1).startsWith(wanted)) return 1;
    return lower.includes(wanted) ? 2 : 3;
  };
  return values
    .map((value) => ({ value, rank: rank(value) }))
    .filter((entry) => entry.rank < 3)
    .sort((a, b) => a.rank - b.rank)
    .slice(0, MAX_COMPLETIONS)
    .map(({ value }) => value);
}

function signalOf({ signal }: ResourceReader): { signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}

function notThere(uri: string): TrunklineError {
  return new TrunklineError("NOT_FOUND", `Resource not found: ${uri}`);
}

function recordsOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];
}

/** Returns the type for the name, unless it is a text type and the content is not text. */
function mimeTypeOf(path: string | undefined, kind: "text" | "binary"): string {
  const extension = path === undefined ? undefined : /\.([A-Za-z0-9]+)$/.exec(path)?.[1]?.toLowerCase();
  const known = extension === undefined ? undefined : TYPES[extension];
  if (kind === "text") return known ?? "text/plain";
  return known === undefined || known.startsWith("text/") ? "application/octet-stream" : known;
}
