// The tools that a user chooses for a model by name or glob, under the configured policy. They can become more: a server
// that needs a sign-in offers `authenticate` first, and its own tools afterwards.
import { type Tool, toolsFrom } from "@trunkline/agent";
import { type AgentTool, type Hub, type RenderedResult, renderBlocks } from "@trunkline/client";
import { dottedName, type LoadedConfig, mayBelongTo, type PolicyRules, verdictOn, wireName } from "@trunkline/config";
import {
  isGlob,
  isTrunklineError,
  printable,
  type SourcedTool,
  type ToolCallResult,
  TrunklineError,
} from "@trunkline/core";
import { whileConnecting } from "../app/while-connecting.js";
import { type CommandContext, isAtTerminal } from "../terminal/context.js";
import { isResourceTool, ResourceAccess } from "./resource-access.js";
import { SignInTools } from "./sign-in-tools.js";

/** Tools that the configured `policy` allows. */
interface RuledTools {
  readonly tools: readonly Tool[];
  /** Titles of tools that must ask each time. */
  readonly mustAsk: ReadonlySet<string>;
}

/** The names of all servers that may run. */
export function namesOf({ servers }: LoadedConfig): string[] {
  return servers.filter(({ trusted }) => trusted).map(({ name }) => name);
}

function policiesOf({ settings }: LoadedConfig): readonly PolicyRules[] {
  return settings?.policies ?? [];
}

/** Returns the tools allowed by the configured `policy`. */
function ruled(tools: readonly Tool[], config: LoadedConfig): RuledTools {
  const policies = policiesOf(config);
  if (policies.length === 0) return { tools, mustAsk: new Set() };
  const servers = namesOf(config);
  const denied = tools.filter(({ title }) => verdictOn(title, policies, servers) === "deny");
  const mustAsk = new Set(
    tools.map(({ title }) => title).filter((title) => verdictOn(title, policies, servers) === "ask"),
  );
  return {
    tools: tools
      .filter((tool) => !denied.includes(tool))
      .map((tool) => (mustAsk.has(tool.title) ? { ...tool, readOnly: false } : tool)),
    mustAsk,
  };
}

/** Runs the call of an operation and writes its line in the journal. */
export type JournalCall = (operation: string, run: () => Promise<ToolCallResult>) => Promise<ToolCallResult>;

interface SelectionOptions {
  readonly patterns: readonly string[];
  readonly config: LoadedConfig;
  readonly journal: JournalCall;
}

export class ToolSelection {
  readonly #context: CommandContext;
  readonly #hub: Hub;
  readonly #options: SelectionOptions;
  readonly #signIns: SignInTools;
  readonly #mustAsk = new Set<string>();
  #tools: readonly Tool[] = [];
  /** What the patterns match, allowed or not. */
  #found: readonly Tool[] = [];
  /** Servers that a pattern was written for, and that offer nothing but a sign-in. */
  #unmet: readonly string[] = [];

  private constructor(context: CommandContext, hub: Hub, options: SelectionOptions) {
    this.#context = context;
    this.#hub = hub;
    this.#options = options;
    this.#signIns = new SignInTools(hub, {
      patterns: options.patterns,
      onSignedIn: async (server) => {
        await this.#select();
        return this.#tools.filter(({ title }) => title.startsWith(`${server}.`)).map(({ name }) => name);
      },
    });
  }

  /**
   * Connects the servers and finds the tools. Rejects with `TOOL_NOT_FOUND` or `AMBIGUOUS` and the candidates, with the
   * error of an unreachable server, or with `DENIED` if the policy allows none of the tools.
   */
  static async open(context: CommandContext, hub: Hub, options: SelectionOptions): Promise<ToolSelection> {
    const selection = new ToolSelection(context, hub, options);
    await selection.#select();
    selection.#refuseIfAllDenied();
    selection.#noteMissing();
    return selection;
  }

  /** Titles of tools that must ask each time. */
  get mustAsk(): ReadonlySet<string> {
    return this.#mustAsk;
  }

  /** The tools that the model has now. */
  tools(): readonly Tool[] {
    const names = new Set(this.#tools.map(({ name }) => name));
    const waiting = this.#signIns.tools(this.#servers()).filter(({ name }) => !names.has(name));
    return [...this.#tools, ...this.#allowed(waiting)];
  }

  neededSignIn(): TrunklineError | undefined {
    return this.#hub.status().find(({ name, state }) => state === "needs-auth" && this.#unmet.includes(name))?.error;
  }

  /** The servers of the chosen tools. */
  #servers(): readonly string[] {
    const servers = this.#hub.serverNames();
    return servers.filter((server) => this.#tools.some(({ title }) => title.startsWith(`${server}.`)));
  }

  #allowed(tools: readonly Tool[]): readonly Tool[] {
    const { tools: allowed, mustAsk } = ruled(tools, this.#options.config);
    for (const title of mustAsk) this.#mustAsk.add(title);
    return allowed;
  }

  /** Tools that were found before stay the same objects: what they promised then still holds. */
  async #select(): Promise<void> {
    const { patterns, config, journal } = this.#options;
    const unmet = new Set<string>();
    const found = await selectTools(this.#context, this.#hub, patterns, {
      policies: policiesOf(config),
      journal,
      otherwise: (pattern) => {
        const servers = this.#signIns.serversFor(pattern);
        for (const server of servers) unmet.add(server);
        return servers.length > 0;
      },
    });
    this.#unmet = [...unmet];
    const known = new Set(this.#tools.map(({ title }) => title));
    this.#tools = [...this.#tools, ...this.#allowed(found.filter(({ title }) => !known.has(title)))];
    this.#found = found;
  }

  #refuseIfAllDenied(): void {
    if (this.tools().length > 0 || this.#found.length === 0) return;
    const titles = this.#found.map(({ title }) => title).join(", ");
    throw new TrunklineError("DENIED", `The configuration does not allow ${titles}.`, {
      hint: 'See "policy" in the configuration.',
    });
  }

  /** Notes which tools are missing: a glob uses whatever is available. */
  #noteMissing(): void {
    const globs = this.#options.patterns.filter(isGlob);
    for (const { name, error, state } of this.#hub.status()) {
      if (error === undefined || !globs.some((glob) => mayMatch(glob, name))) continue;
      const isWaiting =
        state === "needs-auth" &&
        this.#signIns.tools(this.#servers()).some(({ title }) => title.startsWith(`${name}.`));
      // Without a terminal, the command ends with this error.
      if (isWaiting && this.#unmet.includes(name) && !isAtTerminal(this.#context)) continue;
      const hint = isWaiting && error.hint !== undefined ? ` ${error.hint}` : "";
      this.#context.note(`note: the tools of ${printable(name)} are missing: ${printable(error.message + hint)}`);
    }
  }
}

/** Whether a pattern could match a tool of this server. False positives are fine: the name table decides. */
export function mayMatch(pattern: string, server: string): boolean {
  if (isResourceTool(pattern)) return true;
  if (!isGlob(pattern)) return mayBelongTo(pattern, server);
  const bare = (text: string) => text.toLowerCase().replace(/[^a-z0-9]/g, "");
  const head = bare(pattern.slice(0, pattern.search(/[*?[{]/))).replace(/^mcp/, "");
  const owner = bare(server).replace(/^mcp/, "");
  return head.startsWith(owner) || owner.startsWith(head);
}

interface FindOptions {
  /** They limit whose resources can be read. */
  readonly policies?: readonly PolicyRules[];
  /** Called with a pattern that matches no tool. Returns whether it is usable all the same. */
  readonly otherwise?: (pattern: string) => boolean;
  /** Default: calls are not journalled. */
  readonly journal?: JournalCall;
}

/**
 * Finds the tools that match the patterns, each once, in order. Rejects with `TOOL_NOT_FOUND` or `AMBIGUOUS` and the
 * candidates, or with the error of an unreachable server. A tool that only asks for a sign-in is left out.
 */
export async function selectTools(
  context: CommandContext,
  hub: Hub,
  patterns: readonly string[],
  { policies = [], otherwise = () => false, journal = async (_, run) => await run() }: FindOptions = {},
): Promise<Tool[]> {
  const { signal } = context;
  const chosen = new Map<string, SourcedTool>();
  const resources = new ResourceAccess(hub, policies);
  const isWanted = (server: string) => patterns.some((pattern) => mayMatch(pattern, server));
  const wanted = hub
    .status()
    .map(({ name }) => name)
    .filter(isWanted);
  // Connect once for all patterns, so that servers connect in parallel.
  await whileConnecting(context, hub, { isWanted, work: () => hub.connect(wanted, signal) });
  for (const pattern of patterns) {
    const hasResources = await resources.choose(pattern, signal);
    if (isResourceTool(pattern)) continue;
    const found = await find(hub, pattern, { signal, mayBeEmpty: () => hasResources || otherwise(pattern) });
    for (const tool of found) chosen.set(dottedName(tool), tool);
  }
  const keys = [...chosen.values()];
  const names = hub.names();
  const reading = new Set(keys.filter((tool) => tool.annotations?.readOnlyHint === true).map(dottedName));
  const fromHub = toolsFrom(
    {
      tools: () => keys,
      callTool: async (server, tool, args, options) => {
        const name = dottedName({ server, tool });
        const now = hub.names().get({ server, tool });
        if (reading.has(name) && now !== undefined && now.annotations?.readOnlyHint !== true) throw noLongerReads(name);
        return await journal(name, () => hub.callTool(server, tool, args, options));
      },
    },
    {
      names: (tool) => (names.get(tool) === undefined ? wireName(tool) : names.name(tool, "wire")),
      render: async (raw) => toOutput(await renderBlocks(raw, { home: context.home, logger: context.logger })),
    },
  );
  return [...fromHub, ...resources.tools(context).map(asTool)];
}

/** The tool was chosen, and is called without asking, because it said that it only reads. */
function noLongerReads(name: string): TrunklineError {
  return new TrunklineError("DENIED", `${name} no longer says that it only reads, so it needs approval.`, {
    hint: "Start again: the user is then asked before it is called.",
  });
}

async function find(
  hub: Hub,
  pattern: string,
  { signal, mayBeEmpty }: { signal: AbortSignal; mayBeEmpty: () => boolean },
): Promise<readonly SourcedTool[]> {
  try {
    if (isGlob(pattern)) return hub.names().match(pattern);
    const tool = await hub.findTool(pattern, signal);
    if (hub.names().get(tool) !== undefined || !mayBeEmpty()) return [tool];
    return [];
  } catch (error) {
    if (!isTrunklineError(error, "TOOL_NOT_FOUND")) throw error;
    if (mayBeEmpty()) return [];
    if (!isGlob(pattern)) throw error;
    // If nothing matches because a server did not respond, report that server's error.
    const failed = hub.status().find((server) => server.error !== undefined && mayMatch(pattern, server.name));
    throw failed?.error ?? error;
  }
}

function asTool({ name, description, inputSchema, run }: AgentTool): Tool {
  return {
    name,
    title: name,
    description,
    inputSchema,
    readOnly: true,
    call: async (args, { signal }) => toOutput(await run(args, signal === undefined ? {} : { signal })),
  };
}

/** Converts a rendered result for an agent. */
export function toOutput({ blocks, isError }: RenderedResult) {
  const images = blocks.flatMap((block) =>
    block.type === "image" ? [{ data: block.data, mediaType: block.mimeType }] : [],
  );
  const lines = blocks.flatMap((block) => {
    if (block.type === "image") return [];
    return [block.type === "text" ? block.text : JSON.stringify(block)];
  });
  return { text: lines.join("\n"), ...(images.length > 0 ? { images } : {}), ...(isError ? { isError } : {}) };
}
