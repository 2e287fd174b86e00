// What the servers of a hub offer, and what it is called: the tools of connected servers, those that the others listed
// last, and those that are held. Everything that lists, names or finds tools asks here.
import { bareName, dottedName, mayBelongTo, type ToolKey, toolNamePrefix } from "@trunkline/config";
import { isGlob, isTrunklineError, type Logger, nearestNames, type SourcedTool, TrunklineError } from "@trunkline/core";
import { authenticateTool, SIGN_IN_TOOL } from "../auth/sign-in-tool.js";
import { isConnectable, type ListKind } from "../connection/connection-options.js";
import type { KnownTool } from "../pins/neighbours.js";
import { heldError } from "../pins/server-pins.js";
import type { Lease } from "../pool/lease.js";
import type { KnownServer, ServerStatus } from "./known-server.js";
import type { MemberLists } from "./member-lists.js";
import { quoted, ToolNames, underscoredWords } from "./names-table.js";
import { type MeasureTools, RememberedTools } from "./remembered-tools.js";

/** A server of the hub. */
interface CatalogueMember {
  readonly name: string;
  readonly connection: Lease;
  readonly lists: MemberLists;
}

interface CatalogueOptions<Member extends CatalogueMember> {
  readonly logger: Logger;
  /** Every server, sorted by name. */
  servers(): readonly Member[];
  statusOf(member: Member): ServerStatus;
  /** Connects a server if possible. A failing one does not make it reject. */
  connect(member: Member, signal: AbortSignal | undefined): Promise<void>;
}

interface RememberOptions {
  /** Default: what is remembered is gone with the hub. */
  readonly folder?: string | undefined;
  /** Measures the tools of a server when they change. */
  readonly measure?: MeasureTools | undefined;
}

/** An error names at most this many servers. */
const MOST_NAMED = 10;

/** Equal for equal lists. */
export type CatalogueFingerprints = Readonly<Record<ListKind, string>>;

export class Catalogue<Member extends CatalogueMember = CatalogueMember> {
  readonly #options: CatalogueOptions<Member>;
  #names: ToolNames<SourcedTool> | undefined;
  #rememberedNames: ToolNames<SourcedTool> | undefined;
  /** The pinned tools of servers that are not connected: of those whose tool names can be confused with others. */
  readonly #known = new WeakMap<CatalogueMember, readonly ToolKey[]>();
  #remembered: RememberedTools | undefined;
  #remembering: Promise<void> | undefined;

  constructor(options: CatalogueOptions<Member>) {
    this.#options = options;
  }

  /** The tools of all connected servers, sorted by server, in the order each server lists them. */
  tools(): SourcedTool[] {
    return this.#options.servers().flatMap((member) => member.lists.tools);
  }

  /** The names of the tools of all connected servers, cached until {@link changed}. */
  names(): ToolNames<SourcedTool> {
    if (this.#names === undefined) {
      const away = this.#candidates().filter(({ connection }) => connection.state !== "connected");
      this.#names = new ToolNames(
        this.tools(),
        away.flatMap((member) => this.#knownOf(member)),
      );
    }
    return this.#names;
  }

  /** The same, and those of the tools that the other servers listed last. */
  rememberedNames(): ToolNames<SourcedTool> {
    this.#rememberedNames ??= new ToolNames(
      this.servers()
        .filter(({ status }) => isConnectable(status.state))
        .flatMap(({ tools }) => tools ?? []),
    );
    return this.#rememberedNames;
  }

  /** Call this when a server was connected, lost or replaced, or when its tools have changed. */
  changed(): void {
    this.#names = undefined;
    this.#rememberedNames = undefined;
  }

  /** Every server, sorted by name, with its tools, current or as remembered. Connects nothing. */
  servers(): KnownServer[] {
    return this.#options.servers().map((member): KnownServer => {
      const status = this.#options.statusOf(member);
      const remembered = this.#remembered?.of(status);
      return {
        status,
        tools: status.state === "connected" ? member.lists.tools : remembered?.tools,
        held: member.lists.held.filter(({ kind }) => kind === "tools"),
        measure: remembered?.measure,
      };
    });
  }

  /**
   * Remembers what servers list from now on, for {@link servers} and for later runs: loads the listings of earlier runs
   * and saves new ones. Only the first call counts, except that a later one can add a measure.
   */
  async remember({ folder, measure }: RememberOptions): Promise<void> {
    this.#remembering ??= (async () => {
      const remembered = new RememberedTools({ folder, logger: this.#options.logger });
      await remembered.load(this.#status());
      this.#remembered = remembered;
      this.keep();
      this.#rememberedNames = undefined;
    })();
    await this.#remembering;
    if (measure !== undefined) this.#remembered?.measureWith(measure);
  }

  /**
   * Loads what other processes have remembered meanwhile of servers that are not connected here. Returns whether any of
   * it is new.
   */
  async refresh(): Promise<boolean> {
    const away = this.#status().filter(({ state }) => state !== "connected");
    const isNew = (await this.#remembered?.load(away)) ?? false;
    if (isNew) this.#rememberedNames = undefined;
    return isNew;
  }

  /** Remembers the current listings of connected servers, if it was asked to remember. */
  keep(): void {
    if (this.#remembered === undefined) return;
    for (const { status, tools } of this.servers()) {
      if (status.state === "connected" && status.toolsError === undefined) this.#remembered.keep(status, tools ?? []);
    }
  }

  /** Waits until everything remembered so far has been measured and saved. */
  async saved(): Promise<void> {
    await this.#remembered?.saved();
  }

  /** Finds the tool with this name, connecting the servers it may belong to. */
  async find(name: string, signal: AbortSignal | undefined): Promise<SourcedTool> {
    if (this.#options.servers().length === 0) throw noServersError(name);
    const asked = this.#signInTool(name);
    if (asked !== undefined) return asked;
    const candidates = this.#waiting().filter((member) => mayBelongTo(name, member.name));
    await Promise.all(candidates.map((member) => this.#options.connect(member, signal)));
    let near: unknown;
    try {
      return await this.resolve(name);
    } catch (error) {
      if (!isTrunklineError(error, "TOOL_NOT_FOUND")) throw error;
      near = error.data?.near;
      const signIn = this.#signInTool(name);
      if (signIn !== undefined) return signIn;
      const owner = this.#options.servers().find((member) => name.startsWith(`${member.name}.`));
      if (owner !== undefined && owner.connection.state !== "connected") {
        // The server was just tried: report its failure.
        if (owner.connection.error !== undefined) throw owner.connection.error;
        await owner.connection.connect(signal);
      }
    }
    // Connect others only to suggest the nearest name: nothing is called that was not requested.
    const hasSuggestions = Array.isArray(near) && near.length > 0;
    const others = hasSuggestions && !isGlob(name) ? [] : this.#suggesting(name);
    await Promise.all(others.map((member) => this.#options.connect(member, signal)));
    return await this.resolve(name);
  }

  /**
   * The servers to connect for suggestions: all of them for a name without a server, those of similar names for one with
   * a server that does not exist. Throws if there are none.
   */
  #suggesting(name: string): Member[] {
    const [head = "", ...tool] = name.split(".");
    const servers = this.#options.servers().map((member) => member.name);
    const mayBeAny = tool.length === 0 || isGlob(name);
    if (mayBeAny || servers.some((server) => mayBelongTo(name, server))) return this.#waiting();
    const near = nearestNames(head, servers);
    if (near.length > 0) return this.#waiting().filter((member) => near.includes(member.name));
    throw new TrunklineError(
      "TOOL_NOT_FOUND",
      `No tool is named ${quoted(name)}: there is no server ${quoted(head)}.`,
      {
        hint: `The servers are ${servers.slice(0, MOST_NAMED).join(", ")}${servers.length > MOST_NAMED ? " …" : ""}.`,
        data: { near: [] },
      },
    );
  }

  /**
   * Returns the tool with this dotted name without waiting; undefined if there is none, or if another server may have it
   * too.
   */
  live(name: string): SourcedTool | undefined {
    const tool = this.names().dotted(name);
    return tool === undefined || this.#unknownOwner(name, tool) !== undefined ? undefined : tool;
  }

  /**
   * Finds the tool that a name refers to among the servers as they are. A held tool is `DENIED`. A name that could be
   * the tool of a server whose tools are unknown is `AMBIGUOUS`: its meaning must not depend on which server answers.
   */
  async resolve(name: string): Promise<SourcedTool> {
    // A name that no tool has exactly can be that of a held tool.
    const holding = this.#options.servers().filter(({ lists }) => lists.isHolding);
    if (holding.length > 0 && !isGlob(name) && this.names().named(name).length === 0) {
      await Promise.all(holding.map((member) => member.lists.recheckHeld()));
      this.#throwIfHeld(name, holding);
    }
    const tool = this.names().resolve(name);
    if (name !== dottedName(tool) && !isGlob(name) && this.names().named(name).length === 0) {
      this.#requireOwner(name, tool);
    }
    const other = this.#unknownOwner(name, tool);
    if (other === undefined) return tool;
    throw this.#ambiguous(name, tool, `"${other}", whose tools are unknown because it is not connected`);
  }

  /**
   * A name that only resembles that of a tool must not be the name of another server's tool, even if that server is
   * disabled, excludes the tool or has none of that name now.
   */
  #requireOwner(name: string, tool: ToolKey): void {
    const words = underscoredWords(name).replace(/^mcp_/, "");
    const others = this.#options.servers().map((member) => member.name);
    const other = others.find(
      (server) => server !== tool.server && `${words}_`.startsWith(`${underscoredWords(server)}_`),
    );
    if (other === undefined) return;
    // With a dot, the name says whose tool it is: nobody's.
    if (name.startsWith(`${other}.`)) this.names().resolve(name, { style: "dotted" });
    throw this.#ambiguous(name, tool, `"${other}"`);
  }

  #ambiguous(name: string, tool: ToolKey, other: string): TrunklineError {
    const sure = this.names().name(tool, "prefixed");
    return new TrunklineError("AMBIGUOUS", `"${name}" can be a tool of "${tool.server}" or of ${other}.`, {
      hint: `For the tool of "${tool.server}", use ${sure}.`,
      data: { candidates: [sure] },
    });
  }

  /** The server that a dotted name may belong to as well, if its tools are not known. */
  #unknownOwner(name: string, tool: ToolKey): string | undefined {
    if (name !== dottedName(tool)) return undefined;
    return this.#candidates().find(
      (member) =>
        member.name !== tool.server &&
        name.startsWith(`${member.name}.`) &&
        member.connection.state !== "connected" &&
        this.#knownOf(member).length === 0,
    )?.name;
  }

  /** The tools of a server that is not connected, as it listed them last. */
  #knownOf(member: Member): readonly ToolKey[] {
    return member.lists.lastTools.length > 0 ? member.lists.lastTools : (this.#known.get(member) ?? []);
  }

  #throwIfHeld(name: string, holding: readonly Member[]): void {
    const held = holding.flatMap((member) => member.lists.held).filter(({ kind }) => kind === "tools");
    const names = new ToolNames(held.map((item) => ({ ...item, tool: item.name })));
    const [found] = names.named(name);
    if (found !== undefined) throw heldError(found);
    const [spelled] = this.names().spelled(name).length === 0 ? names.spelled(name) : [];
    const similar = spelled && names.get(spelled);
    if (similar !== undefined) throw heldError(similar);
  }

  /** The tools that all servers are known to have, connected or not, and those they used to have. */
  async knownTools(): Promise<readonly KnownTool[]> {
    return (await Promise.all(this.#candidates().map((member) => member.lists.knownTools()))).flat();
  }

  /** Servers that can have tools: neither disabled nor unapproved. */
  #candidates(): Member[] {
    return this.#options.servers().filter(({ connection }) => isConnectable(connection.state));
  }

  /**
   * Reads the pinned tools of servers that are not connected, if their tool names can be confused with those of others.
   * In most configurations no two servers are like that, and nothing is read.
   */
  async loadPinned(): Promise<void> {
    const members = this.#candidates();
    const bare = members.map(({ name }) => bareName(name));
    const missing = members.filter(
      (member, at) =>
        !this.#known.has(member) &&
        member.connection.state !== "connected" &&
        bare.some((other, index) => index !== at && (other.startsWith(bare[at] ?? "") || bare[at]?.startsWith(other))),
    );
    if (missing.length === 0) return;
    await Promise.all(
      missing.map(async (member) => {
        const known = await member.lists.knownTools();
        this.#known.set(
          member,
          known.filter(({ gone }) => gone !== true),
        );
      }),
    );
    this.changed();
  }

  /** Computes one fingerprint per kind of list, which changes when the servers' lists change. */
  fingerprints(): CatalogueFingerprints {
    const members = this.#options.servers();
    const of = (kind: ListKind) => members.map((member) => `${member.name}:${member.lists.fingerprintOf(kind)}`).join();
    return { tools: of("tools"), prompts: of("prompts"), resources: of("resources") };
  }

  /** Servers that could be connected but are not. */
  #waiting(): Member[] {
    return this.#options
      .servers()
      .filter(({ connection }) => connection.state !== "connected" && isConnectable(connection.state));
  }

  #status(): ServerStatus[] {
    return this.#options.servers().map((member) => this.#options.statusOf(member));
  }

  #signInTool(name: string): SourcedTool | undefined {
    const found = this.#options
      .servers()
      .find(
        ({ name: server, connection }) =>
          connection.state === "needs-auth" &&
          (name === `${toolNamePrefix(server)}${SIGN_IN_TOOL}` || name === `${server}.${SIGN_IN_TOOL}`),
      );
    return found === undefined ? undefined : authenticateTool(found.name);
  }
}

function noServersError(tool: string): TrunklineError {
  return new TrunklineError("TOOL_NOT_FOUND", `No tool is named "${tool}": no MCP server is configured.`, {
    hint: "Add one: trunkline servers add <name> -- <command…>, or import from other programs: trunkline import",
  });
}
