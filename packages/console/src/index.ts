/** The console's server: a page and a typed API on loopback. What it can do is injected. */
export type { ClientRow, ConsoleEvent, Overview } from "./contract/index.js";
export { ConsoleAccess, type ConsoleAccessOptions, type SavedToken } from "./server/console-access.js";
export {
  type ConsoleHandlers,
  ConsoleServer,
  type ConsoleServerOptions,
  type RequestContext,
} from "./server/console-server.js";
