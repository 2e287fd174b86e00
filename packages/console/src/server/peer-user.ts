// Whose program is at the other end of a connection on loopback. Linux only: other systems do not say.
import { readFile } from "node:fs/promises";

/** The two ends of a connection, as the client sees them. */
export interface Ends {
  readonly clientPort: number;
  readonly serverPort: number;
}

/** 127.0.0.1, in an IPv4 and in an IPv6 table. */
const LOOPBACK = ["0100007F", "0000000000000000FFFF00000100007F"];
const TABLES = ["/proc/net/tcp", "/proc/net/tcp6"];

/** Returns the id of the user whose program has connected; undefined if the system does not say. */
export async function peerUser(ends: Ends): Promise<number | undefined> {
  for (const table of TABLES) {
    const text = await readFile(table, "latin1").catch(() => "");
    const user = userIn(text, ends);
    if (user !== undefined) return user;
  }
  return undefined;
}

/** Finds the client's end of a connection in a table of the kernel. */
export function userIn(table: string, { clientPort, serverPort }: Ends): number | undefined {
  const portOf = (port: number) => port.toString(16).toUpperCase().padStart(4, "0");
  for (const line of table.split("\n")) {
    const [, local = "", remote = "", , , , , user] = line.trim().split(/\s+/);
    const isIt = LOOPBACK.some(
      (address) => local === `${address}:${portOf(clientPort)}` && remote === `${address}:${portOf(serverPort)}`,
    );
    if (isIt && user !== undefined) return Number(user);
  }
  return undefined;
}
