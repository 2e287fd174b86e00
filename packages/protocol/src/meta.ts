// The `_meta` of requests: separates the protocol's own fields from those that pass through.
import { isJsonObject, isRpcId, type RpcId, type RpcParams } from "./messages.js";

/** The protocol's own keys in `_meta`. */
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

export function metaOf(params: RpcParams): RpcParams {
  const meta = params._meta;
  return isJsonObject(meta) ? meta : NOTHING;
}

/** Returns `_meta` without the protocol's own fields. */
export function foreignMeta(meta: RpcParams): RpcParams {
  let foreign: Record<string, unknown> | undefined;
  for (const key in meta) {
    if (PROTOCOL_KEYS.has(key)) continue;
    foreign ??= {};
    foreign[key] = meta[key];
  }
  return foreign ?? NOTHING;
}

/**
 * Prepares the parameters of a server's request for forwarding to another party: drops the `_meta` fields about the
 * original connection.
 */
export function withoutOwnMeta(params: RpcParams): Record<string, unknown> {
  const { _meta, ...rest } = params;
  if (!isJsonObject(_meta)) return rest;
  const meta = foreignMeta(_meta);
  return Object.keys(meta).length === 0 ? rest : { ...rest, _meta: meta };
}

/** The progress token, if the client asked for progress. */
export function progressTokenOf(meta: RpcParams): RpcId | undefined {
  return isRpcId(meta.progressToken) ? meta.progressToken : undefined;
}

/** Joins the client's name and version into one string. */
export function clientName(info: unknown): string {
  if (!isJsonObject(info) || typeof info.name !== "string") return "unknown";
  return typeof info.version === "string" ? `${info.name} ${info.version}` : info.name;
}
