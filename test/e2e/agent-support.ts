// Helpers for the tests of `ask`, `agent` and `chat`.
import { Place } from "./command.js";
import { everythingServer, testServer } from "./server-entries.js";

/** Creates a place with servers, and with no model except the one a test names. */
export function placeWithServers(servers: Record<string, object> = {}): Place {
  const all = { everything: everythingServer, hello: testServer("hello"), ...servers };
  return new Place({ ".trunkline/mcp.json": { mcpServers: all } }, { TRUNKLINE_TRUST: "all" });
}

/** Builds the lines of a script for the provider `echo`. */
export function script(...turns: readonly object[]): string {
  return turns.map((turn) => `${JSON.stringify(turn)}\n`).join("");
}
