import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { createEndpointEmbedder } from "../src/index.js";

interface Asked {
  url: string | undefined;
  headers: IncomingHttpHeaders;
  body: { model: string; input: string[]; dimensions?: number };
}

const KEY = "sk-a-very-secret-key";

/** An embeddings endpoint on a random port. Sends `answers` first, one per request; after that it works normally. */
class FakeEndpoint implements AsyncDisposable {
  readonly asked: Asked[] = [];
  answers: ((response: ServerResponse, asked: Asked) => void)[] = [];
  readonly #server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const asked = {
        url: request.url,
        headers: request.headers,
        body: JSON.parse(Buffer.concat(parts).toString("utf8")),
      };
      this.asked.push(asked);
      const answer = this.answers.shift() ?? works;
      answer(response, asked);
    });
  });

  async start(): Promise<this> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}

/** The vector of a text is its length and 1. Returned in reverse order, which the protocol allows. */
function works(response: ServerResponse, { body }: Asked): void {
  const data = body.input.map((text, index) => ({ index, embedding: [text.length, 1, 0].slice(0, body.dimensions) }));
  response.setHeader("content-type", "application/json").end(JSON.stringify({ data: data.reverse() }));
}

const refuses =
  (status: number, body: unknown = { error: { message: "no" } }, headers: Record<string, string> = {}) =>
  (response: ServerResponse) => {
    response.writeHead(status, headers).end(typeof body === "string" ? body : JSON.stringify(body));
  };

const open = (endpoint: FakeEndpoint, options: Partial<Parameters<typeof createEndpointEmbedder>[0]> = {}) =>
  createEndpointEmbedder({ url: endpoint.url, model: "m", apiKey: KEY, dimensions: 3, backoffMs: 1, ...options });

describe("the endpoint embedder", () => {
  it("sends texts in batches and returns normalized vectors in order", async () => {
    await using endpoint = await new FakeEndpoint().start();
    await using embedder = await open(endpoint);
    const texts = Array.from({ length: 150 }, (_, index) => "x".repeat(index));
    const vectors = await embedder.embed(texts);
    expect(endpoint.asked.map(({ body }) => body.input.length)).toEqual([64, 64, 22]);
    expect(vectors.map(([first = 0, second = 0]) => Math.round(first / second))).toEqual([
      // An empty text is sent as a space.
      1,
      ...texts.slice(1).map(({ length }) => length),
    ]);
    expect(Math.hypot(...(vectors[7] ?? []))).toBeCloseTo(1, 6);
    expect(endpoint.asked[0]).toMatchObject({
      url: "/v1/embeddings",
      headers: { authorization: `Bearer ${KEY}` },
      body: { model: "m", dimensions: 3 },
    });
  });

  it("sends long texts in smaller batches", async () => {
    await using endpoint = await new FakeEndpoint().start();
    await using embedder = await open(endpoint);
    await embedder.embed(Array.from({ length: 5 }, () => "x".repeat(90_000)));
    expect(endpoint.asked.map(({ body }) => body.input.length)).toEqual([2, 2, 1]);
  });

  it("detects the number of dimensions if none is given", async () => {
    await using endpoint = await new FakeEndpoint().start();
    await using embedder = await open(endpoint, { dimensions: undefined, url: `${endpoint.url}/embeddings` });
    expect(embedder.dimensions).toBe(3);
    expect(embedder.model).toBe(`${new URL(endpoint.url).host}/v1:m:3`);
    expect(endpoint.asked[0]?.body).not.toHaveProperty("dimensions");
  });

  it.each([429, 500, 503])("retries after %i", async (status) => {
    await using endpoint = await new FakeEndpoint().start();
    endpoint.answers = [refuses(status), refuses(status)];
    await using embedder = await open(endpoint);
    expect(await embedder.embed(["a"])).toHaveLength(1);
    expect(endpoint.asked).toHaveLength(3);
  });

  it("retries when the connection breaks", async () => {
    await using endpoint = await new FakeEndpoint().start();
    endpoint.answers = [(response) => void response.destroy()];
    await using embedder = await open(endpoint);
    expect(await embedder.embed(["a"])).toHaveLength(1);
  });

  it("waits for the time in Retry-After instead of its own delay", async () => {
    await using endpoint = await new FakeEndpoint().start();
    endpoint.answers = [
      refuses(429, {}, { "retry-after": "0" }),
      refuses(503, {}, { "retry-after": new Date(Date.now() - 5000).toUTCString() }),
    ];
    await using embedder = await open(endpoint, { backoffMs: 3_600_000 });
    expect(await embedder.embed(["a"])).toHaveLength(1);
    endpoint.answers = [refuses(429, {}, { "retry-after": "1" })];
    const started = performance.now();
    await embedder.embed(["a"]);
    expect(performance.now() - started).toBeGreaterThan(950);
  });

  it("gives up after the maximum number of attempts and reports the endpoint's error", async () => {
    await using endpoint = await new FakeEndpoint().start();
    endpoint.answers = [1, 2, 3, 4].map(() => refuses(429, { error: { message: "slow down" } }));
    await using embedder = await open(endpoint, { attempts: 3 });
    await expect(embedder.embed(["a"])).rejects.toMatchObject({
      code: "UPSTREAM",
      retryable: true,
      message: expect.stringContaining("429: slow down"),
      data: { status: 429 },
    });
    expect(endpoint.asked).toHaveLength(3);
  });

  it.each([
    [401, "AUTH_REQUIRED"],
    [403, "AUTH_REQUIRED"],
    [400, "UPSTREAM"],
    [404, "UPSTREAM"],
    [307, "UPSTREAM"],
  ])("does not retry after %i, and never shows the key", async (status, code) => {
    await using endpoint = await new FakeEndpoint().start();
    endpoint.answers = [refuses(status, { error: { message: `bad key ${KEY}` } }, { location: "/elsewhere" })];
    await using embedder = await open(endpoint, { url: `${endpoint.url}?key=another-secret` });
    const error = await embedder.embed(["a"]).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code, retryable: false });
    expect(`${error} ${JSON.stringify(error)} ${(error as Error).cause}`).not.toMatch(/very-secret|another-secret/);
    expect(endpoint.asked).toHaveLength(1);
  });

  it.each([
    ["<html>", "no list of vectors"],
    [{ data: [] }, "returned 0 vectors for 1 texts"],
    [{ data: [{ index: 0, embedding: "AAAA" }] }, "not a list of numbers"],
    [{ data: [{ index: 7, embedding: [1, 2, 3] }] }, "order"],
    [{ data: [{ index: 0, embedding: [1, 2] }] }, "2 numbers instead of 3"],
  ])("rejects the response %j", async (body, reason) => {
    await using endpoint = await new FakeEndpoint().start();
    endpoint.answers = [refuses(200, body)];
    await using embedder = await open(endpoint);
    await expect(embedder.embed(["a"])).rejects.toMatchObject({
      code: "PROTOCOL",
      message: expect.stringContaining(reason),
    });
    expect(endpoint.asked).toHaveLength(1);
  });

  it("aborts during a request and between two", async () => {
    await using endpoint = await new FakeEndpoint().start();
    await using embedder = await open(endpoint, { backoffMs: 3_600_000 });
    for (const answer of [() => {}, refuses(429)]) {
      const controller = new AbortController();
      endpoint.answers = [
        (response) => {
          answer(response);
          setImmediate(() => controller.abort());
        },
      ];
      await expect(embedder.embed(["a"], { signal: controller.signal })).rejects.toMatchObject({ code: "ABORTED" });
    }
  });

  it("times out a slow request", async () => {
    await using endpoint = await new FakeEndpoint().start();
    endpoint.answers = [() => {}];
    await using embedder = await open(endpoint, { timeoutMs: 50, attempts: 1 });
    await expect(embedder.embed(["a"])).rejects.toMatchObject({ code: "TIMEOUT" });
  });

  it("reports an unreachable endpoint", async () => {
    const endpoint = await new FakeEndpoint().start();
    const { url } = endpoint;
    await endpoint[Symbol.asyncDispose]();
    await expect(createEndpointEmbedder({ url, model: "m", attempts: 1 })).rejects.toMatchObject({
      code: "CONNECTION_FAILED",
      message: expect.stringContaining("ECONNREFUSED"),
    });
  });

  it.each(["nonsense", "file:///etc/hosts", "https://ada:secret-word@example.com/v1"])(
    "rejects the URL %s without repeating it",
    async (url) => {
      const error = await createEndpointEmbedder({ url, model: "m" }).catch((caught: unknown) => caught);
      expect(error).toMatchObject({ code: "INVALID_ARGUMENT" });
      expect(String(error)).not.toContain("secret-word");
    },
  );

  it("rejects work after it was closed", async () => {
    await using endpoint = await new FakeEndpoint().start();
    const embedder = await open(endpoint);
    await embedder[Symbol.asyncDispose]();
    await expect(embedder.embed(["a"])).rejects.toMatchObject({ code: "CLOSED" });
  });
});
