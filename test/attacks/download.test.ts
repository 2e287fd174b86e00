// Downloads: the URL may come from a model, and the server may be hostile.
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryStore } from "../../packages/store/test/support/temporary.js";

const LOCAL = { allowPrivateAddresses: true };

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe("headers across a redirect to another origin", () => {
  it("download drops every header that could be a credential", async () => {
    const { store } = await temporaryStore();
    const received: Record<string, IncomingHttpHeaders> = {};
    const other = await serve((request, response) => {
      received[request.url ?? ""] = request.headers;
      response.end("x");
    });
    const first = await serve((request, response) => {
      const location = request.url?.startsWith("/start") ? `/again${request.url}` : `${other}${request.url}`;
      response.writeHead(307, { location }).end();
    });
    for (const name of [
      "Authorization",
      "Cookie",
      "Proxy-Authorization",
      "PRIVATE-TOKEN",
      "X-Api-Key",
      "X-Auth",
      "X-GitLab-Session",
      "JOB-TOKEN",
      "DPoP",
      "X-Vault",
      "Host",
      "x-ms-date",
    ]) {
      const headers = { [name]: "s3cret", "Accept-Language": "fr" };
      await store.download({ url: `${first}/start?${name}`, headers }, LOCAL);
      const sent = received[`/again/start?${name}`];
      expect(JSON.stringify(sent), name).not.toContain("s3cret");
      expect(sent?.["accept-language"]).toBe("fr");
    }
  });

  it("download sends them again on a redirect within the origin, and never after leaving it", async () => {
    const { store } = await temporaryStore();
    const seen: Record<string, string | undefined> = {};
    const note = (path: string, headers: IncomingHttpHeaders) => {
      seen[path] = headers["private-token"] as string | undefined;
    };
    let first = "";
    const other = await serve((request, response) => {
      note("/other", request.headers);
      response.writeHead(302, { location: `${first}/back` }).end();
    });
    first = await serve((request, response) => {
      note(request.url ?? "", request.headers);
      if (request.url === "/one") response.writeHead(302, { location: "/two" }).end();
      else if (request.url === "/two") response.writeHead(302, { location: `${other}/other` }).end();
      else response.end("x");
    });
    await store.download({ url: `${first}/one`, headers: { "PRIVATE-TOKEN": "t" } }, LOCAL);
    expect(seen).toEqual({ "/one": "t", "/two": "t", "/other": undefined, "/back": undefined });
  });
});

describe("the size of a download", () => {
  it("has a limit of 1 GB by default", async () => {
    const { store } = await temporaryStore();
    const url = await serve((_request, response) => {
      response.writeHead(200, { "content-length": "1000000001" });
      response.write("x");
    });
    await expect(store.download({ url }, LOCAL)).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      hint: expect.stringContaining("max_bytes"),
    });
  });

  it("is limited for a server that does not say how much it sends", async () => {
    const { store } = await temporaryStore();
    const url = await serve((_request, response) => {
      response.on("error", () => {});
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536))) {}
        if (!response.destroyed) response.once("drain", more);
      };
      more();
    });
    await expect(store.download({ url, maxBytes: 1_000_000 }, LOCAL)).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
    expect(await store.list()).toMatchObject({ total: 0 });
  });

  it("counts the bytes that arrive: a compressed answer is stored as it is", async () => {
    const { gzipSync } = await import("node:zlib");
    const { store } = await temporaryStore();
    const body = gzipSync(Buffer.alloc(20_000_000));
    const url = await serve((_request, response) => response.writeHead(200, { "content-encoding": "gzip" }).end(body));
    expect(await store.download({ url, maxBytes: 100_000 }, LOCAL)).toMatchObject({ size: body.length });
  });
});
