// A hub's requests other than tool calls: resources, prompts, completions, the log level, pings.
import { isTrunklineError, nearestNames, type ToolCallOptions, TrunklineError } from "@trunkline/core";
import { isLogLevel, LOG_MESSAGE_LEVELS, RPC_CODES } from "@trunkline/protocol";
import {
  type SourcedPrompt,
  type SourcedResource,
  type SourcedTemplate,
  toPrompt,
  toResource,
  toTemplate,
} from "../catalogue/catalogue-items.js";
import type { CatalogueKind } from "../catalogue/member-lists.js";
import type { HubMember } from "./hub-member.js";
import type { HubMembers } from "./hub-members.js";

/** Which part of a catalogue to return. */
export interface ListOptions {
  /** Only this server. It is connected if necessary, and a failure rejects. Default: all servers that are available. */
  server?: string;
  /** Ask the servers again instead of using their last lists. */
  refresh?: boolean;
  signal?: AbortSignal;
}

export interface ReadResourceResult {
  readonly server: string;
  readonly uri: string;
  /** The contents, each with a `uri` and either `text` or a base64 `blob`. */
  readonly contents: readonly Readonly<Record<string, unknown>>[];
  /** The server's result, unmodified. */
  readonly raw: Readonly<Record<string, unknown>>;
}

export interface PromptResult {
  readonly server: string;
  readonly name: string;
  readonly description?: string;
  /** Protocol messages: `role` and one block of `content` each. */
  readonly messages: readonly Readonly<Record<string, unknown>>[];
  /** The server's result, unmodified. */
  readonly raw: Readonly<Record<string, unknown>>;
}

/** The prompt or template whose argument is completed. */
export type CompletionReference =
  | { readonly type: "ref/prompt"; readonly name: string }
  | { readonly type: "ref/resource"; readonly uri: string };

/** A server's completions. */
export interface Completion {
  readonly values: readonly string[];
  /** The total number, if the server reports it. */
  readonly total?: number;
  readonly hasMore: boolean;
  readonly raw: Readonly<Record<string, unknown>>;
}

export interface CompleteOptions extends ToolCallOptions {
  /** The arguments given so far: the value of one may narrow another. */
  context?: Readonly<Record<string, string>>;
}

/** The codes servers return for an unknown resource: legacy, modern. */
const RESOURCE_NOT_FOUND_CODES: ReadonlySet<unknown> = new Set([RPC_CODES.resourceNotFound, RPC_CODES.invalidParams]);

export class HubRequests {
  readonly #members: HubMembers;

  constructor(members: HubMembers) {
    this.#members = members;
  }

  async resources(options: ListOptions): Promise<SourcedResource[]> {
    return await this.#list("resources", toResource, options);
  }

  async resourceTemplates(options: ListOptions): Promise<SourcedTemplate[]> {
    return await this.#list("templates", toTemplate, options);
  }

  async prompts(options: ListOptions): Promise<SourcedPrompt[]> {
    return await this.#list("prompts", toPrompt, options);
  }

  async readResource(server: string, uri: string, options: ToolCallOptions): Promise<ReadResourceResult> {
    const member = this.#members.get(server);
    let raw: Record<string, unknown>;
    try {
      raw = await member.request({ method: "resources/read", params: { uri } }, options);
    } catch (error) {
      throw await this.#explained(error, { member, uri, signal: options.signal });
    }
    return { server, uri, contents: recordsOf(raw.contents), raw };
  }

  async getPrompt(
    server: string,
    name: string,
    { args, options }: { args: Readonly<Record<string, string>>; options: ToolCallOptions },
  ): Promise<PromptResult> {
    const member = this.#members.get(server);
    const raw = await member.request({ method: "prompts/get", params: { name, arguments: { ...args } } }, options);
    const description = typeof raw.description === "string" ? { description: raw.description } : {};
    return { server, name, ...description, messages: recordsOf(raw.messages), raw };
  }

  /** Finds a prompt by `server.name`, or by its name alone if only one server has it. */
  async findPrompt(name: string, signal: AbortSignal | undefined): Promise<SourcedPrompt> {
    const prompts = await this.prompts(signal === undefined ? {} : { signal });
    const exact = prompts.filter((prompt) => dotted(prompt) === name);
    const found = exact.length > 0 ? exact : prompts.filter((prompt) => prompt.name === name);
    if (found[0] !== undefined && found.length === 1) return found[0];
    if (found.length > 1) {
      throw new TrunklineError("AMBIGUOUS", `Several servers have a prompt "${name}".`, {
        hint: `Use one of: ${found.map(dotted).join(", ")}.`,
      });
    }
    const near = [
      ...nearestNames(name, prompts.map(dotted)),
      ...prompts.filter((prompt) => prompt.server === name || nearestNames(name, [prompt.name]).length > 0).map(dotted),
    ];
    throw new TrunklineError("NOT_FOUND", `No prompt is named "${name}".`, {
      hint:
        near.length > 0
          ? `Did you mean ${[...new Set(near)].slice(0, 3).join(" or ")}?`
          : "Run `trunkline prompts` to list the prompts.",
    });
  }

  async complete(
    server: string,
    ref: CompletionReference,
    { argument, options }: { argument: { name: string; value: string }; options: CompleteOptions },
  ): Promise<Completion> {
    const { context, ...rest } = options;
    const member = this.#members.get(server);
    const params = { ref, argument, ...(context === undefined ? {} : { context: { arguments: { ...context } } }) };
    const raw = await member.request({ method: "completion/complete", params }, rest);
    const { values, total, hasMore } = (raw.completion ?? {}) as Record<string, unknown>;
    return {
      values: Array.isArray(values) ? values.filter((value) => typeof value === "string") : [],
      ...(typeof total === "number" ? { total } : {}),
      hasMore: hasMore === true,
      raw,
    };
  }

  async setLogLevel(server: string, level: string, options: ToolCallOptions): Promise<void> {
    if (!isLogLevel(level)) {
      throw new TrunklineError("INVALID_ARGUMENT", `"${level}" is not a log level.`, {
        hint: `Levels are ${LOG_MESSAGE_LEVELS.join(", ")}.`,
      });
    }
    const member = this.#members.get(server);
    await member.setLogLevel(level, options);
  }

  /** Measures the server's response time, in milliseconds. */
  async ping(server: string, options: ToolCallOptions): Promise<number> {
    const member = this.#members.get(server);
    // Connect first: the time this takes does not count.
    await member.connection.connect(options.signal);
    const startedMs = performance.now();
    await member.request({ method: "ping", params: {} }, options);
    return performance.now() - startedMs;
  }

  async #list<T>(
    kind: CatalogueKind,
    read: (server: string, raw: Readonly<Record<string, unknown>>) => T | undefined,
    { server, refresh = false, signal }: ListOptions,
  ): Promise<T[]> {
    const how = { refresh, signal };
    const items = async (member: HubMember) =>
      (await member.lists.list(kind, how)).flatMap((raw) => read(member.name, raw) ?? []);
    if (server !== undefined) return await items(this.#members.get(server));
    const members = await this.#members.connected(signal);
    // A server that cannot list does not affect the others; its member has logged the failure.
    const lists = await Promise.all(
      members.map((member) =>
        items(member).catch((error: unknown) => {
          if (isTrunklineError(error) && !isTrunklineError(error, "ABORTED")) return [];
          throw error;
        }),
      ),
    );
    return lists.flat();
  }

  /** Turns an unknown resource into an error with similar URIs; other errors stay as they are. */
  async #explained(
    error: unknown,
    { member, uri, signal }: { member: HubMember; uri: string; signal: AbortSignal | undefined },
  ): Promise<unknown> {
    if (!isTrunklineError(error, "UPSTREAM") || !RESOURCE_NOT_FOUND_CODES.has(error.data?.code)) return error;
    const known = (await member.lists.list("resources", { refresh: false, signal }).catch(() => [])).flatMap(
      (raw) => toResource(member.name, raw)?.uri ?? [],
    );
    // In the modern era, bad parameters have the same code; for a listed resource it cannot mean "not found".
    if (known.includes(uri)) return error;
    const near = nearestNames(uri, known);
    return new TrunklineError("NOT_FOUND", `Server "${member.name}" has no resource ${uri}.`, {
      cause: error,
      hint:
        near.length > 0
          ? `Did you mean ${near.join(" or ")}?`
          : `Run \`trunkline resources ${member.name}\` to list its resources, and add --templates for its templates.`,
      data: error.data,
    });
  }
}

/** `server.name` of a prompt. */
function dotted({ server, name }: { server: string; name: string }): string {
  return `${server}.${name}`;
}

function recordsOf(value: unknown): Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "object" && item !== null) : [];
}
