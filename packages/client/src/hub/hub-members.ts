// The servers of a hub as one catalogue: finds a server or a tool, connects the servers needed for that, and detects
// changes.
import { isTrunklineError, type Logger, nearestNames, type SourcedTool, TrunklineError } from "@trunkline/core";
import { authenticateTool, SIGN_IN_TOOL } from "../auth/sign-in-tool.js";
import type { ServerDefinition } from "../config/loaded-config.js";
import { isConnectable, type ListKind } from "../connection/connection-options.js";
import { mayBelongTo, toolNamePrefix } from "../names/name-styles.js";
import { ToolNames } from "../names/names-table.js";
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
    for (const member of gone) this.#members.delete(member.name);
    const fresh = definitions
      .filter(({ name }) => !this.#members.has(name))
      .map((definition) => this.#options.create(definition));
    for (const member of fresh) this.#members.set(member.name, member);
    this.toolsChanged();
    return { gone, fresh };
  }

  /** Connects a server if possible. */
  async tryConnect(member: HubMember, signal: AbortSignal | undefined): Promise<void> {
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
          await member.settled();
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
    return this.sorted().flatMap((member) => member.tools);
  }

  /** The name table, cached until {@link toolsChanged}. */
  names(): ToolNames<SourcedTool> {
    this.#names ??= new ToolNames(this.tools());
    return this.#names;
  }

  /** Call this when a server was connected, lost or replaced, or when its tools have changed. */
  toolsChanged(): void {
    this.#names = undefined;
  }

  /** Finds the tool with this name, connecting the servers it may belong to. */
  async findTool(name: string, signal: AbortSignal | undefined): Promise<SourcedTool> {
    const asked = this.#signInTool(name);
    if (asked !== undefined) return asked;
    const candidates = this.#waiting().filter((member) => mayBelongTo(name, member.name));
    await Promise.all(candidates.map((member) => this.tryConnect(member, signal)));
    try {
      return this.names().resolve(name);
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
    return this.names().resolve(name);
  }

  /** Computes one fingerprint per kind of list, which changes when the servers' lists change. */
  fingerprints(): CatalogueFingerprints {
    const members = this.sorted();
    const of = (kind: ListKind) => members.map((member) => `${member.name}:${member.fingerprintOf(kind)}`).join();
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

/** Equal for definitions that would be connected the same way. */
function identityOf(definition: ServerDefinition): string {
  const { line: _line, ...rest } = definition;
  return JSON.stringify(rest, (_, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}
