// Two tools that give a model access to the resources of all servers. Programs that run an agent add them to its tools.
import { isTrunklineError, type Logger } from "@trunkline/core";
import { type RenderedResult, renderBlocks } from "../results/render-result.js";
import type { Hub } from "./hub.js";

/** A tool that belongs to no server: a definition for models and its implementation. */
export interface AgentTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** Runs the tool. Failures are results with `isError`; only an abort rejects. */
  run(args: Readonly<Record<string, unknown>>, options?: { signal?: AbortSignal }): Promise<RenderedResult>;
}

/** How the tools render their results. */
interface ResourceToolsOptions {
  /** Trunkline's home folder; binary resources are saved under it. Default: they are not saved. */
  home?: string;
  /** Maximum number of characters of text. Default: no limit. */
  maxChars?: number;
  /** Only the resources of these servers; no other server is connected. Default: all servers. */
  servers?: readonly string[];
  logger?: Logger;
}

const NO_HUB =
  "No MCP servers are available: this program runs without a hub, so there are no resources to list or read.";

/** Creates `list_mcp_resources` and `read_mcp_resource`. Without a hub, they report that there is none. */
export function resourceTools(hub: Hub | undefined, options: ResourceToolsOptions = {}): readonly AgentTool[] {
  const { servers, ...rendering } = options;
  const tool = (definition: Omit<AgentTool, "run">, find: Find): AgentTool => ({
    ...definition,
    async run(args, { signal } = {}) {
      const raw = hub === undefined ? failure(NO_HUB) : await attempt(() => find({ hub, servers }, args, signal));
      return await renderBlocks(raw, { ...rendering, signal });
    },
  });
  return [
    tool(
      {
        name: "list_mcp_resources",
        description:
          "Lists the resources of the connected MCP servers: files, records and other data that can be read by URI.",
        inputSchema: {
          type: "object",
          properties: { server: { type: "string", description: "Only the resources of this server." } },
          additionalProperties: false,
        },
      },
      listResources,
    ),
    tool(
      {
        name: "read_mcp_resource",
        description: "Reads one resource of an MCP server, as listed by list_mcp_resources.",
        inputSchema: {
          type: "object",
          properties: {
            server: { type: "string", description: "The server that has the resource." },
            uri: { type: "string", description: "The resource's URI." },
          },
          required: ["server", "uri"],
          additionalProperties: false,
        },
      },
      readResource,
    ),
  ];
}

type Raw = Readonly<Record<string, unknown>>;

/** The servers whose resources the model may use. */
interface Scope {
  readonly hub: Hub;
  readonly servers: readonly string[] | undefined;
}

type Find = (scope: Scope, args: Raw, signal: AbortSignal | undefined) => Promise<Raw>;

async function listResources(scope: Scope, { server }: Raw, signal: AbortSignal | undefined): Promise<Raw> {
  if (server !== undefined && typeof server !== "string") return failure('"server" must be the name of a server.');
  const { hub, servers } = scope;
  if (server !== undefined && !isOpen(scope, server)) return unavailable(scope, server);
  const stopping = signal === undefined ? {} : { signal };
  const of = async (where: { server?: string }) => ({
    resources: await hub.resources({ ...where, ...stopping }),
    templates: await hub.resourceTemplates({ ...where, ...stopping }),
  });
  const where = server === undefined ? (servers?.map((name) => ({ server: name })) ?? [{}]) : [{ server }];
  // A server that fails does not hide the resources of the others.
  const outcomes = await Promise.allSettled(where.map(of));
  const lists = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
  signal?.throwIfAborted();
  const resources = lists.flatMap((list) => list.resources);
  const templates = lists.flatMap((list) => list.templates);
  if (resources.length + templates.length === 0) {
    const failed = outcomes.find(({ status }) => status === "rejected") as PromiseRejectedResult | undefined;
    if (failed !== undefined) throw failed.reason;
    return text(server === undefined ? "No server has any resources." : `Server "${server}" has no resources.`);
  }
  return text(
    JSON.stringify(
      {
        resources: resources.map(({ raw: _, ...resource }) => resource),
        ...(templates.length === 0 ? {} : { templates: templates.map(({ raw: _, ...template }) => template) }),
      },
      null,
      2,
    ),
  );
}

async function readResource(scope: Scope, { server, uri }: Raw, signal: AbortSignal | undefined): Promise<Raw> {
  if (typeof server !== "string" || typeof uri !== "string") {
    return failure('"server" and "uri" are both required; call list_mcp_resources to list the resources.');
  }
  if (!isOpen(scope, server)) return unavailable(scope, server);
  const { contents } = await scope.hub.readResource(server, uri, signal === undefined ? {} : { signal });
  if (contents.length === 0) return text(`The resource ${uri} is empty.`);
  return { content: contents.map((resource) => ({ type: "resource", resource })) };
}

function isOpen({ servers }: Scope, server: string): boolean {
  return servers === undefined || servers.includes(server);
}

function unavailable({ servers = [] }: Scope, server: string): Raw {
  return failure(`The resources of "${server}" are not available here. Available servers: ${servers.join(", ")}.`);
}

/** Reports failures to the model if it can act on them. */
async function attempt(find: () => Promise<Raw>): Promise<Raw> {
  try {
    return await find();
  } catch (error) {
    if (!isTrunklineError(error) || error.code === "ABORTED") throw error;
    return failure(error.hint === undefined ? error.message : `${error.message} ${error.hint}`);
  }
}

function text(value: string): Raw {
  return { content: [{ type: "text", text: value }] };
}

function failure(message: string): Raw {
  return { ...text(message), isError: true };
}
