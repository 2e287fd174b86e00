// The servers of a hub: finding one, connecting them, and telling whether what they offer has changed.
import { isTrunklineError, type Logger, TrunklineError, toTrunklineError } from "@trunkline/core";
import type { ServerDefinition } from "../config/loaded-config.js";
import type { ListKind } from "../connection/generation.js";
import { isConnectable } from "../connection/server-state.js";
import { nearestNames } from "../names/name-styles.js";
import type { CatalogueFingerprints } from "./hub-events.js";
import type { HubMember } from "./hub-member.js";

/** What the members need of their hub. */
export interface HubMembersOptions {
  readonly logger: Logger;
  create(definition: ServerDefinition): HubMember;
  /** The same error without any known secret. */
  redacted(error: TrunklineError): TrunklineError;
}

/** The members of one hub. */
export class HubMembers implements Iterable<HubMember> {
  readonly #members = new Map<string, HubMember>();
  readonly #options: HubMembersOptions;

  constructor(options: HubMembersOptions) {
    this.#options = options;
  }

  /** In the order of the configuration. */
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

  /** The server of this name. Throws `SERVER_NOT_FOUND`. */
  get(server: string): HubMember {
    const member = this.#members.get(server);
    if (member !== undefined) return member;
    const near = nearestNames(server, [...this.#members.keys()]);
    throw new TrunklineError("SERVER_NOT_FOUND", `There is no server "${server}".`, {
      hint: near.length > 0 ? `Did you mean ${near.join(" or ")}?` : "`trunkline doctor` lists the servers.",
    });
  }

  /** Puts these servers in place of what there was. A server that would be connected in the same way stays as it is. */
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
    return { gone, fresh };
  }

  /** Connects a server if that can be done. */
  async tryConnect(member: HubMember, signal: AbortSignal | undefined): Promise<void> {
    try {
      await member.connect(signal);
    } catch (error) {
      if (!isTrunklineError(error)) throw error;
      if (!isTrunklineError(error, "CLOSED"))
        this.#options.logger.warn("server not connected", { server: member.name, error });
    }
  }

  /** Connects those of the members that may be, and waits until their lists are known. Never rejects for one that fails. */
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

  /** The server of this name, connected. */
  async require(server: string, signal: AbortSignal | undefined): Promise<HubMember> {
    const member = this.get(server);
    try {
      await member.connect(signal);
    } catch (error) {
      throw this.#options.redacted(toTrunklineError(error));
    }
    return member;
  }

  /** Every server that could be connected, sorted by name. */
  async connected(signal: AbortSignal | undefined): Promise<readonly HubMember[]> {
    const members = this.sorted().filter(({ connection }) => isConnectable(connection.state));
    await Promise.all(members.map((member) => this.tryConnect(member, signal)));
    return members.filter(({ connection }) => connection.state === "connected");
  }

  /** Differs where what the servers offer differs. */
  fingerprint(): string {
    return this.sorted()
      .map((member) => `${member.name}:${member.fingerprint}`)
      .join();
  }

  /** The same for each list. */
  fingerprints(): CatalogueFingerprints {
    const members = this.sorted();
    const of = (kind: ListKind) => members.map((member) => `${member.name}:${member.fingerprintOf(kind)}`).join();
    return { tools: of("tools"), prompts: of("prompts"), resources: of("resources") };
  }
}

/** Equal for definitions that would be connected in the same way. */
function identityOf(definition: ServerDefinition): string {
  const { line: _line, ...rest } = definition;
  return JSON.stringify(rest, (_, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}
