// The address to listen on and the host names it accepts.
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { systemCodeOf, TrunklineError } from "@trunkline/core";

/** All addresses of this machine. */
export const WILDCARDS: readonly string[] = ["0.0.0.0", "[::]"];
export const LOOPBACK: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

/** Writes a host name or IP address as it appears in a URL: lower case, IPv6 in brackets and in short form. */
export function hostName(host: string): string {
  const bracketed = host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
  // The zone of a link-local address only has a meaning on this machine, and clients don't send it.
  const url = `http://${bracketed.replace(/%[^\]]*/, "")}`;
  return URL.canParse(url) ? new URL(url).hostname : host;
}

/** Resolves a name to an address, so that the server listens on the same address that was checked. */
export async function addressOf(host: string): Promise<string> {
  const bare = host.replace(/^\[|\]$/g, "");
  if (bare === "") throw new TrunklineError("USAGE", "The value of --host is empty.");
  if (isIP(bare.replace(/%.*$/, "")) !== 0) return bare;
  try {
    return (await lookup(bare)).address;
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === undefined) throw error;
    throw new TrunklineError("USAGE", `Cannot resolve host "${host}" (${code}).`, {
      cause: error,
      hint: "Set --host to an address or host name of this machine.",
    });
  }
}

/** Turns a listen error into one with a hint. */
export function listenError(error: Error, host: string, port: number): TrunklineError {
  if (systemCodeOf(error) === "EADDRINUSE") {
    return new TrunklineError("USAGE", `Port ${port} on ${host} is already in use.`, {
      cause: error,
      hint: "Choose another port with --port, or 0 for any free port.",
    });
  }
  if (systemCodeOf(error) === "EACCES") {
    return new TrunklineError("USAGE", `No permission to listen on port ${port}.`, {
      cause: error,
      hint: "Choose a port above 1023 with --port.",
    });
  }
  if (systemCodeOf(error) === "EADDRNOTAVAIL") {
    return new TrunklineError("USAGE", `${host} is not an address of this machine.`, {
      cause: error,
      hint: "Set --host to an address of this machine, or to 0.0.0.0 for all of them.",
    });
  }
  return new TrunklineError("IO", `Cannot listen on ${host}:${port}: ${error.message}`, { cause: error });
}
