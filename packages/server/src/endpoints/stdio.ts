import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Logger } from "@trunkline/core";
import { createServer, type ServerInfo } from "../surface/create-server.js";

/** What the stdio endpoint needs. */
export interface StdioEndpointOptions {
  info: ServerInfo;
  logger: Logger;
  /** Aborting it ends the connection. */
  signal?: AbortSignal;
}

/** Serves both protocol eras on this process's stdin and stdout. Resolves when the client has gone. */
export async function serveOnStdio(options: StdioEndpointOptions): Promise<void> {
  const { info, logger, signal } = options;
  const transport = new StdioServerTransport();
  await new Promise<void>((resolve) => {
    const handle = serveStdio(() => createServer(info), {
      transport: closeObserved(transport, resolve),
      onerror: (error) => logger.warn("protocol error", { error }),
    });
    const stop = () => void handle.close().finally(resolve);
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}

/** The SDK owns `onclose` of a transport it is given, so the end of the input is seen at `close` and at stdin itself. */
function closeObserved(transport: StdioServerTransport, onClosed: () => void): StdioServerTransport {
  process.stdin.once("end", onClosed);
  process.stdin.once("close", onClosed);
  return transport;
}
