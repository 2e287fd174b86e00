// The headers of modern POSTs. Normal requests are recognized here, by their envelope and the headers that repeat it;
// anything doubtful is left to the SDK, which covers every case.
import type { IncomingMessage as HttpRequest } from "node:http";
import { isRecord } from "@trunkline/core";
import {
  decodeHeaderText,
  HEADERS,
  META,
  MODERN_REVISION,
  MODERN_REVISIONS,
  RPC_CODES,
  RpcError,
  type RpcRequest,
  readMessage,
} from "@trunkline/protocol";
import { envelopeError, unsupportedVersion } from "../protocol/modern-envelope.js";
import type { Refusal } from "./http-replies.js";

/** The parameter that `Mcp-Name` repeats, by method. */
const NAMED_BY: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
  "tasks/get": "taskId",
  "tasks/update": "taskId",
  "tasks/cancel": "taskId",
};

/** Returns the request if everything about it is in order. */
export function ordinaryRequest({ headers }: HttpRequest, value: unknown): RpcRequest | undefined {
  if (headers[HEADERS.protocolVersion] !== MODERN_REVISION) return undefined;
  const message = readMessage(value);
  if (message.kind !== "request" || headers[HEADERS.method] !== message.method) return undefined;
  const { params, method } = message;
  if (!isRecord(params._meta) || params._meta[META.protocolVersion] !== MODERN_REVISION) return undefined;
  const source = NAMED_BY[method];
  // An encoded or missing name is left to the SDK.
  if (source !== undefined && (params[source] === undefined || headers[HEADERS.name] !== params[source]))
    return undefined;
  return envelopeError(params) === undefined ? message : undefined;
}

/** Returns why a request is rejected; undefined if it is valid after all. */
export async function doubtfulRequest({ headers }: HttpRequest, value: unknown): Promise<Refusal | undefined> {
  const { classifyInboundRequest } = await import("@modelcontextprotocol/server");
  const version = headerText(headers[HEADERS.protocolVersion]);
  const method = headerText(headers[HEADERS.method]);
  const name = headerText(headers[HEADERS.name]);
  const outcome = classifyInboundRequest({
    httpMethod: "POST",
    protocolVersionHeader: version,
    mcpMethodHeader: method,
    mcpNameHeader: name,
    body: value,
  });
  if (outcome.kind === "reject") {
    const { httpStatus, code, message, data } = outcome;
    return { status: httpStatus, error: new RpcError(code, message, { data }) };
  }
  if (outcome.kind === "legacy") {
    return { status: 400, error: unsupportedVersion(version) };
  }
  const { revision } = outcome.classification;
  if (revision === undefined || !MODERN_REVISIONS.includes(revision)) {
    return { status: 400, error: unsupportedVersion(revision) };
  }
  if (outcome.messageKind !== "request") return undefined;
  return missingHeader({ version, method, name }, outcome.message);
}

/** Checks that the headers are present and the name matches: the SDK's classification leaves this to the endpoint. */
function missingHeader(
  headers: { version: string | undefined; method: string | undefined; name: string | undefined },
  { method, params }: { method: string; params?: unknown },
): Refusal | undefined {
  if (headers.version === undefined) return headerMismatch("MCP-Protocol-Version is missing");
  if (headers.method === undefined) return headerMismatch("Mcp-Method is missing");
  const source = NAMED_BY[method];
  const named = source === undefined || !isRecord(params) ? undefined : params[source];
  if (source === undefined || typeof named !== "string") return undefined;
  if (headers.name === undefined) return headerMismatch(`Mcp-Name is missing, but params.${source} is "${named}"`);
  const decoded = decodeHeaderText(headers.name);
  if (decoded === undefined) return headerMismatch("Mcp-Name is not valid base64");
  return decoded === named ? undefined : headerMismatch(`Mcp-Name is "${decoded}", but params.${source} is "${named}"`);
}

/** Builds the rejection of a request whose headers contradict its body. */
export function headerMismatch(what: string): Refusal {
  return { status: 400, error: new RpcError(RPC_CODES.headerMismatch, `Header mismatch: ${what}.`) };
}

function headerText(header: string | string[] | undefined): string | undefined {
  return typeof header === "string" ? header.trim() : undefined;
}
