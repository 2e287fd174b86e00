// Validates HTTP requests. A web page can reach loopback under its own host name (DNS rebinding) or across origins, so
// Host and Origin are always checked, whatever the listen address. Other users of this machine can reach loopback too,
// so the token decides whose request it is.
import type { IncomingMessage } from "node:http";
import { hostName } from "./http-address.js";
import { type Refusal, refusal } from "./http-replies.js";
import { ANONYMOUS_PRINCIPAL, type Principals } from "./principals.js";

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

/** Limits what the unfinished bodies of each principal take up together. */
export class BodyBudget {
  readonly #maxBytes: number;
  readonly #bytes = new Map<string, number>();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Counts bytes that have arrived. Returns false if the principal has too many already. */
  take(principal: string, bytes: number): boolean {
    const taken = this.#bytes.get(principal) ?? 0;
    if (taken > 0 && taken + bytes > this.#maxBytes) return false;
    this.#bytes.set(principal, taken + bytes);
    return true;
  }

  release(principal: string, bytes: number): void {
    const left = (this.#bytes.get(principal) ?? 0) - bytes;
    if (left > 0) this.#bytes.set(principal, left);
    else this.#bytes.delete(principal);
  }
}

interface BodyLimits {
  readonly maxBytes: number;
  readonly principal: string;
  readonly budget: BodyBudget;
}

/** Reads a body as text, or returns why it is too large. Rejects if the client disconnects before the end. */
export function readBody(request: IncomingMessage, limits: BodyLimits): Promise<string | Refusal> {
  const { maxBytes, principal, budget } = limits;
  const tooLarge = () => refusal(413, `The body is larger than ${maxBytes} bytes.`);
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) return Promise.resolve(tooLarge());
  let chunks: Buffer[] | undefined = [];
  let size = 0;
  const release = () => {
    chunks = undefined;
    budget.release(principal, size);
    size = 0;
  };
  return new Promise<string | Refusal>((resolve, reject) => {
    request.on("data", (chunk: Buffer) => {
      if (chunks === undefined) return;
      if (size + chunk.length > maxBytes) {
        release();
        resolve(tooLarge());
      } else if (budget.take(principal, chunk.length)) {
        size += chunk.length;
        chunks.push(chunk);
      } else {
        release();
        resolve(refusal(429, "Too many requests are being received.", { "retry-after": "1" }));
      }
    });
    request.on("end", () => {
      if (chunks === undefined) return;
      const [first] = chunks;
      const body = chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
      release();
      resolve(body.toString("utf8"));
    });
    request.on("error", reject);
    request.on("close", () => {
      release();
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
  /** The tokens to accept; undefined if none is required. */
  readonly principals: Principals | undefined;
}

/** Maximum number of cached Host headers. */
const MAX_KNOWN = 64;

export class HttpGuard {
  readonly #options: GuardOptions;
  /** Host headers that passed the check, cached because the check parses a URL. */
  readonly #known = new Set<string>();

  constructor(options: GuardOptions) {
    this.#options = options;
  }

  /**
   * Returns why a request may not come from where it does; undefined if it may. Synchronous if the Host header is
   * already known.
   */
  check(request: IncomingMessage): Refusal | undefined | Promise<Refusal | undefined> {
    const { host = "", origin } = request.headers;
    return origin === undefined && this.#known.has(host) ? undefined : this.#checkNames(request);
  }

  /** Returns whose request it is, or why it is rejected. */
  identify({ headers }: IncomingMessage): string | Refusal {
    const { principals } = this.#options;
    if (principals === undefined) return ANONYMOUS_PRINCIPAL;
    const given = /^bearer +(\S+) *$/i.exec(headers.authorization ?? "")?.[1];
    const principal = given === undefined ? undefined : principals.identify(given);
    if (principal !== undefined) return principal;
    const what =
      given === undefined
        ? "This endpoint requires a token. Send it in the header Authorization: Bearer <token>."
        : "The token is unknown, revoked or expired.";
    // Names no authorization server, so clients with a fixed token do not start a sign-in.
    const challenge = { "www-authenticate": 'Bearer realm="trunkline"' };
    return refusal(401, principals.hint === undefined ? what : `${what} ${principals.hint}`, challenge);
  }

  async #checkNames({ headers, socket }: IncomingMessage): Promise<Refusal | undefined> {
    const { host = "", origin } = headers;
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
    return undefined;
  }
}
