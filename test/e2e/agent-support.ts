// Shared by the tests of `ask`, `agent` and `chat`.
import { Place } from "./command.js";
import { everythingServer, testServer } from "./server-entries.js";

/** A place with servers, and no model except the one a test names. */
export function placeWithServers(servers: Record<string, object> = {}): Place {
  const all = { everything: everythingServer, hello: testServer("hello"), ...servers };
  return new Place({ ".trunkline/mcp.json": { mcpServers: all } }, { TRUNKLINE_TRUST: "all" });
}

/** The lines of a script for the provider `echo`. */
export function script(...turns: readonly object[]): string {
  return turns.map((turn) => `${JSON.stringify(turn)}\n`).join("");
}
