// The tools that servers listed last, in memory and in a folder with one file for each server: what a server offers is
// known before it is connected, and to commands that connect none.
import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { ServerDefinition } from "@trunkline/config";
import { isRecord, type Logger, parseJson, type SourcedTool, systemCodeOf, writeFileAtomically } from "@trunkline/core";

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

/** Measures the tools of a server. May take a while; undefined if it cannot. Never rejects. */
export type MeasureTools = (server: string, tools: readonly SourcedTool[]) => Promise<ToolsMeasure | undefined>;

/** A server whose listing is remembered. Its secrets are hidden and make no difference. */
interface RememberedServer {
  readonly name: string;
  readonly config: ServerDefinition;
}

interface Listing {
  /** Identifies the server definition that the tools belong to. */
  readonly key: string;
  readonly tools: readonly SourcedTool[];
  /** The tools as text, to see whether they have changed. */
  readonly text: string;
  measure: ToolsMeasure | undefined;
}

interface RememberedToolsOptions {
  /** Default: nothing is saved. */
  readonly folder?: string | undefined;
  readonly logger: Logger;
  readonly measure?: MeasureTools | undefined;
}

const FORMAT = 1;
/** Increase this when lean definitions or topics change. */
const MEASURE_FORMAT = 1;
const FILE_NAME = /^tools-.*\.json$/;

/** The last listings of servers, in memory and in a folder. */
export class RememberedTools {
  readonly #folder: string | undefined;
  readonly #logger: Logger;
  #measure: MeasureTools | undefined;
  readonly #listings = new Map<string, Listing>();
  /** For which definition a server's file was read, and when the file was written. */
  readonly #readAs = new Map<string, string>();
  #writing: Promise<void> = Promise.resolve();

  constructor({ folder, logger, measure }: RememberedToolsOptions) {
    this.#folder = folder;
    this.#logger = logger;
    this.#measure = measure;
  }

  /** Returns what is remembered of a server; undefined if it was never connected as it is configured now. */
  of(server: RememberedServer): Pick<Listing, "tools" | "measure"> | undefined {
    const listing = this.#listings.get(server.name);
    return listing?.key === keyOf(server) ? listing : undefined;
  }

  /** Loads what this and other processes have saved. Returns whether any of it is new. Never rejects. */
  async load(servers: readonly RememberedServer[]): Promise<boolean> {
    const before = servers.map(({ name }) => this.#listings.get(name)?.text);
    await Promise.all(servers.map((server) => this.#read(server)));
    return servers.some(({ name }, at) => this.#listings.get(name)?.text !== before[at]);
  }

  /** Remembers a listing, and saves it in the background if it is new. */
  keep(server: RememberedServer, listed: readonly SourcedTool[]): void {
    const key = keyOf(server);
    const tools = listed.map(withoutRaw);
    const text = JSON.stringify(tools);
    const known = this.#listings.get(server.name);
    if (known?.text === text && known.key === key) return;
    const listing: Listing = { key, tools, text, measure: undefined };
    this.#listings.set(server.name, listing);
    this.#save(server.name, listing);
  }

  /** Measures listings from now on, and those that were not measured yet. */
  measureWith(measure: MeasureTools): void {
    this.#measure ??= measure;
    for (const [server, listing] of this.#listings) if (listing.measure === undefined) this.#save(server, listing);
  }

  /** Waits until the listings known so far are measured and written. */
  async saved(): Promise<void> {
    await this.#writing;
  }

  /** Measures and writes a listing in the background, unless it has been replaced meanwhile. */
  #save(server: string, listing: Listing): void {
    this.#writing = this.#writing.then(async () => {
      const isCurrent = () => this.#listings.get(server) === listing;
      if (!isCurrent()) return;
      listing.measure = await this.#measure?.(server, listing.tools);
      if (this.#folder === undefined || !isCurrent()) return;
      const measure = listing.measure === undefined ? {} : { measure: { format: MEASURE_FORMAT, ...listing.measure } };
      // Joined as text, because the tools have just been serialized.
      const head = JSON.stringify({ format: FORMAT, server, key: listing.key, ...measure }).slice(0, -1);
      await this.#write(join(this.#folder, fileName(server)), `${head},"tools":${listing.text}}`);
    });
  }

  async #read(server: RememberedServer): Promise<void> {
    if (this.#folder === undefined) return;
    const path = join(this.#folder, fileName(server.name));
    const key = keyOf(server);
    let text: string;
    try {
      const { mtimeMs } = await stat(path);
      const readAs = `${key} ${mtimeMs}`;
      if (this.#readAs.get(server.name) === readAs) return;
      text = await readFile(path, "utf8");
      this.#readAs.set(server.name, readAs);
    } catch (error) {
      if (systemCodeOf(error) !== "ENOENT") this.#logger.warn("cannot read catalogue", { server: server.name, error });
      return;
    }
    const saved = parseListing(text);
    if (saved?.key !== key) return;
    this.#listings.set(server.name, {
      key,
      tools: saved.tools,
      text: JSON.stringify(saved.listed),
      measure: readMeasure(saved.measure, saved.tools.length),
    });
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

/**
 * Reads the listings in a folder: the tools of every server that was connected at least once, by its name. Skips what
 * cannot be read.
 */
export async function readRememberedTools(folder: string): Promise<ReadonlyMap<string, readonly SourcedTool[]>> {
  const names = await readdir(folder).catch((): string[] => []);
  const listings = await Promise.all(
    names
      .filter((name) => FILE_NAME.test(name))
      .map(async (name) => parseListing(await readFile(join(folder, name), "utf8").catch(() => ""))),
  );
  return new Map(
    listings.flatMap((listing) => (listing === undefined ? [] : [[listing.server, listing.tools] as const])),
  );
}

/** A tool as a client lists it for a model when the server is its own. */
export function directDefinition({ server, tool, description, inputSchema }: SourcedTool) {
  return { name: `mcp__${server}__${tool}`, description, inputSchema };
}

/** Reads a saved listing; undefined if it is damaged. */
function parseListing(text: string) {
  const read = parseJson(text);
  if (!isRecord(read) || read.format !== FORMAT || !Array.isArray(read.tools)) return undefined;
  const { server, key, measure } = read;
  if (typeof server !== "string" || typeof key !== "string") return undefined;
  const tools = read.tools
    .filter(
      (tool): tool is SourcedTool => isRecord(tool) && typeof tool.tool === "string" && isRecord(tool.inputSchema),
    )
    // Earlier versions did not save the name.
    .map((tool) => ({ ...tool, server, name: `${server}.${tool.tool}` }));
  return { server, key, measure, tools, listed: read.tools };
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

/** Returns the same key for the same definition in every run. */
function keyOf({ config }: RememberedServer): string {
  const common = { tools: config.tools };
  const identity = identityOf(config);
  return createHash("sha256")
    .update(JSON.stringify({ ...identity, ...common }))
    .digest("hex");
}

function identityOf(config: ServerDefinition) {
  switch (config.type) {
    case "stdio":
      return { command: config.command, args: config.args, env: Object.keys(config.env).sort(), cwd: config.cwd };
    case "in-process":
      return { type: config.type, identity: config.identity };
    default:
      return { type: config.type, url: config.url, headers: Object.keys(config.headers).sort() };
  }
}

function fileName(server: string): string {
  const readable = server.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 40);
  return `tools-${readable}-${createHash("sha256").update(server).digest("hex").slice(0, 12)}.json`;
}

/** Drops what the server sent beyond the fields that we know. */
function withoutRaw({ raw: _, ...tool }: SourcedTool): SourcedTool {
  return tool;
}
