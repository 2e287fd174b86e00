// Caches the last listings of upstream servers between runs, so that `describe` can show servers that are not connected
// yet.
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { HeldEntry, Hub, ServerStatus } from "@trunkline/client";
import { isRecord, type Logger, parseJson, type SourcedTool, systemCodeOf, writeFileAtomically } from "@trunkline/core";

/** What is known about a server. */
export interface KnownServer {
  readonly status: ServerStatus;
  /** Its tools, current or from its last connection; undefined if it was never connected. */
  readonly tools: readonly SourcedTool[] | undefined;
  /** Tools that it lists but that are not offered. */
  readonly held: readonly HeldEntry[];
}

interface Kept {
  /** Identifies the server definition that the tools belong to. */
  readonly key: string;
  readonly tools: readonly SourcedTool[];
  /** The last written text, to avoid writing it twice. */
  text: string;
}

const FORMAT = 1;

/** The last listings of servers, in memory and in a folder. */
export class KeptTools {
  readonly #folder: string | undefined;
  readonly #logger: Logger;
  readonly #kept = new Map<string, Kept>();
  #stop: (() => void) | undefined;
  #writing: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(options: { folder: string | undefined; logger: Logger }) {
    this.#folder = options.folder;
    this.#logger = options.logger;
  }

  /** Loads the listings of earlier runs, then saves the listings of this hub's servers. Never rejects. */
  async follow(hub: Hub): Promise<void> {
    const folder = this.#folder;
    if (folder !== undefined) await Promise.all(hub.status().map((status) => this.#read(folder, status)));
    if (this.#closed) return;
    this.#stop = hub.onCatalogChanged(() => this.#keep(hub));
    this.#keep(hub);
  }

  /** Returns all servers, sorted by name, with their tools. Connects nothing. */
  servers(hub: Hub): KnownServer[] {
    const live = groupedByServer(hub.tools());
    const held = hub.held().filter(({ kind }) => kind === "tools");
    return hub.status().map((status) => ({
      status,
      tools: this.#toolsOf(status, live),
      held: held.filter(({ server }) => server === status.name),
    }));
  }

  /** Stops following and waits for pending writes. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#stop?.();
    await this.#writing;
  }

  #toolsOf(status: ServerStatus, live: ReadonlyMap<string, SourcedTool[]>): readonly SourcedTool[] | undefined {
    if (status.state === "connected") return live.get(status.name) ?? [];
    const kept = this.#kept.get(status.name);
    return kept?.key === keyOf(status) ? kept.tools : undefined;
  }

  /** Remembers the listings of live servers. */
  #keep(hub: Hub): void {
    if (this.#closed) return;
    const live = groupedByServer(hub.tools());
    for (const status of hub.status()) {
      if (status.state !== "connected" || status.toolsError !== undefined) continue;
      const key = keyOf(status);
      const tools = (live.get(status.name) ?? []).map(keptTool);
      const text = JSON.stringify({ format: FORMAT, server: status.name, key, tools });
      if (this.#kept.get(status.name)?.text === text) continue;
      this.#kept.set(status.name, { key, tools, text });
      const folder = this.#folder;
      if (folder === undefined) continue;
      const path = join(folder, fileName(status.name));
      this.#writing = this.#writing.then(() => this.#write(path, text));
    }
  }

  async #read(folder: string, status: ServerStatus): Promise<void> {
    let text: string;
    try {
      text = await readFile(join(folder, fileName(status.name)), "utf8");
    } catch (error) {
      if (systemCodeOf(error) !== "ENOENT") this.#logger.warn("cannot read catalogue", { server: status.name, error });
      return;
    }
    const read = parseJson(text);
    if (!isRecord(read) || read.format !== FORMAT || read.key !== keyOf(status) || !Array.isArray(read.tools)) return;
    const tools = read.tools
      .filter(
        (tool): tool is SourcedTool => isRecord(tool) && typeof tool.tool === "string" && isRecord(tool.inputSchema),
      )
      // Earlier versions did not save it.
      .map((tool) => ({ ...tool, name: `${status.name}.${tool.tool}` }));
    this.#kept.set(status.name, { key: read.key, tools, text });
  }

  /** Writes atomically. If saving fails, the listing is just fetched again. */
  async #write(path: string, text: string): Promise<void> {
    try {
      await writeFileAtomically(path, text, { mode: 0o600, folderMode: 0o700, flush: false });
    } catch (error) {
      this.#logger.warn("cannot save catalogue", { error });
    }
  }
}

/** Saves the listings of a hub's connected servers, like a running server does. */
export async function keepCatalogue(hub: Hub, options: { folder: string; logger: Logger }): Promise<void> {
  const kept = new KeptTools(options);
  await kept.follow(hub);
  await kept.close();
}

/**
 * Returns the same key for the same definition in every run. The values of env and headers are hidden here and make no
 * difference.
 */
function keyOf({ config }: ServerStatus): string {
  const common = { tools: config.tools };
  const identity =
    config.type === "stdio"
      ? { command: config.command, args: config.args, env: Object.keys(config.env).sort(), cwd: config.cwd }
      : { type: config.type, url: config.url, headers: Object.keys(config.headers).sort() };
  return createHash("sha256")
    .update(JSON.stringify({ ...identity, ...common }))
    .digest("hex");
}

function fileName(server: string): string {
  const readable = server.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 40);
  return `tools-${readable}-${createHash("sha256").update(server).digest("hex").slice(0, 12)}.json`;
}

function keptTool(listed: SourcedTool): SourcedTool {
  const { server, tool, name, description, inputSchema, outputSchema, annotations } = listed;
  return {
    server,
    tool,
    name,
    inputSchema,
    ...(description === undefined ? {} : { description }),
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(annotations === undefined ? {} : { annotations }),
  };
}

function groupedByServer(tools: readonly SourcedTool[]): Map<string, SourcedTool[]> {
  const groups = new Map<string, SourcedTool[]>();
  for (const tool of tools) {
    const group = groups.get(tool.server);
    if (group === undefined) groups.set(tool.server, [tool]);
    else group.push(tool);
  }
  return groups;
}
