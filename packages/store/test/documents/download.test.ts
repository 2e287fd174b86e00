import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { contentIdOf } from "@trunkline/core";
import { isPublicAddress } from "@trunkline/core/network";
import { describe, expect, it, onTestFinished } from "vitest";
import { HANG_MS } from "../../../../test/support/hang.js";
import { seededRandom } from "../../../../test/support/seed.js";
import { fetchChecked } from "../../src/documents/net/fetch.js";
import { openStore } from "../../src/index.js";
import { temporaryStore } from "../support/temporary.js";

async function serve(listener: RequestListener, host = "127.0.0.1"): Promise<string> {
  const server = createServer(listener);
  server.listen(0, host);
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://${host}:${(server.address() as AddressInfo).port}`;
}

const LOCAL = { allowPrivateAddresses: true };

describe("addresses", () => {
  it.each([
    "127.0.0.1",
    "127.255.0.3",
    "10.1.2.3",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",
    "255.255.255.255",
    "224.0.0.1",
    "::",
    "::1",
    "fe80::1",
    "fe80::1%eth0",
    "fc00::1",
    "fd12:3456::1",
    "ff02::1",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "0:0:0:0:0:ffff:10.0.0.1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "2001:db8::1",
    "not an address",
  ])("%s is not public", (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each(["1.1.1.1", "172.32.0.1", "93.184.216.34", "2606:4700:4700::1111", "::ffff:1.1.1.1"])(
    "%s is public",
    (address) => {
      expect(isPublicAddress(address)).toBe(true);
    },
  );
});

describe("fetching", () => {
  const signal = AbortSignal.timeout(HANG_MS);

  it("checks the address again after a redirect", async () => {
    const url = await serve((_request, response) => {
      response.writeHead(302, { location: "http://127.0.0.2:1/secret" }).end();
    });
    const isAllowed = (address: string) => address === "127.0.0.1";
    await expect(fetchChecked({ url, headers: {}, signal, isAllowed })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      data: { address: "127.0.0.2" },
    });
  });

  it("connects to the checked address, even if the name resolves differently a moment later", async () => {
    const url = await serve((_request, response) => response.end("right"));
    const answers = ["127.0.0.1", "127.0.0.9"];
    const resolve = async () => [answers.shift() as string];
    const named = url.replace("127.0.0.1", "rebinding.test");
    const isAllowed = (address: string) => address === "127.0.0.1";
    const answer = await fetchChecked({ url: named, headers: {}, signal, isAllowed, resolve });
    expect(answer.status).toBe(200);
    expect(answers).toEqual(["127.0.0.9"]);
    answer.body.destroy();
  });

  it("rejects a name with one private address among public ones", async () => {
    const resolve = async () => ["1.1.1.1", "10.0.0.1"];
    const request = { url: "http://mixed.test/", headers: {}, signal, isAllowed: isPublicAddress, resolve };
    await expect(fetchChecked(request)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });
});

describe("download", () => {
  it("follows a redirect and stores the response with the URL as its path", async () => {
    const { store } = await temporaryStore();
    const base = await serve((request, response) => {
      if (request.url === "/old") response.writeHead(301, { location: "/new" }).end();
      else response.writeHead(200, { "content-type": "text/plain" }).end("pelican");
    });
    const checksum = `sha256:${contentIdOf("pelican")}`;
    const answer = await store.download({ url: `${base}/old`, checksum, tags: ["web"] }, LOCAL);
    expect(answer).toMatchObject({
      hash: contentIdOf("pelican"),
      size: 7,
      url: `${base}/new`,
      contentType: "text/plain",
    });
    expect(await store.search({ query: "pelican", tags: ["web"], type: "keyword" })).toMatchObject({ total: 1 });
  });

  it("rejects loopback in every spelling", async () => {
    const { store } = await temporaryStore();
    for (const host of [
      "127.0.0.1",
      "2130706433",
      "0x7f.1",
      "017700000001",
      "[::1]",
      "[::ffff:127.0.0.1]",
      "localhost",
    ]) {
      await expect(store.download({ url: `http://${host}:1/` }), host).rejects.toMatchObject({
        code: "INVALID_ARGUMENT",
      });
    }
  });

  it("rejects other protocols", async () => {
    const { store } = await temporaryStore();
    for (const url of ["file:///etc/passwd", "ftp://example.com/x", "nonsense"]) {
      await expect(store.download({ url }, LOCAL)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    }
  });

  it("stores nothing if the checksum is wrong or there are too many bytes", async () => {
    const { store } = await temporaryStore();
    const url = await serve((request, response) => {
      if (request.url === "/streamed") response.write("x".repeat(500));
      response.end("x".repeat(500));
    });
    await expect(store.download({ url, checksum: contentIdOf("else") }, LOCAL)).rejects.toMatchObject({ code: "IO" });
    for (const path of ["", "/streamed"]) {
      await expect(store.download({ url: url + path, maxBytes: 400 }, LOCAL)).rejects.toMatchObject({
        code: "INVALID_ARGUMENT",
      });
    }
    expect(await store.status()).toMatchObject({ totalObjects: 0, uniqueBlocks: 0 });
  });

  it("resumes after a restart where it was interrupted", async () => {
    const { store, path, folder } = await temporaryStore();
    const content = seededRandom().bytes(300_000);
    const ranges: (string | undefined)[] = [];
    const etag = `"${createHash("sha256").update(content).digest("hex")}"`;
    const url = await serve((request, response) => {
      const { range } = request.headers;
      ranges.push(range);
      if (range === undefined) {
        response.writeHead(200, { etag, "content-length": content.length });
        response.write(content.subarray(0, 100_000), () => response.destroy());
        return;
      }
      const start = Number(/bytes=(\d+)-/.exec(range)?.[1]);
      const head = { etag, "content-range": `bytes ${start}-${content.length - 1}/${content.length}` };
      response.writeHead(206, head).end(content.subarray(start));
    });
    await expect(store.download({ url }, LOCAL)).rejects.toMatchObject({ code: "CONNECTION_FAILED", retryable: true });
    await store.close();
    await using again = await openStore({ path, cwd: folder });
    const answer = await again.download({ url }, LOCAL);
    expect(answer.hash).toBe(contentIdOf(content));
    expect(answer.resumedBytes).toBeGreaterThan(0);
    expect(ranges).toEqual([undefined, `bytes=${answer.resumedBytes}-`]);
  });

  it("stops if the server is silent for too long, and immediately if cancelled", async () => {
    const { store } = await temporaryStore();
    const url = await serve(() => {});
    await expect(store.download({ url, timeoutMs: 50 }, LOCAL)).rejects.toMatchObject({ code: "TIMEOUT" });
    const controller = new AbortController();
    const work = store.download({ url }, { ...LOCAL, signal: controller.signal });
    controller.abort();
    await expect(work).rejects.toMatchObject({ code: "ABORTED" });
  });
});
