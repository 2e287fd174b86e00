// `authenticate` for a model: one tool for each chosen server that needs a sign-in, while it needs it.
import type { Tool } from "@trunkline/agent";
import { type Hub, renderText, ToolNames } from "@trunkline/client";
import { authenticateTool, SIGN_IN_TOOL } from "@trunkline/client/internal";
import { isTrunklineError, type SourcedTool } from "@trunkline/core";

interface SignInToolsOptions {
  readonly patterns: readonly string[];
  /** Called after a sign-in. Returns the wire names of the tools that the model has now. */
  readonly onSignedIn: (server: string) => Promise<readonly string[]>;
}

export class SignInTools {
  readonly #hub: Hub;
  readonly #options: SignInToolsOptions;
  /** The same object each time: a recording lists each tool once. */
  readonly #tools = new Map<string, Tool>();

  constructor(hub: Hub, options: SignInToolsOptions) {
    this.#hub = hub;
    this.#options = options;
  }

  /** The servers that need a sign-in and whose `authenticate` a pattern matches. */
  serversFor(pattern: string): readonly string[] {
    try {
      return this.#names()
        .match(pattern)
        .map(({ server }) => server);
    } catch (error) {
      if (isTrunklineError(error, "TOOL_NOT_FOUND") || isTrunklineError(error, "AMBIGUOUS")) return [];
      throw error;
    }
  }

  /** The tools for servers that match a pattern, or that have other tools in use. */
  tools(inUse: readonly string[]): readonly Tool[] {
    const names = this.#names();
    if (names.size === 0) return [];
    const wanted = new Set([...inUse, ...this.#options.patterns.flatMap((pattern) => this.serversFor(pattern))]);
    return waiting(this.#hub)
      .filter((server) => wanted.has(server))
      .map((server) => this.#tool(authenticateTool(server), names));
  }

  #names(): ToolNames<SourcedTool> {
    return new ToolNames(waiting(this.#hub).map(authenticateTool));
  }

  #tool(tool: SourcedTool, names: ToolNames<SourcedTool>): Tool {
    const { server, description = "", inputSchema } = tool;
    const known = this.#tools.get(server);
    if (known !== undefined) return known;
    const made: Tool = {
      name: names.name(tool, "wire"),
      title: `${server}.${SIGN_IN_TOOL}`,
      description,
      inputSchema,
      readOnly: false,
      call: async (_args, { signal }) => await this.#signIn(server, signal),
    };
    this.#tools.set(server, made);
    return made;
  }

  async #signIn(server: string, signal: AbortSignal | undefined) {
    let text = `You are already signed in to "${server}".`;
    if (waiting(this.#hub).includes(server)) {
      const result = await this.#hub.callTool(server, SIGN_IN_TOOL, {}, signal === undefined ? {} : { signal });
      if (result.isError) return { text: renderText(result.raw), isError: true };
      text = `Signed in to "${server}".`;
    }
    const names = await this.#options.onSignedIn(server);
    return {
      text: `${text} ${names.length === 0 ? "None of its tools is available here." : `Its tools: ${names.join(", ")}.`}`,
    };
  }
}

function waiting(hub: Hub): string[] {
  return hub
    .status()
    .filter(({ state }) => state === "needs-auth")
    .map(({ name }) => name);
}

/** Whether an operation only asks for a sign-in. Connects its server to find out. */
export async function isSignIn(hub: Hub, operation: string, signal: AbortSignal | undefined): Promise<boolean> {
  const server = operation.slice(0, -SIGN_IN_TOOL.length - 1);
  if (operation !== `${server}.${SIGN_IN_TOOL}` || !hub.serverNames().includes(server)) return false;
  await hub.connect([server], signal);
  return waiting(hub).includes(server);
}
