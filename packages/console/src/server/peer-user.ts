// Whose program is at the other end of a connection on loopback. Linux only: other systems do not say.
import { readFile } from "node:fs/promises";

/** The two ends of a connection, as the client sees them. */
interface Ends {
  /** A client chooses its address: all of 127.0.0.0/8 is this machine. */
  readonly clientAddress: string;
  readonly clientPort: number;
  readonly serverPort: number;
}

const SERVER_ADDRESS = "127.0.0.1";
const TABLES = ["/proc/net/tcp", "/proc/net/tcp6"];

/**
 * Returns the id of the user whose program has connected: undefined if the system does not say, "hidden" if it shows our
 * end of the connection but not theirs.
 */
export async function peerUser(ends: Ends): Promise<number | "hidden" | undefined> {
  const tables = await Promise.all(TABLES.map((table) => readFile(table, "latin1").catch(() => "")));
  return userIn(tables.join("\n"), ends);
}

/** Finds the client's end of a connection in the kernel's tables. */
export function userIn(tables: string, { clientAddress, clientPort, serverPort }: Ends): number | "hidden" | undefined {
  const clients = spellings(clientAddress, clientPort);
  const servers = spellings(SERVER_ADDRESS, serverPort);
  let isOurEndThere = false;
  for (const line of tables.split("\n")) {
    const [, local = "", remote = "", , , , , user] = line.trim().split(/\s+/);
    if (clients.includes(local) && servers.includes(remote) && user !== undefined) return Number(user);
    isOurEndThere ||= servers.includes(local) && clients.includes(remote);
  }
  return isOurEndThere ? "hidden" : undefined;
}

/** Returns an IPv4 address with its port as the IPv4 and the IPv6 table show it: bytes in hex, the last one first. */
function spellings(address: string, port: number): string[] {
  const hex = (number: number, digits: number) => number.toString(16).toUpperCase().padStart(digits, "0");
  const bytes = address
    .replace(/^::ffff:/, "")
    .split(".")
    .reverse();
  const shown = bytes.map((byte) => hex(Number(byte), 2)).join("");
  return [shown, `0000000000000000FFFF0000${shown}`].map((each) => `${each}:${hex(port, 4)}`);
}
