// The servers of a hub as one catalogue: finds a server or a tool, connects the servers needed for that, and detects
// changes.

import type { ServerDefinition } from "@trunkline/config";
import { bareName, dottedName, mayBelongTo, type ToolKey, toolNamePrefix } from "@trunkline/config";
import { isTrunklineError, type Logger, nearestNames, type SourcedTool, TrunklineError } from "@trunkline/core";
import { authenticateTool, SIGN_IN_TOOL } from "../auth/sign-in-tool.js";
import { isConnectable, type ListKind } from "../connection/connection-options.js";
import { ToolNames } from "../names/names-table.js";
import type { KnownTool } from "../pins/neighbours.js";
import { heldError } from "../pins/server-pins.js";
import type { CatalogueFingerprints } from "./hub-events.js";
import type { HubMember } from "./hub-member.js";

/** What the members need from their hub. */
interface HubMembersOptions {
  readonly logger: Logger;
  create(definition: ServerDefinition): HubMember;
}

export class HubMembers implements Iterable<HubMember> {
  readonly #members = new Map<string, HubMember>();
  readonly #options: HubMembersOptions;
  #names: ToolNames<SourcedTool> | undefined;
  /** The tools of servers that are not connected, by server: of those whose tool names can be confused with others. */
  readonly #known = new Map<string, readonly ToolKey[]>();

  constructor(options: HubMembersOptions) {
    this.#options = options;
  }

  /** In configuration order. */
  [Symbol.iterator](): Iterator<HubMember> {
    return this.#members.values();
  }

  /** Every server, sorted by name. */
  sorted(): HubMember[] {
    return [...this].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  find(server: string): HubMember | undefined {
    return this.#members.get(server);
  }

  /** The server with this name. Throws `SERVER_NOT_FOUND`. */
  get(server: string): HubMember {
    const member = this.#members.get(server);
    if (member !== undefined) return member;
    const near = nearestNames(server, [...this.#members.keys()]);
    throw new TrunklineError("SERVER_NOT_FOUND", `No server is named "${server}".`, {
      hint: near.length > 0 ? `Did you mean ${near.join(" or ")}?` : "Run `trunkline doctor` to list the servers.",
    });
  }

  /** Replaces the servers with these. A server that would be connected in the same way stays as it is. */
  replace(definitions: readonly ServerDefinition[]): { gone: readonly HubMember[]; fresh: readonly HubMember[] } {
    const wanted = new Map(definitions.map((definition) => [definition.name, definition]));
    const gone = [...this].filter((member) => {
      const definition = wanted.get(member.name);
      return definition === undefined || identityOf(definition) !== identityOf(member.connection.definition);
    });
    for (const { name } of gone) {
      this.#members.delete(name);
      this.#known.delete(name);
    }
    const fresh = definitions
      .filter(({ name }) => !this.#members.has(name))
      .map((definition) => this.#options.create(definition));
    for (const member of fresh) this.#members.set(member.name, member);
    this.toolsChanged();
    return { gone, fresh };
  }

  /** Connects a server if possible. */
  async tryConnect(member: HubMember, signal: AbortSignal | undefined): Promise<void> {
    await this.#loadKnown();
    try {
      await member.connection.connect(signal);
    } catch (error) {
      if (!isTrunklineError(error)) throw error;
      if (!isTrunklineError(error, "CLOSED"))
        this.#options.logger.warn("server not connected", { server: member.name, error });
    }
  }

  /**
   * Connects the members that can be connected, and waits until their lists are known. A failing server never makes it
   * reject.
   */
  async connectAll(members: readonly HubMember[], signal: AbortSignal | undefined): Promise<void> {
    await Promise.all(
      members
        .filter(({ connection }) => isConnectable(connection.state))
        .map(async (member) => {
          await this.tryConnect(member, signal);
          await member.lists.settled();
        }),
    );
  }

  /** Connects every server that can be connected, and returns those that succeeded, sorted by name. */
  async connected(signal: AbortSignal | undefined): Promise<readonly HubMember[]> {
    const members = this.sorted().filter(({ connection }) => isConnectable(connection.state));
    await Promise.all(members.map((member) => this.tryConnect(member, signal)));
    return members.filter(({ connection }) => connection.state === "connected");
  }

  /** The tools of all connected servers, sorted by server, in the order each server lists them. */
  tools(): SourcedTool[] {
    return this.sorted().flatMap((member) => member.lists.tools);
  }

  /** The name table, cached until {@link toolsChanged}. */
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

  /** Call this when a server was connected, lost or replaced, or when its tools have changed. */
  toolsChanged(): void {
    this.#names = undefined;
  }

  /** Finds the tool with this name, connecting the servers it may belong to. */
  async findTool(name: string, signal: AbortSignal | undefined): Promise<SourcedTool> {
    if (this.#members.size === 0) throw noServersError(name);
    const asked = this.#signInTool(name);
    if (asked !== undefined) return asked;
    const candidates = this.#waiting().filter((member) => mayBelongTo(name, member.name));
    await Promise.all(candidates.map((member) => this.tryConnect(member, signal)));
    try {
      return await this.resolve(name);
    } catch (error) {
      if (!isTrunklineError(error, "TOOL_NOT_FOUND")) throw error;
      const signIn = this.#signInTool(name);
      if (signIn !== undefined) return signIn;
      const owner = this.sorted().find((member) => name.startsWith(`${member.name}.`));
      if (owner !== undefined && owner.connection.state !== "connected") {
        // The server was just tried: report its failure.
        if (owner.connection.error !== undefined) throw owner.connection.error;
        await owner.connection.connect(signal);
      }
    }
    // Connect the rest only to suggest the nearest name: nothing is called that was not requested.
    await Promise.all(this.#waiting().map((member) => this.tryConnect(member, signal)));
    return await this.resolve(name);
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
    let tool: SourcedTool;
    try {
      tool = this.names().resolve(name);
    } catch (error) {
      const holding = this.sorted().filter(({ lists }) => lists.isHolding);
      if (!isTrunklineError(error, "TOOL_NOT_FOUND") || holding.length === 0) throw error;
      await Promise.all(holding.map((member) => member.lists.recheckHeld()));
      this.#throwIfHeld(name, holding);
      // It may have been approved just now.
      tool = this.names().resolve(name);
    }
    const other = this.#unknownOwner(name, tool);
    if (other === undefined) return tool;
    const sure = this.names().name(tool, "prefixed");
    throw new TrunklineError(
      "AMBIGUOUS",
      `"${name}" can be a tool of "${tool.server}" or of "${other}", whose tools are unknown because it is not connected.`,
      { hint: `For the tool of "${tool.server}", use ${sure}.`, data: { candidates: [sure] } },
    );
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
  #knownOf(member: HubMember): readonly ToolKey[] {
    return member.lists.lastTools.length > 0 ? member.lists.lastTools : (this.#known.get(member.name) ?? []);
  }

  #throwIfHeld(name: string, holding: readonly HubMember[]): void {
    const held = holding.flatMap((member) => member.lists.held).filter(({ kind }) => kind === "tools");
    const found = new ToolNames(held.map((item) => ({ ...item, tool: item.name }))).named(name);
    if (found[0] !== undefined) throw heldError(found[0]);
  }

  /** The tools that all servers are known to have, connected or not, and those they used to have. */
  async knownTools(): Promise<readonly KnownTool[]> {
    return (await Promise.all(this.#candidates().map((member) => member.lists.knownTools()))).flat();
  }

  /** Servers that can have tools: neither disabled nor unapproved. */
  #candidates(): HubMember[] {
    return this.sorted().filter(({ connection }) => isConnectable(connection.state));
  }

  /**
   * Reads the pinned tools of servers that are not connected, if their tool names can be confused with those of others.
   * In most configurations no two servers are like that, and nothing is read.
   */
  async #loadKnown(): Promise<void> {
    const members = this.#candidates();
    const bare = members.map(({ name }) => bareName(name));
    const missing = members.filter(
      (member, at) =>
        !this.#known.has(member.name) &&
        member.connection.state !== "connected" &&
        bare.some((other, index) => index !== at && (other.startsWith(bare[at] ?? "") || bare[at]?.startsWith(other))),
    );
    if (missing.length === 0) return;
    await Promise.all(
      missing.map(async (member) => {
        const known = await member.lists.knownTools();
        this.#known.set(
          member.name,
          known.filter(({ gone }) => gone !== true),
        );
      }),
    );
    this.toolsChanged();
  }

  /** Computes one fingerprint per kind of list, which changes when the servers' lists change. */
  fingerprints(): CatalogueFingerprints {
    const members = this.sorted();
    const of = (kind: ListKind) => members.map((member) => `${member.name}:${member.lists.fingerprintOf(kind)}`).join();
    return { tools: of("tools"), prompts: of("prompts"), resources: of("resources") };
  }

  /** Servers that could be connected but are not. */
  #waiting(): HubMember[] {
    return this.sorted().filter(
      ({ connection }) => connection.state !== "connected" && isConnectable(connection.state),
    );
  }

  #signInTool(name: string): SourcedTool | undefined {
    const found = this.sorted().find(
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

/** Equal for definitions that would be connected the same way. */
function identityOf(definition: ServerDefinition): string {
  const { line: _line, ...rest } = definition;
  return JSON.stringify(rest, (_, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}
