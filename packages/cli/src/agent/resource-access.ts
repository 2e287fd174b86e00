// The two tools that give a model the resources of servers. They belong to no server, but are chosen as if each server
// that has resources had them: `docs.*` includes them, for the resources of docs only.
import { type AgentTool, type Hub, resourceTools, ToolNames } from "@trunkline/client";
import { type PolicyRules, verdictOn } from "@trunkline/config";
import { isTrunklineError, matchesGlob } from "@trunkline/core";
import type { CommandContext } from "../terminal/context.js";

const RESOURCE_TOOLS = ["list_mcp_resources", "read_mcp_resource"] as const;

export function isResourceTool(name: string): boolean {
  return RESOURCE_TOOLS.some((tool) => tool === name);
}

/** Which resource tools were chosen, and for which servers. */
export class ResourceAccess {
  readonly #hub: Hub;
  readonly #policies: readonly PolicyRules[];
  readonly #chosen = new Map<string, Set<string>>();
  #having: Promise<readonly string[]> | undefined;

  constructor(hub: Hub, policies: readonly PolicyRules[] = []) {
    this.#hub = hub;
    this.#policies = policies;
  }

  /** Chooses the tools that a pattern matches. Returns whether there is one. Connects nothing. */
  async choose(pattern: string, signal: AbortSignal): Promise<boolean> {
    if (isResourceTool(pattern)) {
      this.#add(pattern, this.#hub.serverNames());
      return true;
    }
    this.#having ??= this.#serversWithResources(signal);
    const servers = await this.#having;
    const names = new ToolNames(servers.flatMap((server) => RESOURCE_TOOLS.map((tool) => ({ server, tool }))));
    try {
      const found = names.match(pattern);
      for (const { server, tool } of found) this.#add(tool, [server]);
      return true;
    } catch (error) {
      if (isTrunklineError(error, "TOOL_NOT_FOUND")) return false;
      throw error;
    }
  }

  /** The chosen tools. The configured policy can exclude servers. */
  tools({ home, logger }: Pick<CommandContext, "home" | "logger">): AgentTool[] {
    return RESOURCE_TOOLS.flatMap((name) => {
      const servers = [...(this.#chosen.get(name) ?? [])].filter((server) => !this.#isDenied(server, name));
      if (servers.length === 0) return [];
      return resourceTools(this.#hub, { home, logger, servers }).filter((tool) => tool.name === name);
    });
  }

  #add(tool: string, servers: readonly string[]): void {
    this.#chosen.set(tool, new Set([...(this.#chosen.get(tool) ?? []), ...servers]));
  }

  /** Rules that match the tool's bare name are not about a server: they decide on the tool as a whole. */
  #isDenied(server: string, tool: string): boolean {
    const aboutServers = this.#policies.map((rules) =>
      Object.fromEntries(Object.entries(rules).filter(([glob]) => !matchesGlob(glob, tool))),
    );
    return verdictOn(`${server}.${tool}`, aboutServers, this.#hub.serverNames()) === "deny";
  }

  async #serversWithResources(signal: AbortSignal): Promise<readonly string[]> {
    const connected = this.#hub.status().filter(({ state }) => state === "connected");
    const having = await Promise.all(
      connected.map(async ({ name, resourceCount }) => resourceCount > 0 || (await this.#hasTemplates(name, signal))),
    );
    return connected.filter((_, index) => having[index]).map(({ name }) => name);
  }

  async #hasTemplates(server: string, signal: AbortSignal): Promise<boolean> {
    try {
      return (await this.#hub.resourceTemplates({ server, signal })).length > 0;
    } catch (error) {
      if (isTrunklineError(error) && error.code !== "ABORTED") return false;
      throw error;
    }
  }
}
