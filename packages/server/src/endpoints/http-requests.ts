// Validates HTTP requests. A web page can reach loopback under its own host name (DNS rebinding) or across origins, so
// Host and Origin are always checked, whatever the listen address. Outside loopback a token is required as well.
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { hostName } from "./http-address.js";
import { type Refusal, refusal } from "./http-replies.js";

/** Returns why the headers of a POST are rejected; undefined if they are valid. */
export function checkPostHeaders({ headers }: IncomingMessage): Refusal | undefined {
  const type = headers["content-type"];
  if (type !== "application/json" && !/^application\/json\s*(;|$)/i.test(type ?? "")) {
    return refusal(415, "Unsupported media type: the body has to be application/json.");
  }
  const { accept } = headers;
  if (accept === undefined || (accepts(accept, "application/json") && accepts(accept, "text/event-stream"))) {
    return undefined;
  }
  return refusal(406, "Not acceptable: the client has to accept application/json and text/event-stream.");
}

/** Returns why a GET is rejected; undefined if it is valid. */
export function checkGetHeaders({ headers }: IncomingMessage): Refusal | undefined {
  if (accepts(headers.accept ?? "*/*", "text/event-stream")) return undefined;
  return refusal(406, "Not acceptable: the client has to accept text/event-stream.");
}

/** Reads a body as text; undefined if it is too large. Rejects if the client disconnects before the end. */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<string | undefined> {
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) return Promise.resolve(undefined);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) {
        chunks.length = 0;
        resolve(undefined);
      } else chunks.push(chunk);
    });
    request.on("end", () => {
      const [first] = chunks;
      resolve(
        chunks.length === 1 && first !== undefined ? first.toString("utf8") : Buffer.concat(chunks).toString("utf8"),
      );
    });
    request.on("error", reject);
    request.on("close", () => {
      if (!request.complete) reject(new Error("The client disconnected before its request was read."));
    });
  });
}

function accepts(header: string, type: string): boolean {
  if (header.includes(type) || header.includes("*/*")) return true;
  return header.includes(`${type.slice(0, type.indexOf("/"))}/*`);
}

interface GuardOptions {
  /** Host names without ports, IPv6 in brackets. The address at which a request arrives is always allowed. */
  readonly hosts: readonly string[];
  /** Host names of pages that may call from a browser. */
  readonly origins: readonly string[];
  readonly token: string | undefined;
}

/** Maximum number of cached Host headers. */
const MAX_KNOWN = 64;

export class HttpGuard {
  readonly #options: GuardOptions;
  readonly #tokenDigest: Buffer | undefined;
  /** Host headers that passed the check, cached because the check parses a URL. */
  readonly #known = new Set<string>();

  constructor(options: GuardOptions) {
    this.#options = options;
    this.#tokenDigest = options.token === undefined ? undefined : digest(options.token);
  }

  /** Returns why a request is rejected; undefined if it is allowed. Synchronous if the Host header is already known. */
  check(request: IncomingMessage): Refusal | undefined | Promise<Refusal | undefined> {
    const { host = "", origin, authorization } = request.headers;
    const isKnown = origin === undefined && this.#known.has(host);
    return isKnown ? this.#checkToken(authorization) : this.#checkNames(request);
  }

  async #checkNames({ headers, socket }: IncomingMessage): Promise<Refusal | undefined> {
    const { host = "", origin, authorization } = headers;
    // Loaded on demand, because it imports the protocol's schemas.
    const { validateHostHeader, validateOriginHeader } = await import("@modelcontextprotocol/server");
    const { hosts, origins } = this.#options;
    const named = validateHostHeader(host, [...hosts, hostName(socket.localAddress?.replace(/^::ffff:/, "") ?? "")]);
    if (!named.ok) {
      const why = "to allow this host, start the endpoint with --allow-host";
      return refusal(403, `${named.message}: ${why}.`);
    }
    const page = validateOriginHeader(origin, [...origins]);
    if (!page.ok) return refusal(403, `${page.message}: pages from this origin are not allowed.`);
    if (this.#known.size < MAX_KNOWN) this.#known.add(host);
    return this.#checkToken(authorization);
  }

  #checkToken(authorization: string | undefined): Refusal | undefined {
    if (this.#tokenDigest === undefined) return undefined;
    const given = /^bearer +(\S+) *$/i.exec(authorization ?? "")?.[1];
    if (given !== undefined && timingSafeEqual(digest(given), this.#tokenDigest)) return undefined;
    const challenge = given === undefined ? "Bearer" : 'Bearer error="invalid_token"';
    return refusal(401, "The endpoint requires a valid bearer token.", { "www-authenticate": challenge });
  }
}

/** Digests have equal length, which constant-time comparison requires. */
function digest(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
