// All prompts: from files, built in, and from upstream servers. If names collide, the earlier kind wins.
import type { Hub } from "@trunkline/client";
import { isRecord, isTrunklineError, type Logger, nearestNames } from "@trunkline/core";
import { RPC_CODES, RpcError } from "@trunkline/protocol";
import type { Exchange } from "../interfaces/exchange.js";
import { asRpcError, faithful, LOOKUP_PATIENCE_MS, type Upstreams, withMeta } from "../upstreams/upstreams.js";
import { BUILTIN_PROMPTS } from "./builtin.js";
import type { ProjectPromptFolder } from "./project-prompts.js";
import { type OwnPrompt, type PromptParameter, promptDefinition } from "./prompt.js";
import { PromptFolders } from "./prompt-folders.js";

type Raw = Readonly<Record<string, unknown>>;

interface PromptsOptions {
  readonly upstreams: Upstreams;
  readonly folders: readonly string[];
  readonly project?: ProjectPromptFolder;
  /** Whether to list built-in prompts, which mention tools that not every surface has. */
  readonly builtin: boolean;
  /** `plain`: prompts of upstream servers keep their own names. */
  readonly names: "prefixed" | "plain";
  readonly logger: Logger;
  readonly onChanged: () => void;
}

interface PromptRoute {
  readonly server: string;
  readonly name: string;
}

interface UpstreamPrompt extends PromptRoute {
  readonly shown: string;
  readonly raw: Raw;
}

export class Prompts implements Disposable {
  readonly #options: PromptsOptions;
  readonly #folders: PromptFolders;

  constructor(options: PromptsOptions) {
    this.#options = options;
    const { folders, logger, onChanged, project } = options;
    const taken = BUILTIN_PROMPTS.map(({ name }) => name);
    this.#folders = new PromptFolders(folders, { logger, onChanged, project, taken });
  }

  /** Starts reporting changed files. */
  async watch(): Promise<void> {
    await this.#folders.watch();
  }

  /** Handles `prompts/list`. Returns a single page, because some clients do not request the next one. */
  async list(exchange: Exchange): Promise<Raw> {
    const [own, upstream] = await Promise.all([this.#own(), this.#upstream(exchange.signal)]);
    const taken = new Set(own.map(({ name }) => name));
    const prompts = [...own.map(promptDefinition)];
    for (const { shown, raw } of upstream) {
      if (taken.has(shown)) continue;
      taken.add(shown);
      prompts.push({ ...raw, name: shown });
    }
    return { prompts };
  }

  /** Handles `prompts/get`. */
  async get(params: Raw, exchange: Exchange): Promise<Raw> {
    const { name } = params;
    if (typeof name !== "string") throw new RpcError(RPC_CODES.invalidParams, "The prompt name is missing.");
    const args = readArguments(params.arguments);
    const own = await this.own(name);
    if (own !== undefined) return render(own, args);
    const { server, name: bare } = await this.route(name, exchange.signal);
    const request = { name: bare, ...(params.arguments === undefined ? {} : { arguments: args }) };
    try {
      const hub = await this.#options.upstreams.hub();
      const { signal, channel } = exchange;
      return faithful(await hub.request(server, "prompts/get", withMeta(request, exchange), { signal, channel }));
    } catch (error) {
      throw asRpcError(error, RPC_CODES.internalError);
    }
  }

  /** Finds one of our own prompts by name. */
  async own(name: string): Promise<OwnPrompt | undefined> {
    return (await this.#own()).find((prompt) => prompt.name === name);
  }

  /** Resolves a name to an upstream prompt. Rejects with an `RpcError` that lists similar names. */
  async route(name: string, signal: AbortSignal): Promise<PromptRoute> {
    const hub = await this.#options.upstreams.hub();
    if (this.#options.names === "prefixed") {
      const named = ownersOf(hub, name);
      for (const route of named) {
        // The server's list is cached or fetched now; a server that cannot list may still answer.
        const prompts = await hub.prompts({ server: route.server, signal }).catch((error: unknown) => {
          if (isTrunklineError(error, "ABORTED")) throw error;
          if (isTrunklineError(error, "UPSTREAM")) return undefined;
          throw asRpcError(error, RPC_CODES.internalError);
        });
        if (prompts === undefined || prompts.some((prompt) => prompt.name === route.name)) return route;
      }
    }
    const upstream = await this.#upstream(signal, LOOKUP_PATIENCE_MS);
    const found = upstream.find(({ shown }) => shown === name);
    if (found !== undefined) return found;
    const own = await this.#own();
    throw unknownPrompt(name, [...own.map((prompt) => prompt.name), ...upstream.map(({ shown }) => shown)]);
  }

  [Symbol.dispose](): void {
    this.#folders[Symbol.dispose]();
  }

  async #own(): Promise<OwnPrompt[]> {
    const files = await this.#folders.prompts();
    const names = new Set(files.map(({ name }) => name));
    return [...files, ...(this.#options.builtin ? BUILTIN_PROMPTS.filter(({ name }) => !names.has(name)) : [])];
  }

  async #upstream(signal: AbortSignal, patienceMs?: number): Promise<UpstreamPrompt[]> {
    const { items } = await this.#options.upstreams.each(signal, (hub, where) => hub.prompts(where), patienceMs);
    return items.map(({ server, name, raw }) => ({
      server,
      name,
      raw,
      shown: this.#options.names === "plain" ? name : `${server}.${name}`,
    }));
  }
}

function render(prompt: OwnPrompt, args: Readonly<Record<string, string>>): Raw {
  const missing = prompt.parameters.filter(({ name, required = false }) => required && !args[name]);
  if (missing.length > 0) throw missingArguments(prompt.name, missing);
  return {
    description: prompt.description,
    messages: [{ role: prompt.role, content: { type: "text", text: prompt.render(args) } }],
  };
}

function readArguments(value: unknown): Readonly<Record<string, string>> {
  if (value === undefined || value === null) return {};
  if (!isRecord(value))
    throw new RpcError(RPC_CODES.invalidParams, "The arguments of a prompt have to be an object of strings.");
  const wrong = Object.entries(value).find(([, text]) => typeof text !== "string");
  if (wrong !== undefined)
    throw new RpcError(RPC_CODES.invalidParams, `The argument "${wrong[0]}" has to be a string.`);
  return value as Record<string, string>; // every value was checked
}

/** Server and prompt names can both contain dots; the longest server name wins. */
function ownersOf(hub: Hub, name: string): PromptRoute[] {
  return hub
    .status()
    .filter(({ name: server, state }) => name.startsWith(`${server}.`) && state !== "disabled" && state !== "untrusted")
    .map(({ name: server }) => ({ server, name: name.slice(server.length + 1) }))
    .sort((a, b) => b.server.length - a.server.length);
}

function missingArguments(prompt: string, missing: readonly PromptParameter[]): RpcError {
  const listed = missing.map(({ name, description }) =>
    description === undefined ? name : `${name} (${description})`,
  );
  return new RpcError(RPC_CODES.invalidParams, `The prompt "${prompt}" requires: ${listed.join(", ")}.`);
}

function unknownPrompt(name: string, names: readonly string[]): RpcError {
  const bare = names.filter((candidate) => candidate.endsWith(`.${name}`));
  const near = [...new Set([...bare, ...nearestNames(name, names)])].slice(0, 3);
  const hint = near.length > 0 ? `Did you mean ${near.join(" or ")}?` : "prompts/list shows the available prompts.";
  return new RpcError(RPC_CODES.invalidParams, `Unknown prompt "${name}". ${hint}`, { data: { near } });
}
