// What a request over HTTP brings along, and whether it may. A page in a browser can reach loopback, by a name of its own
// (DNS rebinding) or across origins: Host and Origin give it away, whatever the address that is listened on. Beyond loopback
// there is a token besides.
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { hostName } from "./http-address.js";
import { type Refusal, refusal } from "./http-replies.js";

/** Why the headers of a POST cannot be served; undefined where they can. */
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

/** Why a GET cannot be served; undefined where it can. */
export function checkGetHeaders({ headers }: IncomingMessage): Refusal | undefined {
  if (accepts(headers.accept ?? "*/*", "text/event-stream")) return undefined;
  return refusal(406, "Not acceptable: the client has to accept text/event-stream.");
}

/** The text of a body; undefined where it is larger than it may be. Rejects where the client goes meanwhile. */
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
      if (!request.complete) reject(new Error("The client went before its request was read."));
    });
  });
}

function accepts(header: string, type: string): boolean {
  if (header.includes(type) || header.includes("*/*")) return true;
  return header.includes(`${type.slice(0, type.indexOf("/"))}/*`);
}

/** What is let in. */
interface GuardOptions {
  /** Names without ports, IPv6 in brackets. The address at which a request arrives is one anyway. */
  readonly hosts: readonly string[];
  /** Names of the pages that may call from a browser. */
  readonly origins: readonly string[];
  readonly token: string | undefined;
}

/** How many spellings of Host are remembered. */
const MAX_KNOWN = 64;

/** Checks requests. */
export class HttpGuard {
  readonly #options: GuardOptions;
  readonly #tokenDigest: Buffer | undefined;
  /** Headers that have been found good: the check itself parses an address. */
  readonly #known = new Set<string>();

  constructor(options: GuardOptions) {
    this.#options = options;
    this.#tokenDigest = options.token === undefined ? undefined : digest(options.token);
  }

  /** Why a request is turned away; undefined where it is let in, at once where nothing about it is new. */
  check(request: IncomingMessage): Refusal | undefined | Promise<Refusal | undefined> {
    const { host = "", origin, authorization } = request.headers;
    const isKnown = origin === undefined && this.#known.has(host);
    return isKnown ? this.#checkToken(authorization) : this.#checkNames(request);
  }

  async #checkNames({ headers, socket }: IncomingMessage): Promise<Refusal | undefined> {
    const { host = "", origin, authorization } = headers;
    // Loaded when first needed: it brings the protocol's schemas along.
    const { validateHostHeader, validateOriginHeader } = await import("@modelcontextprotocol/server");
    const { hosts, origins } = this.#options;
    const named = validateHostHeader(host, [...hosts, hostName(socket.localAddress?.replace(/^::ffff:/, "") ?? "")]);
    if (!named.ok) {
      const why = "the endpoint does not answer to this name, unless it is started with --allow-host";
      return refusal(403, `${named.message}: ${why}.`);
    }
    const page = validateOriginHeader(origin, [...origins]);
    if (!page.ok) return refusal(403, `${page.message}: pages of this origin are not let in.`);
    if (this.#known.size < MAX_KNOWN) this.#known.add(host);
    return this.#checkToken(authorization);
  }

  #checkToken(authorization: string | undefined): Refusal | undefined {
    if (this.#tokenDigest === undefined) return undefined;
    const given = /^bearer +(\S+) *$/i.exec(authorization ?? "")?.[1];
    if (given !== undefined && timingSafeEqual(digest(given), this.#tokenDigest)) return undefined;
    const challenge = given === undefined ? "Bearer" : 'Bearer error="invalid_token"';
    return refusal(401, "The endpoint needs its bearer token.", { "www-authenticate": challenge });
  }
}

/** Digests have one length, which comparing in constant time needs. */
function digest(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
