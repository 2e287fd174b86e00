// Where the browser comes back to after a sign-in: a listener on this machine, for one sign-in, gone when it ends.
import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { systemCodeOf } from "@trunkline/core";

/** How the listener is set up. */
interface LoopbackOptions {
  /** The redirect address that is registered; its port is taken if it is free. */
  preferred?: string | undefined;
  /** Only the preferred address will do: somebody registered it by hand. */
  fixed?: boolean;
  /** What the browser was sent back with. False: it was not meant for us, and the listener goes on waiting. */
  onRedirect: (params: URLSearchParams) => boolean;
}

/** A listener that waits for the browser. */
interface Loopback extends AsyncDisposable {
  readonly redirectUri: string;
}

const PATH = "/callback";

/** Listens on 127.0.0.1. Dispose of it when the sign-in has ended, however it did. */
export async function listenOnLoopback(options: LoopbackOptions): Promise<Loopback> {
  const { preferred, fixed = false, onRedirect } = options;
  const wanted = preferred === undefined ? undefined : new URL(preferred);
  const path = wanted?.pathname ?? PATH;
  const server = createServer({ keepAlive: false }, (request, response) => {
    const url = new URL(request.url ?? "/", "http://127.0.0.1");
    if (request.method !== "GET" || url.pathname !== path) return answer(response, 404, "There is nothing here.");
    if (!onRedirect(url.searchParams))
      return answer(response, 400, "This does not belong to the sign-in that is waiting.");
    // Whether the tokens come is not known yet, so the page promises nothing.
    const text = url.searchParams.has("error") ? "The sign-in was refused." : "Thank you.";
    answer(response, 200, `${text} You can close this window and go back to where you came from.`);
  });
  await listen(server, Number(wanted?.port ?? 0), fixed);
  const { port } = server.address() as AddressInfo; // A TCP server's address is never a string.
  // An address registered without a port stands for all of them.
  const redirectUri = wanted ?? new URL(`http://127.0.0.1${path}`);
  redirectUri.port = String(port);
  return {
    redirectUri: redirectUri.href,
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      // Let the page that is being answered go out; everything that only idles goes now.
      server.closeIdleConnections();
      const timer = setTimeout(() => server.closeAllConnections(), 500);
      await closed;
      clearTimeout(timer);
    },
  };
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

/** Nothing of the request is repeated in the page. */
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
