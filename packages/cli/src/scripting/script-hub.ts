// `hub` of the module `trunkline`.
import type { Hub, ServerStatus, ToolKey } from "@trunkline/client";
import { isGlob, type SourcedTool, TrunklineError } from "@trunkline/core";
import { atCallSite } from "./call-site.js";
import { holding } from "./lifeline.js";
import { world } from "./world.js";

/** Methods of `Hub` that are forwarded to a hub opened on first use. */
const METHODS = [
  "findTool",
  "resources",
  "resourceTemplates",
  "readResource",
  "subscribe",
  "prompts",
  "findPrompt",
  "getPrompt",
  "complete",
  "connect",
  "authenticate",
  "ping",
  "request",
] as const satisfies readonly (keyof Hub)[];

/** All configured servers. They connect on demand and are closed when the script ends. */
export interface ScriptHub extends Pick<Hub, "call" | "callTool" | (typeof METHODS)[number]> {
  /**
   * Lists the tools of all servers, or those that match a name or glob: `docs.*`. A failed server has no tools, and
   * `status` says why; if the pattern names a failed server, this rejects with its error.
   */
  tools(pattern?: string): Promise<readonly SourcedTool[]>;
  /** Lists the prefixed names of the tools of all servers, sorted: `mcp__docs__lookup`. */
  toolNames(): Promise<readonly string[]>;
  /** Lists every server and its state, sorted by name, without connecting. */
  status(): Promise<readonly ServerStatus[]>;
  /** Opens the hub itself, for everything else. It is closed for you. */
  open(): Promise<Hub>;
}

export const hub: ScriptHub = Object.freeze<ScriptHub>({
  ...forwarded(),
  call: (name, args, options) =>
    onHub(hub.call, async (opened) => {
      const tool = typeof name === "string" ? await opened.findTool(name, options?.signal) : name;
      // A program without types can pass anything: the hub says what is wrong.
      if (typeof tool?.server !== "string") return await opened.call(tool, args, options);
      return await world().journalled(nameOf(tool), () => opened.call(tool, args, options));
    }),
  callTool: (server, tool, args, options) =>
    onHub(hub.callTool, async (opened) =>
      world().journalled(nameOf({ server, tool }), () => opened.callTool(server, tool, args, options)),
    ),
  toolNames: () =>
    onHub(hub.toolNames, async (opened) => {
      await opened.connect(undefined, world().context.signal);
      return opened.toolNames();
    }),
  tools: (pattern?: string) => onHub(hub.tools, async (opened) => await connectedTools(opened, pattern)),
  status: () => onHub(hub.status, async (opened) => opened.status()),
  open: () => onHub(hub.open, async (opened) => opened),
});

function nameOf({ server, tool }: ToolKey): string {
  return `${server}.${tool}`;
}

/** Connects the servers a pattern can match, and returns the matching tools. */
async function connectedTools(opened: Hub, pattern: string | undefined): Promise<readonly SourcedTool[]> {
  const head = pattern === undefined ? "" : isGlob(pattern) ? pattern.slice(0, pattern.search(/[*?]/)) : pattern;
  const { ownersOf } = await import("@trunkline/config");
  const owners = ownersOf(
    head,
    opened.status().map(({ name }) => name),
  );
  await opened.connect(owners.length === 0 ? undefined : owners, world().context.signal);
  if (pattern === undefined) return opened.tools();
  const failed = opened.status().filter(({ name, state }) => owners.includes(name) && state !== "connected");
  const [first] = failed;
  // If the server is unavailable, the name is not the problem.
  if (first !== undefined) {
    throw (
      first.error ??
      new TrunklineError("SERVER_UNAVAILABLE", `The server ${first.name} is ${first.state}.`, {
        hint: "`trunkline doctor` says what to do.",
      })
    );
  }
  return opened.names().match(pattern);
}

/** Uses the hub, opening it first if needed. */
async function onHub<T>(above: (...args: never[]) => unknown, work: (opened: Hub) => Promise<T>): Promise<T> {
  return await atCallSite(above, () => holding(async () => await work(await world().hub())));
}

function forwarded(): Pick<Hub, (typeof METHODS)[number]> {
  const methods = METHODS.map((name) => {
    const method = (...args: unknown[]) =>
      onHub(method, async (opened) => {
        // Each method takes its own arguments and returns a promise; the overall type says which.
        return await (opened[name] as (...args: unknown[]) => Promise<unknown>)(...args);
      });
    return [name, method];
  });
  return Object.fromEntries(methods);
}
