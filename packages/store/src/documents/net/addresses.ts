// Decides which addresses a download can reach. Rejects everything that is not clearly public, so a URL from a page or
// a model cannot fetch content from an internal service.
import { BlockList, isIP, isIPv6 } from "node:net";

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

/** Extracts the IPv4 address from `::ffff:a.b.c.d` in any of its spellings. */
function mappedIpv4(address: string): string | undefined {
  // The URL parser normalizes every spelling: ::ffff:7f00:1.
  const canonical = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const match = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(canonical);
  if (match === null) return undefined;
  const [high, low] = [Number.parseInt(match[1] as string, 16), Number.parseInt(match[2] as string, 16)];
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}
