// Sends the requests of a sign-in. The server decides where its sign-in happens, so each URL is checked first: it must
// be https (or on this machine), and a server on the internet must not lead to addresses that only this machine can
// reach. URLs from the configuration are the user's own choice.
import type { IncomingMessage } from "node:http";
import type { FetchLike } from "@modelcontextprotocol/client";
import type { HttpServer } from "@trunkline/config";
import { redactedUrl, TrunklineError } from "@trunkline/core";
import type { AddressZone, ResolveHost } from "@trunkline/core/network";

/** Where a sign-in may lead, depending on where its server is. */
const REACHABLE: Readonly<Record<AddressZone, readonly AddressZone[]>> = {
  public: ["public"],
  private: ["public", "private"],
  loopback: ["public", "private", "loopback"],
  other: ["public"],
};

const MAX_ANSWER_BYTES = 1_000_000;
const MAX_REDIRECTS = 5;

export class SignInGuard {
  readonly #definition: HttpServer;
  readonly #serverUrl: URL;
  readonly #resolve: ResolveHost | undefined;
  /** Origins that come from the configuration. */
  readonly #configured: Set<string>;
  /** Whether the server's name has ever had a public address: it cannot become private later. */
  #wasPublic = false;

  constructor(definition: HttpServer, resolve?: ResolveHost) {
    this.#definition = definition;
    this.#serverUrl = new URL(definition.url);
    this.#resolve = resolve;
    const { issuer } = definition.auth ?? {};
    this.#configured = new Set([
      this.#serverUrl.origin,
      ...(issuer !== undefined && URL.canParse(issuer) ? [new URL(issuer).origin] : []),
    ]);
  }

  /** Treats endpoints like the configuration, because the issuer named there announces them. */
  trust(endpoints: readonly string[]): void {
    for (const endpoint of endpoints) if (URL.canParse(endpoint)) this.#configured.add(new URL(endpoint).origin);
  }

  /** Returns the address to connect to. Rejects with `PROTOCOL` if the sign-in must not lead there. */
  async check(url: URL): Promise<string> {
    if (url.protocol !== "https:" && url.protocol !== "http:")
      throw this.#refusal(url, "is not a web page", "Please tell its operator.");
    const isConfigured = this.#configured.has(url.origin);
    const serverZone = isConfigured ? undefined : await this.#serverZone();
    const { addressesOf, addressZone } = await network();
    const addresses = await addressesOf(url, this.#resolve);
    const zones = addresses.map(addressZone);
    const [address] = addresses;
    if (address === undefined)
      throw new TrunklineError("CONNECTION_FAILED", `Cannot resolve host ${url.hostname}.`, { retryable: false });
    if (url.origin === this.#serverUrl.origin) this.#wasPublic ||= zones.includes("public");
    const isPlainAllowed = (zone: AddressZone) => zone === "loopback" || (isConfigured && zone === "private");
    const hint = `If that is its authorization server, set "issuer" under "auth" in the entry of "${this.#definition.name}".`;
    if (serverZone !== undefined) {
      const strange = addresses.find((_, at) => !REACHABLE[serverZone].includes(zones[at] ?? "other"));
      if (strange !== undefined)
        throw this.#refusal(url, `is at ${strange}, a kind of address that this server may not use for sign-ins`, hint);
    }
    if (url.protocol === "http:" && !zones.every(isPlainAllowed))
      throw this.#refusal(url, "is not https, so the tokens could be read in transit", `Use https. ${hint}`);
    return address;
  }

  /** Where the server is. A name with a single public address is public. */
  async #serverZone(): Promise<AddressZone> {
    const { addressesOf, addressZone } = await network();
    const zones = (await addressesOf(this.#serverUrl, this.#resolve)).map(addressZone);
    this.#wasPublic ||= zones.length === 0 || zones.includes("public");
    if (this.#wasPublic) return "public";
    return zones.find((zone) => zone !== "loopback") ?? "loopback";
  }

  #refusal(url: URL, problem: string, hint: string): TrunklineError {
    const { name } = this.#definition;
    return new TrunklineError(
      "PROTOCOL",
      `The sign-in of "${name}" leads to ${redactedUrl(url.href)}, which ${problem}.`,
      {
        hint,
        data: { cause: "unauthorized" },
        retryable: false,
      },
    );
  }

  /** Like the global `fetch`, but checks every address. Sends the entry's own headers only to its server. */
  readonly fetch: FetchLike = async (input, init = {}) => {
    let request = new Request(input, { ...init, signal: null });
    const { redirect = "follow", signal } = init;
    for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
      const url = new URL(request.url);
      const body = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer());
      const response = await this.#send(url, { request, body, signal: signal ?? undefined });
      const location = response.headers.get("location");
      if (response.status < 300 || response.status > 399 || location === null || redirect === "manual") return response;
      const next = URL.canParse(location, url.href) ? new URL(location, url) : undefined;
      const isRepeatable =
        request.method === "GET" ||
        ((response.status === 307 || response.status === 308) && next?.origin === url.origin);
      if (redirect === "error" || next === undefined || !isRepeatable)
        throw this.#refusal(
          url,
          "redirects a request that must not be repeated elsewhere",
          "Please tell its operator.",
        );
      const { method, headers } = request;
      request = new Request(next, { method, headers, body });
    }
    throw this.#refusal(new URL(request.url), "redirects too often", "Please tell its operator.");
  };

  async #send(
    url: URL,
    { request, body, signal }: { request: Request; body: Uint8Array | undefined; signal: AbortSignal | undefined },
  ): Promise<Response> {
    const address = await this.check(url);
    const own = url.origin === this.#serverUrl.origin ? this.#definition.headers : {};
    const headers = new Headers({ accept: "*/*", "user-agent": "trunkline", ...own });
    for (const [name, value] of request.headers) headers.set(name, value);
    headers.set("accept-encoding", "identity");
    try {
      const { requestAt } = await network();
      const answer = await requestAt(url, {
        address,
        method: request.method,
        headers: Object.fromEntries(headers),
        body,
        signal,
      });
      return await this.#responseOf(url, answer);
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (error instanceof TrunklineError) throw error;
      // Network failures look as they do in `fetch`.
      throw new TypeError("fetch failed", { cause: error });
    }
  }

  async #responseOf(url: URL, answer: IncomingMessage): Promise<Response> {
    const parts: Uint8Array[] = [];
    let size = 0;
    for await (const part of answer as AsyncIterable<Uint8Array>) {
      size += part.length;
      if (size > MAX_ANSWER_BYTES) {
        answer.destroy();
        throw this.#refusal(url, `answers with more than ${MAX_ANSWER_BYTES} bytes`, "Please tell its operator.");
      }
      parts.push(part);
    }
    const headers = new Headers();
    for (const [name, value] of Object.entries(answer.headersDistinct))
      for (const each of value ?? []) headers.append(name, each);
    const status = answer.statusCode ?? 0;
    const isEmpty = status === 204 || status === 205 || status === 304;
    return new Response(isEmpty ? null : Buffer.concat(parts), { status, headers });
  }
}

/** Loaded with the first request: most commands sign in to nothing, and Node's HTTP modules take time to load. */
function network(): Promise<typeof import("@trunkline/core/network")> {
  return import("@trunkline/core/network");
}
