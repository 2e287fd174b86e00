import type { CommandContext } from "../context.js";

/** The revision that the line to try speaks. */
const LATEST = "2026-07-28";

/** Options of `trunkline serve`. */
export interface ServeOptions {
  http?: boolean;
  port: number;
  host: string;
}

/** Serves until the client goes (stdio) or the process is asked to stop; being asked to stop is a success. */
export async function serve(context: CommandContext, options: ServeOptions): Promise<void> {
  const { logger, signal, version } = context;
  const info = { name: "trunkline", version };
  if (!options.http) {
    const { serveOnStdio } = await import("@trunkline/server/stdio");
    await serveOnStdio({ info, logger, signal });
    return;
  }
  const { listenHttp } = await import("@trunkline/server/http");
  await using endpoint = await listenHttp({ info, logger, host: options.host, port: options.port });
  context.note(welcome(endpoint.url, version));
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

function welcome(url: string, version: string): string {
  return `trunkline ${version} is listening at ${url}

  serves     the tool mcp.echo, to clients of every protocol revision
  for agents { "mcpServers": { "trunkline": { "type": "http", "url": "${url}" } } }
  try it     ${tryLine(url)}

Ctrl-C stops it.`;
}

/** One request of the stateless revision, which needs no session: the only kind that fits on one line. */
function tryLine(url: string): string {
  const meta = { "io.modelcontextprotocol/protocolVersion": LATEST, "io.modelcontextprotocol/clientCapabilities": {} };
  const params = { name: "mcp.echo", arguments: { message: "hello" }, _meta: meta };
  const headers = [
    "content-type: application/json",
    `mcp-protocol-version: ${LATEST}`,
    "mcp-method: tools/call",
    "mcp-name: mcp.echo",
  ];
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
  return `curl -s ${url} ${headers.map((header) => `-H '${header}'`).join(" ")} -d '${body}'`;
}
