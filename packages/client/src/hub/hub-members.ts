// The servers of a hub: finds, replaces and connects them.

import type { ServerDefinition } from "@trunkline/config";
import { isTrunklineError, type Logger, nearestNames, TrunklineError } from "@trunkline/core";
import { isConnectable } from "../connection/connection-options.js";
import type { HubMember } from "./hub-member.js";

/** What the members need from their hub. */
interface HubMembersOptions {
  readonly logger: Logger;
  /** Called before a server is connected. */
  prepare(): Promise<void>;
  create(definition: ServerDefinition): HubMember;
}

export class HubMembers implements Iterable<HubMember> {
  readonly #members = new Map<string, HubMember>();
  readonly #options: HubMembersOptions;

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
      return definition === undefined || !isSame(definition, member.connection.definition);
    });
    for (const { name } of gone) this.#members.delete(name);
    const fresh = definitions
      .filter(({ name }) => !this.#members.has(name))
      .map((definition) => this.#options.create(definition));
    for (const member of fresh) this.#members.set(member.name, member);
    return { gone, fresh };
  }

  /** Connects a server if possible. */
  async tryConnect(member: HubMember, signal: AbortSignal | undefined): Promise<void> {
    await this.#options.prepare();
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
}

/** Whether two definitions would be connected the same way. */
function isSame(one: ServerDefinition, other: ServerDefinition): boolean {
  // A function has no text.
  if (one.type === "in-process" && other.type === "in-process" && one.start !== other.start) return false;
  return identityOf(one) === identityOf(other);
}

function identityOf(definition: ServerDefinition): string {
  const { line: _line, ...rest } = definition;
  return JSON.stringify(rest, (_, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}
