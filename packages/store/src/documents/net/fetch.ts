// HTTP for downloads: follows redirects one by one and connects only to checked addresses.
import { lookup } from "node:dns/promises";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { messageOf, systemCodeOf, TrunklineError } from "@trunkline/core";

interface FetchRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Whether the request may connect to an address. */
  readonly isAllowed: (address: string) => boolean;
  /** All addresses of a host name. Default: the system resolver. */
  readonly resolve?: (host: string) => Promise<readonly string[]>;
}

/** A response whose body has not been read. */
export interface FetchAnswer {
  readonly url: string;
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: IncomingMessage;
}

const MAX_REDIRECTS = 10;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** The only headers that follow a redirect to another origin: any other can be a credential, whatever its name. */
const HARMLESS_HEADERS = /^(?:accept|accept-encoding|accept-language|if-range|range|user-agent)$/i;

/** Fetches a URL and follows redirects. Throws `INVALID_ARGUMENT` for an address that is not allowed. */
export async function fetchChecked(request: FetchRequest): Promise<FetchAnswer> {
  let url = parseUrl(request.url);
  let headers = { ...request.headers };
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const answer = await send(url, { ...request, headers });
    const { location } = answer.headers;
    if (!REDIRECTS.has(answer.statusCode ?? 0) || location === undefined) {
      return { url: url.href, status: answer.statusCode ?? 0, headers: answer.headers, body: answer };
    }
    answer.destroy();
    const next = parseUrl(new URL(location, url).href);
    if (next.origin !== url.origin) {
      headers = Object.fromEntries(Object.entries(headers).filter(([name]) => HARMLESS_HEADERS.test(name)));
    }
    url = next;
  }
  throw new TrunklineError("CONNECTION_FAILED", `${request.url} redirects more than ${MAX_REDIRECTS} times.`, {
    retryable: false,
  });
}

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol)) {
    throw new TrunklineError("INVALID_ARGUMENT", `"${text}" is not an http or https URL.`);
  }
  return url;
}

async function send(url: URL, request: FetchRequest): Promise<IncomingMessage> {
  const { headers, signal } = request;
  const address = await checkedAddress(url, request);
  // Connect to the exact address that was checked: a second lookup could return a different one.
  const pinned: LookupFunction = (_host, options, callback) => {
    const family = isIP(address);
    if (options.all) callback(null, [{ address, family }]);
    else callback(null, address, family);
  };
  const make = url.protocol === "https:" ? httpsRequest : httpRequest;
  return await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = make(
      url,
      { headers: { "user-agent": "trunkline", accept: "*/*", ...headers }, lookup: pinned, signal, agent: false },
      resolve,
    );
    sent.once("error", (error) => reject(connectionError(url, error, signal)));
    sent.end();
  });
}

/**
 * Returns the first address of the host name if all of them are allowed. The URL parser has already normalized unusual
 * spellings.
 */
async function checkedAddress(
  url: URL,
  { isAllowed, resolve = resolveByName }: Pick<FetchRequest, "isAllowed" | "resolve">,
): Promise<string> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  let addresses: readonly string[];
  try {
    addresses = isIP(host) === 0 ? await resolve(host) : [host];
  } catch (error) {
    throw new TrunklineError(
      "CONNECTION_FAILED",
      `Cannot resolve host ${host} (${systemCodeOf(error) ?? messageOf(error)}).`,
      {
        cause: error,
      },
    );
  }
  const forbidden = addresses.find((address) => !isAllowed(address));
  if (forbidden !== undefined) {
    throw new TrunklineError(
      "INVALID_ARGUMENT",
      `${url.href} resolves to ${forbidden}, which is not a public address.`,
      {
        hint: "Allow downloads from private addresses in the configuration.",
        data: { address: forbidden },
      },
    );
  }
  return addresses[0] as string;
}

async function resolveByName(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true })).map((found) => found.address);
}

/** Builds the connection error. The caller's abort reason takes precedence. */
export function connectionError(url: URL | string, error: unknown, signal: AbortSignal): TrunklineError {
  if (signal.aborted) {
    if (signal.reason instanceof TrunklineError) return signal.reason;
    return new TrunklineError("ABORTED", "The download was cancelled.", { cause: signal.reason });
  }
  return new TrunklineError("CONNECTION_FAILED", `Downloading ${String(url)} failed: ${messageOf(error)}`, {
    cause: error,
  });
}
