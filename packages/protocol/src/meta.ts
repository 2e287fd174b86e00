// The `_meta` of requests: what the protocol keeps there, and what passes through.
import { isJsonObject, isRpcId, type RpcId, type RpcParams } from "./messages.js";

/** The names under which the protocol keeps its own things in `_meta`. */
export const META = {
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  logLevel: "io.modelcontextprotocol/logLevel",
  serverInfo: "io.modelcontextprotocol/serverInfo",
  subscriptionId: "io.modelcontextprotocol/subscriptionId",
  relatedTask: "io.modelcontextprotocol/related-task",
} as const;

const PROTOCOL_KEYS: ReadonlySet<string> = new Set(["progressToken", ...Object.values(META)]);
const NOTHING: RpcParams = Object.freeze({});

/** `_meta` of a request. */
export function metaOf(params: RpcParams): RpcParams {
  const meta = params._meta;
  return isJsonObject(meta) ? meta : NOTHING;
}

/** `_meta` without what the protocol itself keeps there. */
export function foreignMeta(meta: RpcParams): RpcParams {
  let foreign: Record<string, unknown> | undefined;
  for (const key in meta) {
    if (PROTOCOL_KEYS.has(key)) continue;
    foreign ??= {};
    foreign[key] = meta[key];
  }
  return foreign ?? NOTHING;
}

/** A question's parameters for somebody else: what its `_meta` says of the connection it came on is left out. */
export function withoutOwnMeta(params: RpcParams): Record<string, unknown> {
  const { _meta, ...rest } = params;
  if (!isJsonObject(_meta)) return rest;
  const meta = foreignMeta(_meta);
  return Object.keys(meta).length === 0 ? rest : { ...rest, _meta: meta };
}

/** The token that progress is to carry, where the client asked for progress. */
export function progressTokenOf(meta: RpcParams): RpcId | undefined {
  return isRpcId(meta.progressToken) ? meta.progressToken : undefined;
}

/** Name and version of a client, in one text. */
export function clientName(info: unknown): string {
  if (!isJsonObject(info) || typeof info.name !== "string") return "unknown";
  return typeof info.version === "string" ? `${info.name} ${info.version}` : info.name;
}
