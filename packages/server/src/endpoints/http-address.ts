// The address to listen on, and the names under which it may be called.
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { systemCodeOf, TrunklineError } from "@trunkline/core";

/** Every address of this machine. */
export const WILDCARDS: readonly string[] = ["0.0.0.0", "[::]"];
export const LOOPBACK: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

/** A name or address as it stands in an address: in small letters, IPv6 in brackets and in its short form. */
export function hostName(host: string): string {
  const bracketed = host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
  // The zone of a link-local address is of this machine, and nobody sends it.
  const url = `http://${bracketed.replace(/%[^\]]*/, "")}`;
  return URL.canParse(url) ? new URL(url).hostname : host;
}

/** The address that a name stands for: what is checked is then what is listened on. */
export async function addressOf(host: string): Promise<string> {
  const bare = host.replace(/^\[|\]$/g, "");
  if (bare === "") throw new TrunklineError("USAGE", "The address given with --host is empty.");
  if (isIP(bare.replace(/%.*$/, "")) !== 0) return bare;
  try {
    return (await lookup(bare)).address;
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === undefined) throw error;
    throw new TrunklineError("USAGE", `Cannot resolve host "${host}" (${code}).`, {
      cause: error,
      hint: "Give an address or a name of this machine with --host.",
    });
  }
}

/** Why listening failed, with what to do about it. */
export function listenError(error: Error, host: string, port: number): TrunklineError {
  if (systemCodeOf(error) === "EADDRINUSE") {
    return new TrunklineError("USAGE", `Port ${port} on ${host} is in use.`, {
      cause: error,
      hint: "Give another one with --port, or 0 for any that is free.",
    });
  }
  if (systemCodeOf(error) === "EACCES") {
    return new TrunklineError("USAGE", `Port ${port} needs more rights than this process has.`, {
      cause: error,
      hint: "Give a port above 1023 with --port.",
    });
  }
  if (systemCodeOf(error) === "EADDRNOTAVAIL") {
    return new TrunklineError("USAGE", `${host} is not an address of this machine.`, {
      cause: error,
      hint: "Give one of this machine with --host, or 0.0.0.0 for all of them.",
    });
  }
  return new TrunklineError("IO", `Cannot listen on ${host}:${port}: ${error.message}`, { cause: error });
}
