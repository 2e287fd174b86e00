// `hub` of the module `trunkline`.
import type { Hub, ServerStatus } from "@trunkline/client";
import { isGlob, type SourcedTool, TrunklineError } from "@trunkline/core";
import { atCallSite } from "./call-site.js";
import { holding } from "./lifeline.js";
import { world } from "./world.js";

/** What `Hub` does and waits for: the same here, on a hub that is opened with the first use. */
const METHODS = [
  "call",
  "callTool",
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

/** All configured servers. They are connected when they are needed, and closed when the script has ended. */
export interface ScriptHub extends Pick<Hub, (typeof METHODS)[number]> {
  /**
   * The tools of all servers, or those that a name or glob stands for: `docs.*`. Servers that fail have none, and `status`
   * tells why; where the pattern names one of them, it rejects with what is wrong with it.
   */
  tools(pattern?: string): Promise<readonly SourcedTool[]>;
  /** Every server and its state, sorted by name, without connecting. */
  status(): Promise<readonly ServerStatus[]>;
  /** The hub itself, for everything else. It is closed for you. */
  open(): Promise<Hub>;
}

/** The hub of this program. */
export const hub: ScriptHub = Object.freeze({
  ...forwarded(),
  tools: (pattern?: string) => onHub(hub.tools, async (opened) => await connectedTools(opened, pattern)),
  status: () => onHub(hub.status, async (opened) => opened.status()),
  open: () => onHub(hub.open, async (opened) => opened),
});

/** The tools that a pattern stands for, after their servers were connected. */
async function connectedTools(opened: Hub, pattern: string | undefined): Promise<readonly SourcedTool[]> {
  const head = pattern === undefined ? "" : isGlob(pattern) ? pattern.slice(0, pattern.search(/[*?]/)) : pattern;
  const owners = opened.status().flatMap(({ name }) => (head.startsWith(`${name}.`) ? [name] : []));
  await opened.connect(owners.length === 0 ? undefined : owners, world().context.signal);
  if (pattern === undefined) return opened.tools();
  const failed = opened.status().filter(({ name, state }) => owners.includes(name) && state !== "connected");
  const [first] = failed;
  // With its server away the name is not to blame.
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

/** Does something with the hub, which is opened first where that is needed. */
async function onHub<T>(above: (...args: never[]) => unknown, work: (opened: Hub) => Promise<T>): Promise<T> {
  return await atCallSite(above, () => holding(async () => await work(await world().hub())));
}

function forwarded(): Pick<Hub, (typeof METHODS)[number]> {
  const methods = METHODS.map((name) => {
    const method = (...args: unknown[]) =>
      onHub(method, async (opened) => {
        // Each takes its own arguments and returns a promise; the type of the whole says which.
        return await (opened[name] as (...args: unknown[]) => Promise<unknown>)(...args);
      });
    return [name, method];
  });
  return Object.fromEntries(methods);
}
