// Receives the browser's redirect after a sign-in, with a listener on this machine for that one sign-in.
import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { systemCodeOf } from "@trunkline/core";

interface LoopbackOptions {
  /** The registered redirect URL; its port is used if free. */
  preferred?: string;
  /** Use only the preferred URL, because it was registered by hand. */
  fixed?: boolean;
  /**
   * Receives the redirect's parameters. Return false if the redirect was not meant for us; the listener keeps waiting.
   */
  onRedirect: (params: URLSearchParams) => boolean;
}

interface Loopback extends AsyncDisposable {
  readonly redirectUri: string;
}

const PATH = "/callback";

/** Listens on 127.0.0.1. Dispose of it when the sign-in is over. */
export async function listenOnLoopback(options: LoopbackOptions): Promise<Loopback> {
  const { preferred, fixed = false, onRedirect } = options;
  const wanted = preferred === undefined ? undefined : new URL(preferred);
  const path = wanted?.pathname ?? PATH;
  const server = createServer({ keepAlive: false }, (request, response) => {
    const url = urlOf(request.url ?? "/");
    if (request.method !== "GET" || url?.pathname !== path) return answer(response, 404, "Nothing here.");
    if (!onRedirect(url.searchParams)) return answer(response, 400, "This does not belong to the pending sign-in.");
    // There are no tokens yet, so the page promises nothing.
    const text = url.searchParams.has("error") ? "The sign-in was refused." : "Thank you.";
    answer(response, 200, `${text} You can close this window.`);
  });
  await listen(server, Number(wanted?.port ?? 0), fixed);
  const { port } = server.address() as AddressInfo; // A TCP server's address is never a string.
  // A URL registered without a port stands for all ports.
  const redirectUri = wanted ?? new URL(`http://127.0.0.1${path}`);
  redirectUri.port = String(port);
  return {
    redirectUri: redirectUri.href,
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      // Let the current response finish, and close idle connections now.
      server.closeIdleConnections();
      const timer = setTimeout(() => server.closeAllConnections(), 500);
      await closed;
      clearTimeout(timer);
    },
  };
}

/** Any page can send requests here. Not every target is a URL: `//[` is not. */
function urlOf(target: string): URL | undefined {
  const base = "http://127.0.0.1";
  return URL.canParse(target, base) ? new URL(target, base) : undefined;
}

async function listen(server: Server, port: number, fixed: boolean): Promise<void> {
  try {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
  } catch (error) {
    const code = systemCodeOf(error);
    if (fixed || port === 0 || (code !== "EADDRINUSE" && code !== "EACCES")) throw error;
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
  }
}

/** Sends the page. It repeats nothing from the request. */
function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": "default-src 'none'",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    connection: "close",
  });
  response.end(`<!doctype html><meta charset="utf-8"><title>Trunkline</title><p>${text}</p>`);
}
