// HTTP for downloads: follows redirects one by one and connects only to checked addresses.
import type { IncomingMessage } from "node:http";
import { messageOf, TrunklineError } from "@trunkline/core";
import { addressesOf, type ResolveHost, requestAt } from "@trunkline/core/network";

interface FetchRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Whether the request may connect to an address. */
  readonly isAllowed: (address: string) => boolean;
  /** All addresses of a host name. Default: the system resolver. */
  readonly resolve?: ResolveHost;
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
  try {
    return await requestAt(url, { address, headers: { "user-agent": "trunkline", accept: "*/*", ...headers }, signal });
  } catch (error) {
    throw connectionError(url, error, signal);
  }
}

/** Returns the first address of the host name if all of them are allowed. */
async function checkedAddress(
  url: URL,
  { isAllowed, resolve }: Pick<FetchRequest, "isAllowed" | "resolve">,
): Promise<string> {
  const addresses = await addressesOf(url, resolve);
  const forbidden = addresses.find((address) => !isAllowed(address));
  if (forbidden !== undefined) {
    throw new TrunklineError(
      "INVALID_ARGUMENT",
      `${url.href} resolves to ${forbidden}, which is not a public address.`,
      {
        hint: 'If you trust it, use `--allow-private` at the terminal, or "download": {"allowPrivate": true} in your own settings.',
        data: { address: forbidden },
      },
    );
  }
  return addresses[0] as string;
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
