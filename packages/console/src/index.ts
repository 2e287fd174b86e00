/** The console's server: a page and a typed API on loopback. What it can do is injected. */
export type { ClientRow, ConsoleEvent, Overview } from "./contract/index.js";
export { ConsoleAccess, type SavedToken } from "./server/console-access.js";
export { type ConsoleHandlers, ConsoleServer, type RequestContext } from "./server/console-server.js";
