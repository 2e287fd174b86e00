// A broker for the client of this process alone, without a socket: for a relay whose broker has ended when no other can
// be started. The client's session goes on here.
import { type Duplex, duplexPair } from "node:stream";
import { silentLogger } from "@trunkline/core";
import { type BrokerPlace, BrokerServer, type ClientHello } from "@trunkline/daemon";
import { admit } from "./broker-process.js";
import { WarmParts } from "./warm-parts.js";
import { Workspaces } from "./workspace.js";

/** Never, for practical purposes: this broker ends with its client. */
const IDLE_MS = 2 ** 31 - 1;

/** Returns a connection to a new broker in this process, and how to close the broker. */
export function openOwnBroker(
  place: BrokerPlace,
  { version, build, home }: Pick<ClientHello, "version" | "build"> & { readonly home: string },
): { connection: Duplex; close: () => Promise<void> } {
  const parts = new WarmParts(silentLogger);
  const workspaces = new Workspaces({ home, shared: parts, idleMs: IDLE_MS });
  const server = new BrokerServer({
    place,
    version,
    build,
    host: {
      admit: async (hello) => await admit(hello, workspaces),
      run: () => Promise.reject(new Error("this broker serves one client")),
      status: async () => ({}),
      close: async () => {
        await workspaces.close();
        await parts.close();
      },
    },
    logger: silentLogger,
    idleMs: IDLE_MS,
    onDone: () => {},
  });
  const [connection, accepted] = duplexPair();
  server.accept(accepted, "known");
  return { connection, close: () => server.stop("its client has left") };
}
