import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { systemCodeOf } from "@trunkline/core";
import { META } from "@trunkline/protocol";
import { describe, expect, it, onTestFinished } from "vitest";
import { wholeResult } from "../../src/results/large-messages.js";
import { HttpError, InsufficientScopeError, StreamEndedError } from "../../src/wire/http-errors.js";
import { type HttpWireOptions, StreamableHttpWire } from "../../src/wire/streamable-http-wire.js";
import { Told } from "../hub/told.js";
import {
  call,
  EVENTS,
  eventOf,
  Heard,
  listen,
  note,
  optionsFor,
  type Received,
  result,
  sendJson,
} from "./wire-support.js";

async function wireTo(url: URL, more: Partial<HttpWireOptions> = {}) {
  const wire = new StreamableHttpWire(optionsFor(url, more));
  const heard = new Heard();
  await wire.start(heard);
  onTestFinished(() => wire.close());
  return { wire, heard };
}

/** A wire to a server that answers like this. */
async function connected(answer: (request: Received) => void, more: Partial<HttpWireOptions> = {}) {
  const server = await listen(answer);
  return { ...server, ...(await wireTo(server.url, more)) };
}

const failureOf = async ({ failures }: Heard) => (await failures.next()).error;

describe("a request over Streamable HTTP", () => {
  it("is answered by a JSON body, which belongs to its owner", async () => {
    const { wire, heard } = await connected(({ message, response }) => sendJson(response, result(message.id)));
    const owner = {};
    wire.send(call("a"), { owner });
    const { message, owner: told } = await heard.messages.next();
    expect(message).toEqual(result("a"));
    expect(told).toBe(owner);
  });

  it("is answered by an event stream, and everything on it arrives in order and belongs to its owner", async () => {
    const { wire, heard } = await connected(({ message, response }) => {
      response.writeHead(200, EVENTS);
      response.write(eventOf(note("one")) + eventOf([note("two"), note("three")]));
      response.end(eventOf(result(message.id)));
    });
    const owner = {};
    wire.send(call(1), { owner });
    const told = [];
    for (let count = 0; count < 4; count++) told.push(await heard.messages.next());
    expect(told.map(({ message }) => message)).toEqual([note("one"), note("two"), note("three"), result(1)]);
    expect(told.every((each) => each.owner === owner)).toBe(true);
  });

  it("is answered by a batch in a JSON body", async () => {
    const { wire, heard } = await connected(({ message, response }) =>
      sendJson(response, [note("one"), result(message.id)]),
    );
    wire.send(call(1));
    expect([(await heard.messages.next()).message, (await heard.messages.next()).message]).toEqual([
      note("one"),
      result(1),
    ]);
  });

  it("does not wait for others, however many are in flight", async () => {
    const waiting: Received[] = [];
    const { wire, heard } = await connected((request) => {
      waiting.push(request);
      if (waiting.length < 200) return;
      for (const { message, response } of waiting) sendJson(response, result(message.id));
    });
    for (let id = 0; id < 200; id++) wire.send(call(id), { owner: { id } });
    for (let count = 0; count < 200; count++) {
      const { message, owner } = await heard.messages.next();
      expect(owner).toEqual({ id: message.id });
    }
  });

  it("fails with what the server says, if it refuses it", async () => {
    const { wire, heard } = await connected(({ response }) => response.writeHead(500).end("out of paper"));
    wire.send(call(1));
    expect(await heard.failures.next()).toMatchObject({ id: 1, error: { status: 500, text: "out of paper" } });
  });

  it.each<[string, (request: Received) => void, string | RegExp]>([
    [
      "a page",
      ({ response }) => response.writeHead(200, { "content-type": "text/html" }).end("<p>"),
      "Unexpected content type: text/html",
    ],
    ["no type", ({ response }) => response.writeHead(200).end("x"), "Unexpected content type: undefined"],
    ["broken JSON", ({ response }) => response.writeHead(200, { "content-type": "application/json" }).end("{"), /JSON/],
    ["another JSON", ({ response }) => sendJson(response, { hello: true }), "its answer is not a protocol message."],
    [
      "someone else's answer",
      ({ response }) => sendJson(response, result("other")),
      "the stream ended without an answer",
    ],
    [
      "an unknown encoding",
      ({ response }) => sendJson(response, {}, { "content-encoding": "zip" }),
      'The response has the unknown encoding "zip".',
    ],
    [
      "half a response",
      ({ response }) => {
        response.writeHead(200, { "content-type": "application/json", "content-length": "100" }).write("{");
        setImmediate(() => response.destroy());
      },
      "other side closed",
    ],
  ])("fails if the response is %s", async (_, answer, message) => {
    const { wire, heard } = await connected(answer);
    wire.send(call(1));
    const error = await failureOf(heard);
    expect((error as Error).message).toMatch(message);
    expect(heard.failures.count).toBe(1);
  });

  it("fails with the code of the system if there is no server", async () => {
    const { wire, heard } = await wireTo(new URL("http://127.0.0.1:1234/mcp"));
    wire.send(call(1));
    expect(systemCodeOf(await failureOf(heard))).toBe("ECONNREFUSED");
  });

  it("waits on if the server only accepts it, because the answer may come on another stream", async () => {
    const { wire, heard } = await connected(({ message, response }) => {
      if (message.id === 1) response.writeHead(202).end();
      else sendJson(response, result(message.id));
    });
    wire.send(call(1));
    wire.send(call(2));
    expect((await heard.messages.next()).message.id).toBe(2);
    expect(heard.failures.count).toBe(0);
  });

  it("fails if it cannot be written as JSON", async () => {
    const { wire, heard } = await connected(() => {});
    wire.send({ ...call(1), params: { big: 1n } });
    expect(await failureOf(heard)).toBeInstanceOf(TypeError);
  });
});

describe("the headers of a request", () => {
  it("are those of the entry, without the line break of a file, and those of the protocol", async () => {
    const { wire, heard, received } = await connected(
      ({ message, response }) => sendJson(response, result(message.id)),
      {
        headers: { "X-Api-Key": "k3y\n", Accept: "text/plain" },
      },
    );
    wire.setRevision("2025-11-25");
    wire.send(call(1));
    await heard.messages.next();
    expect(received[0]?.headers).toMatchObject({
      "x-api-key": "k3y",
      accept: "text/plain, application/json, text/event-stream",
      "content-type": "application/json",
      "mcp-protocol-version": "2025-11-25",
      "user-agent": "trunkline",
    });
    expect(received[0]?.headers).not.toHaveProperty("mcp-method");
  });

  it("repeat method and name for a modern server, and have what the caller adds, but nothing that contradicts the body", async () => {
    const { wire, heard, received } = await connected(({ message, response }) =>
      sendJson(response, result(message.id)),
    );
    const _meta = { [META.protocolVersion]: "2026-07-28" };
    const headers = { "Mcp-Param-Region": "eu", "Mcp-Name": "other", Authorization: "Bearer forged" };
    wire.send({ ...call(1), params: { name: "grüßen", _meta } }, { headers });
    await heard.messages.next();
    expect(received[0]?.headers).toMatchObject({
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "=?base64?Z3LDvMOfZW4=?=",
      "mcp-param-region": "eu",
    });
    expect(received[0]?.headers).not.toHaveProperty("authorization");
  });

  it.each([
    [
      "a header that cannot be sent",
      "http://127.0.0.1:1234/mcp",
      { "X-Key": "a\nb" },
      'Server "test" has a header "x-key" that cannot be sent.',
    ],
    [
      "a password in the URL",
      "http://user:pw@127.0.0.1:1234/mcp",
      {},
      'Server "test" has a user name or a password in its URL.',
    ],
    ["a port of another protocol", "http://127.0.0.1:6000/mcp", {}, "bad port"],
  ])("and the URL are checked: %s", async (_, url, headers, message) => {
    const wire = new StreamableHttpWire(optionsFor(new URL(url), { headers: headers as Record<string, string> }));
    await expect(wire.start(new Heard())).rejects.toThrow(message);
  });
});

describe("a notification over Streamable HTTP", () => {
  it("is sent when the server has accepted it", async () => {
    const { wire, received } = await connected(({ response }) => response.writeHead(202).end());
    await wire.post(note("hello"));
    expect(received[0]?.message).toEqual(note("hello"));
  });

  it("fails if the server refuses it", async () => {
    const { wire } = await connected(({ response }) => response.writeHead(404).end());
    await expect(wire.post(note("hello"))).rejects.toMatchObject({ status: 404 });
  });

  it("fails if the wire is closed meanwhile", async () => {
    const arrived = new Told<string>();
    const { wire } = await connected(() => arrived.tell("post"));
    const post = wire.post(note("hello"));
    post.catch(() => {});
    await arrived.next();
    await wire.close();
    await expect(post).rejects.toMatchObject({ code: "CLOSED" });
  });
});

describe("a session", () => {
  const sessions = ({ method: verb, message, response }: Received) => {
    if (verb === "DELETE") response.writeHead(200).end();
    else sendJson(response, result(message.id), message.method === "initialize" ? { "mcp-session-id": "s1" } : {});
  };

  async function opened() {
    const all = await connected(sessions);
    all.wire.send({ jsonrpc: "2.0", id: 1, method: "initialize", params: {} });
    await all.heard.messages.next();
    return all;
  }

  it("begins with the handshake, is part of every request, and ends with the wire", async () => {
    const { wire, heard, received } = await opened();
    expect(wire.hasSession).toBe(true);
    wire.send(call(2));
    await heard.messages.next();
    await Promise.all([wire.close(), wire.close()]);
    expect(received.map(({ method, headers }) => [method, headers["mcp-session-id"]])).toEqual([
      ["POST", undefined],
      ["POST", "s1"],
      ["DELETE", "s1"],
    ]);
    expect(heard.closed).toBe(1);
  });

  it("that has expired is not ended again", async () => {
    const { wire, received } = await opened();
    await wire.close({ isExpired: true });
    expect(received.map(({ method }) => method)).toEqual(["POST"]);
  });
});

describe("a redirect", () => {
  it("within the origin is followed, with the same request", async () => {
    const { wire, heard, received } = await connected(
      ({ path, message, response }) => {
        if (path === "/mcp") response.writeHead(307, { location: "/new?x=1" }).end();
        else sendJson(response, result(message.id));
      },
      { headers: { Authorization: "Bearer t0ken" } },
    );
    wire.send(call(1));
    expect((await heard.messages.next()).message).toEqual(result(1));
    expect(received.map(({ path, headers }) => [path, headers.authorization])).toEqual([
      ["/mcp", "Bearer t0ken"],
      ["/new?x=1", "Bearer t0ken"],
    ]);
    expect(received[1]?.message).toEqual(call(1));
  });

  it("to another origin is not followed: nothing of the request goes there", async () => {
    const other = await listen(({ message, response }) => sendJson(response, result(message.id)));
    const { wire, heard } = await connected(({ response }) =>
      response.writeHead(307, { location: `${other.url.href}?token=s3cret` }).end(),
    );
    wire.send(call(1));
    const error = await failureOf(heard);
    expect(error).toMatchObject({ status: 307, message: expect.stringContaining(`the redirect to ${other.url.href}`) });
    expect(String(error)).not.toContain("s3cret");
    expect(other.received).toEqual([]);
  });

  it("that would change the request is not followed", async () => {
    const { wire, heard, received } = await connected(({ response }) =>
      response.writeHead(302, { location: "/new" }).end(),
    );
    wire.send(call(1));
    expect(await failureOf(heard)).toMatchObject({ status: 302 });
    expect(received).toHaveLength(1);
  });

  it("that never ends is given up", async () => {
    const { wire, heard, received } = await connected(({ response }) =>
      response.writeHead(308, { location: "/mcp" }).end(),
    );
    wire.send(call(1));
    expect(await failureOf(heard)).toMatchObject({ status: 308 });
    expect(received).toHaveLength(6);
  });
});

describe("a compressed response", () => {
  const encodings = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync };

  it.each(Object.entries(encodings))("in %s is read", async (encoding, compress) => {
    const { wire, heard } = await connected(({ message, response }) => {
      const headers = { "content-encoding": encoding };
      if (message.id === 1)
        response
          .writeHead(200, { "content-type": "application/json", ...headers })
          .end(compress(JSON.stringify(result(1))));
      else response.writeHead(200, { ...EVENTS, ...headers }).end(compress(eventOf(note("one")) + eventOf(result(2))));
    });
    wire.send(call(1));
    expect((await heard.messages.next()).message).toEqual(result(1));
    wire.send(call(2));
    expect((await heard.messages.next()).message).toEqual(note("one"));
    expect((await heard.messages.next()).message).toEqual(result(2));
  });

  it("that is damaged fails its request", async () => {
    const { wire, heard } = await connected(({ response }) =>
      response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" }).end("not gzip"),
    );
    wire.send(call(1));
    expect(systemCodeOf(await failureOf(heard))).toBe("Z_DATA_ERROR");
  });

  it("is limited by what comes out of it", async () => {
    const { wire, heard } = await connected(
      ({ message, response }) => {
        const body = gzipSync(JSON.stringify(result(message.id, { text: "x".repeat(10_000_000) })));
        expect(body.length).toBeLessThan(100_000);
        response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" }).end(body);
      },
      { maxMessageBytes: 200_000 },
    );
    wire.send(call(1));
    expect((await heard.messages.next()).message).toMatchObject({ id: 1, error: { code: -32_951 } });
  });
});

describe("a response over the limit", () => {
  it.each(["application/json", "text/event-stream"])(
    "in %s fails its request, and its connection is closed",
    async (type) => {
      const closed = new Told<string>();
      const { wire, heard } = await connected(
        ({ message, response }) => {
          if (message.id === 2) return sendJson(response, result(2));
          response.on("close", () => closed.tell("closed"));
          response.writeHead(200, { "content-type": type });
          if (type === "text/event-stream") response.write("data: ");
          // Never ends.
          const more = () => !response.destroyed && response.write("x".repeat(10_000)) && setImmediate(more);
          response.on("drain", more);
          more();
        },
        { maxMessageBytes: 100_000 },
      );
      wire.send(call(1));
      expect((await heard.messages.next()).message).toMatchObject({ id: 1, error: { code: -32_951 } });
      await closed.next();
      wire.send(call(2));
      expect((await heard.messages.next()).message).toEqual(result(2));
      expect(heard.failures.count).toBe(0);
    },
  );

  it("that is an error page is read only at its beginning", async () => {
    const closed = new Told<string>();
    const { wire, heard } = await connected(({ response }) => {
      response.on("close", () => closed.tell("closed"));
      response.writeHead(500);
      const more = () => !response.destroyed && response.write("x".repeat(100_000)) && setImmediate(more);
      response.on("drain", more);
      more();
    });
    wire.send(call(1));
    const error = await failureOf(heard);
    expect(error).toBeInstanceOf(HttpError);
    expect((error as HttpError).text.length).toBeLessThanOrEqual(1024 * 1024);
    await closed.next();
  });
});

describe("a large answer", () => {
  it.each(["application/json", "text/event-stream"])("in %s is read on another thread", async (type) => {
    const text = "x".repeat(3_000_000);
    const { wire, heard } = await connected(({ message, response }) => {
      const answer = result(message.id, { content: [{ type: "text", text }] });
      response.writeHead(200, { "content-type": type });
      response.end(type === "text/event-stream" ? eventOf(answer) : JSON.stringify(answer));
    });
    wire.send(call(1));
    const { message } = await heard.messages.next();
    const received = message.result as Record<string, unknown>;
    expect(received).not.toHaveProperty("content");
    expect(await wholeResult(received)).toEqual({ content: [{ type: "text", text }] });
    expect(heard.failures.count).toBe(0);
  });
});

describe("a request that is dropped", () => {
  it.each<[string, (request: Received) => void]>([
    ["before its response", () => {}],
    ["on its stream", ({ response }) => void response.writeHead(200, EVENTS).write("id: 1\ndata:\n\n")],
    [
      "in the middle of a body",
      ({ response }) => void response.writeHead(200, { "content-type": "application/json" }).write("{"),
    ],
    [
      "in a compressed body",
      ({ response }) =>
        void response
          .writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" })
          .write(gzipSync("{}").subarray(0, 5)),
    ],
  ])("%s is closed at once, and nothing more is reported", async (_, answer) => {
    const began = new Told<string>();
    const closed = new Told<string>();
    const { wire, heard, received } = await connected((request) => {
      if (request.message.id === 2) return sendJson(request.response, result(2));
      request.response.on("close", () => closed.tell("closed"));
      answer(request);
      began.tell("began");
    });
    wire.send(call(1));
    await began.next();
    wire.drop(1);
    await closed.next();
    wire.send(call(2));
    expect((await heard.messages.next()).message).toEqual(result(2));
    expect([heard.failures.count, heard.errors, received.length]).toEqual([0, [], 2]);
  });

  it("before it was sent is never sent", async () => {
    const { wire, heard, received } = await connected(({ message, response }) =>
      sendJson(response, result(message.id)),
    );
    wire.send(call(1));
    wire.drop(1);
    wire.send(call(2));
    expect((await heard.messages.next()).message).toEqual(result(2));
    expect(received.map(({ message }) => message.id)).toEqual([2]);
  });
});

describe("the stream of a request", () => {
  it("that ends without the answer, and cannot be resumed, fails the request", async () => {
    const { wire, heard } = await connected(({ response }) =>
      response.writeHead(200, EVENTS).end(eventOf(note("one"))),
    );
    wire.send(call(1));
    expect(await failureOf(heard)).toBeInstanceOf(StreamEndedError);
  });

  it.each(["ends", "breaks"])("that %s is resumed after its last event, as often as needed", async (how) => {
    const { wire, heard, received } = await connected(({ method, headers, response }) => {
      response.writeHead(200, EVENTS);
      const last = headers["last-event-id"];
      const send = (text: string) =>
        how === "ends" ? response.end(text) : response.write(text, () => response.destroy());
      if (method === "POST") send(`retry: 10\n${eventOf(note("one"), "e1")}`);
      else if (last === "e1") send(eventOf(note("two"), "e2"));
      else response.end(eventOf(result(1), "e3"));
    });
    const owner = {};
    wire.send(call(1), { owner });
    const told = [await heard.messages.next(), await heard.messages.next(), await heard.messages.next()];
    expect(told.map(({ message }) => message)).toEqual([note("one"), note("two"), result(1)]);
    expect(told.every((each) => each.owner === owner)).toBe(true);
    expect(received.map(({ method, headers }) => [method, headers["last-event-id"]])).toEqual([
      ["POST", undefined],
      ["GET", "e1"],
      ["GET", "e2"],
    ]);
    expect(heard.lost.count).toBe(0);
  });

  it.each([404, 405, 400])(
    "that cannot be resumed (HTTP %s) fails, but not as a request that was never run",
    async (status) => {
      const { wire, heard } = await connected(({ method, response }) => {
        if (method === "POST") response.writeHead(200, EVENTS).end("retry: 10\nid: 1\ndata:\n\n");
        else response.writeHead(status).end();
      });
      wire.send(call(1));
      expect(await failureOf(heard)).toBeInstanceOf(StreamEndedError);
      expect(heard.lost.count).toBe(status === 404 ? 1 : 0);
    },
  );

  it("is resumed when the server is back, and counts as lost until then", async () => {
    let refusals = 3;
    const { wire, heard } = await connected(({ method, response }) => {
      if (method === "POST") response.writeHead(200, EVENTS).end("retry: 10\nid: 1\ndata:\n\n");
      else if (refusals-- > 0) response.writeHead(503).end();
      else response.writeHead(200, EVENTS).end(eventOf(result(1)));
    });
    wire.send(call(1));
    expect((await heard.messages.next()).message).toEqual(result(1));
    expect(heard.lost.count).toBe(2);
  });

  it("is not resumed after it was dropped", async () => {
    const { wire, heard, received } = await connected(({ message, response }) => {
      if (message.id === 2) sendJson(response, result(2));
      else response.writeHead(200, EVENTS).end(`retry: 10\n${eventOf(note("one"), "e1")}`);
    });
    wire.send(call(1));
    await heard.messages.next();
    wire.drop(1);
    for (let id = 0; id < 20; id++) {
      wire.send(call(2));
      await heard.messages.next();
    }
    expect(received.some(({ method }) => method === "GET")).toBe(false);
  });

  it("passes on what comes after the answer", async () => {
    const { wire, heard } = await connected(({ message, response }) =>
      response.writeHead(200, EVENTS).end(eventOf(result(message.id)) + eventOf(note("later"))),
    );
    wire.send(call(1));
    await heard.messages.next();
    expect((await heard.messages.next()).message).toEqual(note("later"));
  });
});

describe("a modern server that refuses a request with HTTP 400", () => {
  const refusing = ({ message, response }: Received) =>
    void response
      .writeHead(400, { "content-type": "application/json" })
      .end(JSON.stringify({ jsonrpc: "2.0", id: message.id, error: { code: -32_022, message: "Unsupported" } }));

  it("answers it", async () => {
    const { wire, heard } = await connected(refusing);
    wire.send({ ...call(1), params: { _meta: { [META.protocolVersion]: "2026-07-28" } } });
    expect((await heard.messages.next()).message).toMatchObject({ id: 1, error: { code: -32_022 } });
  });

  it("is not assumed for a legacy request, which fails with the body", async () => {
    const { wire, heard } = await connected(refusing);
    wire.send(call(1));
    expect(await failureOf(heard)).toMatchObject({ status: 400, text: expect.stringContaining("-32022") });
  });
});

describe("the stream for messages that belong to no request", () => {
  it("is resumed after its last event whenever it ends", async () => {
    let opened = 0;
    const { wire, heard, received } = await connected(({ response }) => {
      opened++;
      response.writeHead(200, EVENTS);
      if (opened < 4) response.end(`retry: 10\n${eventOf(note(`announcement ${opened}`), `e${opened}`)}`);
      else response.write(": open\n\n");
    });
    wire.listen();
    for (let count = 1; count < 4; count++)
      expect(await heard.messages.next()).toEqual({ message: note(`announcement ${count}`), owner: undefined });
    await wire.close();
    const ids = received.map(({ headers }) => headers["last-event-id"]);
    expect(ids.slice(0, 3)).toEqual([undefined, "e1", "e2"]);
  });

  it("is not needed: a server may have none", async () => {
    const { wire, heard, received } = await connected(({ method, message, response }) => {
      if (method === "GET") response.writeHead(405).end();
      else sendJson(response, result(message.id));
    });
    wire.listen();
    wire.send(call(1));
    await heard.messages.next();
    expect([heard.errors, heard.lost.count, received.length]).toEqual([[], 0, 2]);
  });

  it("is not opened at a modern server", async () => {
    const { wire, heard, received } = await connected(({ message, response }) =>
      sendJson(response, result(message.id)),
    );
    wire.setRevision("2026-07-28");
    wire.listen();
    wire.send(call(1));
    await heard.messages.next();
    expect(received.map(({ method }) => method)).toEqual(["POST"]);
  });

  it("counts as lost if the server does not know the session", async () => {
    const { wire, heard } = await connected(({ response }) => response.writeHead(404).end());
    wire.listen();
    await heard.lost.next();
    expect(heard.errors).toMatchObject([{ status: 404 }]);
  });

  it("counts as lost after two attempts to open it again have failed", async () => {
    let opened = 0;
    const { wire, heard } = await connected(({ response }) => {
      if (++opened === 1) response.writeHead(200, EVENTS).end("retry: 10\ndata:\n\n");
      else response.writeHead(503).end();
    });
    wire.listen();
    await heard.lost.next();
    expect(opened).toBe(3);
  });
});

describe("a server that wants a token", () => {
  /** Accepts the token "new". */
  const guarded = ({ headers, message, response }: Received) => {
    if (headers.authorization === "Bearer new") sendJson(response, result(message.id));
    else response.writeHead(401, { "www-authenticate": 'Bearer scope="read"' }).end();
  };

  function authWith(tokens: (string | undefined)[], isWorthRepeating = true) {
    const refusals: unknown[] = [];
    const auth = {
      token: async () => (tokens.length > 1 ? tokens.shift() : tokens[0]),
      onRefused: async (refusal: object) => {
        refusals.push(refusal);
        return isWorthRepeating;
      },
    };
    return { auth, refusals };
  }

  it("gets the request again with a new one", async () => {
    const { auth, refusals } = authWith(["old", "new"]);
    const { wire, heard } = await connected(guarded, { auth });
    wire.send(call(1));
    expect((await heard.messages.next()).message).toEqual(result(1));
    expect(refusals).toEqual([{ challenge: 'Bearer scope="read"', token: "old" }]);
  });

  it("is asked only twice", async () => {
    const { auth, refusals } = authWith(["old"]);
    const { wire, heard, received } = await connected(guarded, { auth });
    wire.send(call(1));
    expect(await failureOf(heard)).toMatchObject({ status: 401 });
    expect([received.length, refusals.length]).toEqual([2, 1]);
  });

  it("is not asked again if there is no other one", async () => {
    const { auth } = authWith([undefined], false);
    const { wire, heard, received } = await connected(guarded, { auth });
    wire.send(call(1));
    expect(await failureOf(heard)).toMatchObject({ status: 401 });
    expect(received).toHaveLength(1);
  });

  it("fails a request whose token cannot be had", async () => {
    const failure = new Error("no authorization server");
    const auth = { token: () => Promise.reject(failure), onRefused: async () => false };
    const { wire, heard, received } = await connected(guarded, { auth });
    wire.send(call(1));
    expect(await failureOf(heard)).toBe(failure);
    expect(received).toEqual([]);
  });

  it("says which scope a request lacks", async () => {
    const { wire, heard } = await connected(({ response }) =>
      response.writeHead(403, { "www-authenticate": 'Bearer error="insufficient_scope", scope="write all"' }).end(),
    );
    wire.send(call(1));
    const error = await failureOf(heard);
    expect(error).toBeInstanceOf(InsufficientScopeError);
    expect(error).toMatchObject({ requiredScope: "write all" });
  });
});

describe("a proxy", () => {
  /** A server behind a proxy that opens tunnels. */
  async function proxied(more: Record<string, string>) {
    const server = await listen(({ message, response }) => sendJson(response, result(message.id)));
    const tunnels: string[] = [];
    const proxy = createServer().on("connect", ({ url = "" }, socket) => {
      tunnels.push(url);
      const onward = connect(Number(server.url.port), "127.0.0.1", () => {
        socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
        onward.pipe(socket).pipe(onward);
      });
      socket.on("error", () => onward.destroy());
      onward.on("error", () => socket.destroy());
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void proxy.close());
    const env = { HTTP_PROXY: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, ...more };
    const { wire, heard } = await wireTo(server.url, { env });
    wire.send(call(1));
    expect((await heard.messages.next()).message).toEqual(result(1));
    return { tunnels, host: server.url.host };
  }

  it("of the environment is used if Node is told to", async () => {
    const { tunnels, host } = await proxied({ NODE_USE_ENV_PROXY: "1" });
    expect(tunnels).toEqual([host]);
  });

  it.each<Record<string, string>>([{}, { NODE_USE_ENV_PROXY: "1", NO_PROXY: "127.0.0.1" }])(
    "is not used with %j",
    async (more) => {
      expect((await proxied(more)).tunnels).toEqual([]);
    },
  );
});

describe("closing a wire", () => {
  it("ends everything that is in flight, and reports only that it has closed", async () => {
    const arrived = new Told<string>();
    const closed = new Told<string>();
    const { wire, heard } = await connected(({ method, response }) => {
      response.on("close", () => closed.tell("closed"));
      if (method === "GET") response.writeHead(200, EVENTS).write(": open\n\n");
      arrived.tell(method);
    });
    wire.send(call(1));
    wire.listen();
    await arrived.next();
    await arrived.next();
    await Promise.all([wire.close(), wire.close()]);
    await closed.next();
    await closed.next();
    expect([heard.closed, heard.failures.count, heard.errors]).toEqual([1, 0, []]);
  });

  it("fails what is sent afterwards", async () => {
    const { wire, heard, received } = await connected(() => {});
    await wire.close();
    wire.send(call(1));
    expect(await failureOf(heard)).toMatchObject({ code: "CLOSED" });
    await expect(wire.post(note("late"))).rejects.toMatchObject({ code: "CLOSED" });
    expect(received).toEqual([]);
  });
});
