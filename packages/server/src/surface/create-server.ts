// The MCP server that one client sees. The endpoints make one per connection (stdio, legacy sessions) or per request
// (the stateless revision), so building it has to stay cheap and hold no state of its own.
import { type CallToolResult, Server } from "@modelcontextprotocol/server";
import { callEcho, echoTool } from "./echo.js";

/** How the server introduces itself. */
export interface ServerInfo {
  name: string;
  version: string;
}

/** Makes the server for one connection. */
export function createServer(info: ServerInfo): Server {
  const server = new Server(info, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", () => ({ tools: [echoTool] }));
  server.setRequestHandler("tools/call", ({ params }) => {
    if (params.name === echoTool.name) return callEcho(params.arguments ?? {});
    return unknownTool(params.name);
  });
  return server;
}

function unknownTool(name: string): CallToolResult {
  const error = {
    code: "TOOL_NOT_FOUND",
    message: `There is no tool "${name}".`,
    hint: `The tools are: ${echoTool.name}.`,
  };
  return { content: [{ type: "text", text: JSON.stringify({ error }) }], structuredContent: { error }, isError: true };
}
