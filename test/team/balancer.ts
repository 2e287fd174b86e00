// A load balancer for tests: sends each request to the gateway that the test chooses, and knows nothing about MCP.
import { createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface Balancer {
  readonly url: string;
  /** Returns the URL of the gateway for the next request. */
  choose: () => string;
}

/** Starts a balancer. `legacyOnly` rejects the modern era, so that clients open sessions. */
export async function startBalancer(choose: () => string, { legacyOnly = false } = {}): Promise<Balancer> {
  const server = createServer((incoming, outgoing) => {
    if (legacyOnly && incoming.headers["mcp-protocol-version"] === "2026-07-28") {
      incoming.resume();
      outgoing.writeHead(400, { "content-type": "text/plain" }).end("Bad Request");
      return;
    }
    const target = new URL(balancer.choose());
    const { method, headers } = incoming;
    const forwarded = httpRequest(target, { method, headers: { ...headers, host: target.host } }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      outgoing.flushHeaders();
      answer.pipe(outgoing);
    });
    forwarded.on("error", () => outgoing.writeHead(502).end());
    outgoing.on("close", () => forwarded.destroy());
    incoming.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const balancer: Balancer = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, choose };
  return balancer;
}

/** Takes turns. */
export function roundRobin(urls: readonly string[]): () => string {
  let turn = 0;
  return () => urls[turn++ % urls.length] as string;
}
