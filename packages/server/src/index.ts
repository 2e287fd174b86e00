/**
 * The MCP server. The two endpoints are entry points of their own (`@trunkline/server/stdio`, `@trunkline/server/http`),
 * so that a process loads only the one it serves.
 */
export { createServer, type ServerInfo } from "./surface/create-server.js";
export { callEcho, echoTool } from "./surface/echo.js";
