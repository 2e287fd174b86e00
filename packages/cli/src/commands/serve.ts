import type { CommandContext } from "../context.js";

/** Options of `trunkline serve`. */
export interface ServeOptions {
  http?: boolean;
  port: number;
  host: string;
}

/** Serves until the client goes (stdio) or the process is asked to stop. */
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
  const body = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}';
  return `trunkline ${version} is listening at ${url}

  tools    mcp.echo
  eras     2024-11-05 … 2025-11-25 with sessions, 2026-07-28 stateless
  try it   ${body}

Ctrl-C stops it.`;
}
