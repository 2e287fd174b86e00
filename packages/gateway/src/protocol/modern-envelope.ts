// The `_meta` of every modern request: who sends it, with which capabilities and in which revision.
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

/** Whether parameters claim to be modern, validly or not. */
export function claimsModern(params: unknown): boolean {
  return isRecord(params) && isRecord(params._meta) && META.protocolVersion in params._meta;
}

/** Returns why an envelope is invalid; undefined if it is valid. */
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

/** Builds the error for an unsupported revision, which lists the supported ones. */
export function unsupportedVersion(requested: string | undefined): RpcError {
  const what = requested === undefined ? "none given" : requested;
  return new RpcError(RPC_CODES.unsupportedVersion, `Unsupported protocol version: ${what}`, {
    data: { supported: [...MODERN_REVISIONS], requested },
  });
}

/** Returns the client of a request with a valid envelope. */
export function callerOf(meta: RpcParams, { id, principal, endpoint, lasting }: ClientFacts): Caller {
  return {
    id,
    principal,
    name: clientName(meta[META.clientInfo]),
    era: "modern",
    // The envelope has been checked: these are a string and an object.
    revision: meta[META.protocolVersion] as string,
    endpoint,
    lasting,
    capabilities: meta[META.clientCapabilities] as RpcParams,
  };
}

/** Returns the minimum level of log messages that the client wants with this request; undefined for none. */
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
