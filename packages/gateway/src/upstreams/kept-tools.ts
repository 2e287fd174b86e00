// Caches the last listings of upstream servers between runs, so that `describe` can show servers that are not connected
// yet.
import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
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
  /** What is known about these tools, if they have been measured. */
  readonly measure: ToolsMeasure | undefined;
}

/** What a server's tools cost in a list, and what they are about. Computed when the tools change, never for a request. */
export interface ToolsMeasure {
  /** The tokens of each tool's lean definition, in the order of the tools. */
  readonly lean: readonly number[];
  /** The tokens of all definitions as the server lists them. Absent in measures of earlier runs. */
  readonly full?: number;
  /** The tokens of the server's name. */
  readonly name: number;
  /** Words for what the tools are about, the best first, and the tokens of each. */
  readonly topics: readonly (readonly [topic: string, tokens: number])[];
}

/** Measures the tools of a server. May take a while; never rejects. */
export type MeasureTools = (server: string, tools: readonly SourcedTool[]) => Promise<ToolsMeasure>;

interface Kept {
  /** Identifies the server definition that the tools belong to. */
  readonly key: string;
  readonly tools: readonly SourcedTool[];
  /** The tools as text, to see whether they have changed. */
  readonly text: string;
  measure: ToolsMeasure | undefined;
}

const FORMAT = 1;
/** Increase this when lean definitions or topics change. */
const MEASURE_FORMAT = 1;

/** The last listings of servers, in memory and in a folder. */
export class KeptTools {
  readonly #folder: string | undefined;
  readonly #logger: Logger;
  readonly #measure: MeasureTools | undefined;
  readonly #kept = new Map<string, Kept>();
  /** For which definition a server's file was read, and when the file was written. */
  readonly #readAs = new Map<string, string>();
  #stop: (() => void) | undefined;
  #writing: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(options: {
    readonly folder?: string;
    readonly logger: Logger;
    readonly measure?: MeasureTools;
  }) {
    this.#folder = options.folder;
    this.#logger = options.logger;
    this.#measure = options.measure;
  }

  /** Loads the listings of earlier runs, then saves the listings of this hub's servers. Never rejects. */
  async follow(hub: Hub): Promise<void> {
    const folder = this.#folder;
    if (folder !== undefined) await Promise.all(hub.status().map((status) => this.#read(folder, status)));
    if (this.#closed) return;
    // Earlier runs may not have measured them.
    for (const [server, kept] of this.#kept) if (kept.measure === undefined && this.#measure) this.#save(server, kept);
    this.#stop = hub.onCatalogChanged(() => this.#keep(hub));
    this.#keep(hub);
  }

  /**
   * Loads the listings that other processes have saved meanwhile, of servers that are not connected here. Returns whether
   * there were any. Never rejects.
   */
  async refresh(hub: Hub): Promise<boolean> {
    const folder = this.#folder;
    if (folder === undefined || this.#closed) return false;
    const away = hub.status().filter(({ state }) => state !== "connected");
    const before = away.map(({ name }) => this.#kept.get(name)?.text);
    await Promise.all(away.map((status) => this.#read(folder, status)));
    return away.some(({ name }, at) => this.#kept.get(name)?.text !== before[at]);
  }

  /** Returns all servers, sorted by name, with their tools. Connects nothing. */
  servers(hub: Hub): KnownServer[] {
    const live = groupedByServer(hub.tools());
    const held = hub.held().filter(({ kind }) => kind === "tools");
    return hub.status().map((status) => ({
      status,
      tools: this.#toolsOf(status, live),
      held: held.filter(({ server }) => server === status.name),
      measure: this.#measureOf(status),
    }));
  }

  /** Waits until the listings known so far are measured and written. */
  async saved(): Promise<void> {
    await this.#writing;
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

  #measureOf(status: ServerStatus): ToolsMeasure | undefined {
    const kept = this.#kept.get(status.name);
    return kept?.key === keyOf(status) ? kept.measure : undefined;
  }

  /** Remembers the listings of live servers. */
  #keep(hub: Hub): void {
    if (this.#closed) return;
    const live = groupedByServer(hub.tools());
    for (const status of hub.status()) {
      if (status.state !== "connected" || status.toolsError !== undefined) continue;
      const key = keyOf(status);
      const tools = (live.get(status.name) ?? []).map(keptTool);
      const text = JSON.stringify(tools);
      const known = this.#kept.get(status.name);
      if (known?.text === text && known.key === key) continue;
      const kept: Kept = { key, tools, text, measure: undefined };
      this.#kept.set(status.name, kept);
      this.#save(status.name, kept);
    }
  }

  /** Measures and writes a listing in the background, unless it has been replaced meanwhile. */
  #save(server: string, kept: Kept): void {
    this.#writing = this.#writing.then(async () => {
      const isCurrent = () => this.#kept.get(server) === kept;
      if (!isCurrent()) return;
      if (!this.#closed) kept.measure = await this.#measure?.(server, kept.tools);
      if (this.#folder === undefined || !isCurrent()) return;
      const measure = kept.measure === undefined ? {} : { measure: { format: MEASURE_FORMAT, ...kept.measure } };
      // Joined as text, because the tools have just been serialized.
      const head = JSON.stringify({ format: FORMAT, server, key: kept.key, ...measure }).slice(0, -1);
      await this.#write(join(this.#folder, fileName(server)), `${head},"tools":${kept.text}}`);
    });
  }

  async #read(folder: string, status: ServerStatus): Promise<void> {
    const path = join(folder, fileName(status.name));
    let text: string;
    try {
      const { mtimeMs } = await stat(path);
      const readAs = `${keyOf(status)} ${mtimeMs}`;
      if (this.#readAs.get(status.name) === readAs) return;
      text = await readFile(path, "utf8");
      this.#readAs.set(status.name, readAs);
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
    const measure = readMeasure(read.measure, tools.length);
    this.#kept.set(status.name, { key: read.key, tools, text: JSON.stringify(read.tools), measure });
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

/** Reads a saved measure; undefined if it is damaged or does not belong to these tools. */
function readMeasure(value: unknown, tools: number): ToolsMeasure | undefined {
  if (!isRecord(value) || value.format !== MEASURE_FORMAT) return undefined;
  const { lean, full, name, topics } = value;
  if (!Array.isArray(lean) || lean.length !== tools || ![...lean, name].every(isCount)) return undefined;
  if (!Array.isArray(topics)) return undefined;
  const isTopic = (topic: unknown) => Array.isArray(topic) && typeof topic[0] === "string" && isCount(topic[1]);
  if (!topics.every(isTopic)) return undefined;
  return { lean, full: isCount(full) ? full : undefined, name: Number(name), topics };
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && value >= 0;
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
