// What every request of the modern era carries in `_meta`: who speaks, what they can do, and in which revision.
import { isRecord } from "@trunkline/core";
import {
  clientName,
  isLogLevel,
  META,
  MODERN_REVISIONS,
  metaOf,
  RPC_CODES,
  RpcError,
  type RpcParams,
} from "@trunkline/protocol";
import type { Caller } from "../interfaces/exchange.js";
import type { ClientFacts } from "./request-context.js";

/** Whether parameters claim to be of the modern era, rightly or not. */
export function claimsModern(params: unknown): boolean {
  return isRecord(params) && isRecord(params._meta) && META.protocolVersion in params._meta;
}

/** Why an envelope cannot be used; undefined where it can. */
export function envelopeError(params: RpcParams): RpcError | undefined {
  const meta = metaOf(params);
  const missing = [META.protocolVersion, META.clientCapabilities].filter((key) => meta[key] === undefined);
  if (missing.length > 0) return malformed(missing.join(", "), "missing", { envelope: { missing } });
  const { [META.protocolVersion]: version, [META.clientCapabilities]: capabilities, [META.clientInfo]: info } = meta;
  if (typeof version !== "string") return malformed(META.protocolVersion, "has to be a string");
  if (!isRecord(capabilities)) return malformed(META.clientCapabilities, "has to be an object");
  if (info !== undefined && !isClientInfo(info)) return malformed(META.clientInfo, "has to have a name and a version");
  return MODERN_REVISIONS.includes(version) ? undefined : unsupportedVersion(version);
}

/** The revision is not served here; the error lists those that are. */
export function unsupportedVersion(requested: string | undefined): RpcError {
  const what = requested === undefined ? "the request names none" : requested;
  return new RpcError(RPC_CODES.unsupportedVersion, `Unsupported protocol version: ${what}`, {
    data: { supported: [...MODERN_REVISIONS], ...(requested === undefined ? {} : { requested }) },
  });
}

/** The client behind a request whose envelope is sound. */
export function callerOf(meta: RpcParams, { id, endpoint, lasting }: ClientFacts): Caller {
  return {
    id,
    name: clientName(meta[META.clientInfo]),
    era: "modern",
    // The envelope has been checked: these are a string and an object.
    revision: meta[META.protocolVersion] as string,
    endpoint,
    lasting,
    capabilities: meta[META.clientCapabilities] as RpcParams,
  };
}

/** The level from which the client wants log messages with this request; undefined where it wants none. */
export function requestedLogLevel(meta: RpcParams): string | undefined {
  const level = meta[META.logLevel];
  return isLogLevel(level) ? level : undefined;
}

function isClientInfo(info: unknown): boolean {
  return isRecord(info) && typeof info.name === "string" && typeof info.version === "string";
}

function malformed(key: string, problem: string, data?: unknown): RpcError {
  return new RpcError(RPC_CODES.invalidParams, `Invalid _meta envelope: ${key}: ${problem}`, {
    data: data ?? { envelope: { key, problem } },
  });
}
