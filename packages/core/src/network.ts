// For URLs that come from a page, a model or a server: decides which addresses they can reach, and connects to exactly
// the address that was checked. Everything that is not clearly public counts as private, so such a URL cannot reach an
// internal service unless the caller allows it.
import { lookup } from "node:dns/promises";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { BlockList, isIP, isIPv6, type LookupFunction } from "node:net";
import { messageOf, systemCodeOf, TrunklineError } from "./errors.js";

const refused = new BlockList();
for (const [network, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
] as const) {
  refused.addSubnet(network, prefix, "ipv4");
}
// Public IPv6 is 2000::/3. The rest (loopback, unique local, link-local, multicast, mapped, NAT64) is not public.
// Within 2000::/3, documentation, benchmarking, Teredo and 6to4, which embeds an IPv4 address, are rejected too.
for (const [network, prefix] of [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
] as const) {
  refused.addSubnet(network, prefix, "ipv6");
}
const publicIpv6 = new BlockList();
publicIpv6.addSubnet("2000::", 3, "ipv6");

/** Whether a resolved address is public. */
export function isPublicAddress(address: string): boolean {
  const bare = address.replace(/%.*$/, "");
  if (isIP(bare) === 0) return false;
  if (!isIPv6(bare)) return !refused.check(bare, "ipv4");
  const mapped = mappedIpv4(bare);
  if (mapped !== undefined) return isPublicAddress(mapped);
  return publicIpv6.check(bare, "ipv6") && !refused.check(bare, "ipv6");
}

/**
 * Where an address is: on the internet, in a private network, on this machine, or somewhere no service of a user is
 * (link-local addresses, where clouds publish credentials, and everything that is not a host's address).
 */
export type AddressZone = "public" | "private" | "loopback" | "other";

export function addressZone(address: string): AddressZone {
  const bare = address.replace(/%.*$/, "");
  if (isPublicAddress(bare)) return "public";
  const plain = isIPv6(bare) ? (mappedIpv4(bare) ?? bare) : bare;
  if (isIP(plain) === 0) return "other";
  const family = isIPv6(plain) ? "ipv6" : "ipv4";
  if (loopback.check(plain, family)) return "loopback";
  return privateNetworks.check(plain, family) && !cloudMetadata.check(plain, family) ? "private" : "other";
}

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");
const privateNetworks = new BlockList();
for (const [network, prefix] of [
  ["10.0.0.0", 8],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
  ["100.64.0.0", 10],
] as const) {
  privateNetworks.addSubnet(network, prefix, "ipv4");
}
privateNetworks.addSubnet("fc00::", 7, "ipv6");
/** Where clouds publish credentials, other than at a link-local address. */
const cloudMetadata = new BlockList();
cloudMetadata.addAddress("100.100.100.200", "ipv4");
cloudMetadata.addSubnet("fd00:ec2::", 32, "ipv6");

/** Returns all addresses of a host name. */
export type ResolveHost = (host: string) => Promise<readonly string[]>;

/** The system resolver. */
const resolveByName: ResolveHost = async (host) => (await lookup(host, { all: true })).map((found) => found.address);

/** Returns all addresses of a URL's host. The URL parser has already normalized unusual spellings of an address. */
export async function addressesOf(url: URL, resolve: ResolveHost = resolveByName): Promise<readonly string[]> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) !== 0) return [host];
  try {
    return await resolve(host);
  } catch (error) {
    const reason = systemCodeOf(error) ?? messageOf(error);
    throw new TrunklineError("CONNECTION_FAILED", `Cannot resolve host ${host} (${reason}).`, { cause: error });
  }
}

interface AddressedRequest {
  /** The address to connect to; another lookup could return a different one. */
  readonly address: string;
  readonly method?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
}

/** Sends one request to an address of the URL's host. Follows no redirect; resolves before the body is read. */
export function requestAt(url: URL, request: AddressedRequest): Promise<IncomingMessage> {
  const { address, method = "GET", headers, body, signal } = request;
  const pinned: LookupFunction = (_host, options, callback) => {
    const family = isIP(address);
    if (options.all) callback(null, [{ address, family }]);
    else callback(null, address, family);
  };
  const make = url.protocol === "https:" ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const options = { method, headers: { ...headers }, lookup: pinned, agent: false };
    const sent = make(url, signal === undefined ? options : { ...options, signal }, resolve);
    sent.once("error", reject);
    sent.end(body);
  });
}

/** Extracts the IPv4 address from `::ffff:a.b.c.d` in any of its spellings. */
function mappedIpv4(address: string): string | undefined {
  // The URL parser normalizes every spelling: ::ffff:7f00:1.
  const canonical = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const match = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(canonical);
  if (match === null) return undefined;
  const [high, low] = [Number.parseInt(match[1] as string, 16), Number.parseInt(match[2] as string, 16)];
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}
