// Servers in this process, which no file describes.
import { withoutUndefined } from "@trunkline/core";
import { DEFAULT_CALL_TIMEOUT_MS, DEFAULT_CONNECT_TIMEOUT_MS, type EntrySettings } from "./entry-fields.js";
import type { InProcessServer } from "./loaded-config.js";

/**
 * Defines a server in this process, for the servers of a configuration:
 *
 * ```ts
 * const config = await loadConfig({ cwd: process.cwd() });
 * const clock = inProcessServer("clock", ({ send }) => ({ receive: (message) => send(answerTo(message)) }));
 * const hub = await openHub({ ...config, servers: [...config.servers, clock] });
 * ```
 *
 * The messages are those of MCP, from `server/discover` or `initialize` on.
 */
export function inProcessServer(
  name: string,
  start: InProcessServer["start"],
  settings: Partial<EntrySettings> = {},
): InProcessServer {
  return {
    ...{ type: "in-process", name, start, identity: `in-process:${name}` },
    ...{ file: "", scope: "explicit", dialect: "mcpServers", trusted: true },
    ...{ disabled: false, lazy: false },
    ...{ connectTimeoutMs: DEFAULT_CONNECT_TIMEOUT_MS, callTimeoutMs: DEFAULT_CALL_TIMEOUT_MS },
    ...withoutUndefined(settings),
  };
}
