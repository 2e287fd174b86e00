// Servers in this process: one written with the official SDK, and ones that are written by hand.
import { InMemoryTransport, McpServer } from "@modelcontextprotocol/server";
import { type InProcessClient, type InProcessMessage, type InProcessPeer, inProcessServer } from "@trunkline/config";
import { MODERN_REVISION } from "@trunkline/protocol";
import { afterEach, describe, expect, it } from "vitest";
import { ConnectionPool, type Hub, openHub } from "../../src/index.js";
import { configOf } from "../hub/fixtures.js";

const open: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

async function hubOf(...servers: ReturnType<typeof inProcessServer>[]): Promise<Hub> {
  const hub = await openHub(configOf(...servers));
  open.push(hub);
  return hub;
}

/** Answers each request with the result of `answer`, or with the error that it throws. */
function handWritten(answer: (method: string) => object | Promise<object>) {
  return ({ send }: InProcessClient): InProcessPeer => ({
    receive: async ({ id, method }) => {
      if (id === undefined) return;
      try {
        send({ jsonrpc: "2.0", id, result: { resultType: "complete", ...(await answer(String(method))) } });
      } catch (error) {
        send({ jsonrpc: "2.0", id, error: { code: -32603, message: String(error) } });
      }
    },
  });
}

const discovery = {
  supportedVersions: [MODERN_REVISION],
  capabilities: { tools: {} },
  _meta: { "io.modelcontextprotocol/serverInfo": { name: "clock", version: "1.0.0" } },
};

function answerClock(method: string): object {
  if (method === "server/discover") return discovery;
  if (method === "tools/list") return { tools: [{ name: "now", inputSchema: { type: "object" } }] };
  if (method === "tools/call") return { content: [{ type: "text", text: "noon" }] };
  throw new Error(`unexpected: ${method}`);
}

describe("a server in this process", () => {
  it("is called like any other, through the SDK's server", async () => {
    const started: unknown[] = [];
    const greeter = inProcessServer("greeter", async ({ send, close }) => {
      const server = new McpServer({ name: "greeter", version: "2.0.0" }, { instructions: "Greets." });
      server.registerTool("greet", { description: "Greets." }, () => ({ content: [{ type: "text", text: "Hello!" }] }));
      const [ours, theirs] = InMemoryTransport.createLinkedPair();
      ours.onmessage = (message) => send(message as unknown as InProcessMessage);
      ours.onclose = close;
      await server.connect(theirs);
      await ours.start();
      started.push(server);
      return { receive: (message) => void ours.send(message as never), close: () => server.close() };
    });
    const hub = await hubOf(greeter);
    expect(hub.status()).toMatchObject([
      { name: "greeter", state: "connected", serverInfo: { name: "greeter" }, toolCount: 1 },
    ]);
    expect(await hub.call("greeter.greet")).toMatchObject({ text: "Hello!", isError: false });
    expect(started).toHaveLength(1);
  });

  it("can be written by hand, in the modern revision", async () => {
    const hub = await hubOf(inProcessServer("clock", handWritten(answerClock)));
    expect(hub.status()).toMatchObject([
      { state: "connected", revision: MODERN_REVISION, serverInfo: { name: "clock" } },
    ]);
    expect((await hub.call("clock.now")).text).toBe("noon");
  });

  it("fails its calls when it ends, and is started again by the next one", async () => {
    let starts = 0;
    let client: InProcessClient | undefined;
    const clock = inProcessServer("clock", (given) => {
      starts++;
      client = given;
      return handWritten((method) => {
        if (method === "tools/call" && starts === 1) return new Promise<object>(() => client?.close());
        return answerClock(method);
      })(given);
    });
    const hub = await hubOf(clock);
    await expect(hub.call("clock.now")).rejects.toMatchObject({ code: "SERVER_EXITED" });
    expect((await hub.call("clock.now")).text).toBe("noon");
    expect(starts).toBe(2);
  });

  it("says in its status why it could not be started", async () => {
    const broken = inProcessServer("broken", () => {
      throw new Error("the file is missing");
    });
    const hub = await hubOf(broken, inProcessServer("clock", handWritten(answerClock)));
    const [failed, clock] = hub.status();
    expect(failed?.state).toBe("failed");
    expect(failed?.error?.message).toContain("the file is missing");
    expect(clock?.state).toBe("connected");
  });

  it("fails a call whose handler throws, without harm to the others", async () => {
    const clock = inProcessServer("clock", (client) => {
      const peer = handWritten(answerClock)(client);
      return {
        receive(message) {
          const { name } = (message.params ?? {}) as { name?: string };
          if (name === "now" && (message.params as { arguments?: object }).arguments !== undefined) {
            const { boom } = (message.params as { arguments: { boom?: boolean } }).arguments;
            if (boom === true) throw new Error("boom");
          }
          return peer.receive(message);
        },
      };
    });
    const hub = await hubOf(clock);
    await expect(hub.call("clock.now", { boom: true })).rejects.toThrow(/boom/);
    expect((await hub.call("clock.now")).text).toBe("noon");
  });

  it("fails the request that it handles if it rejects, and nothing else if it cannot be ended", async () => {
    let client: InProcessClient | undefined;
    const clock = inProcessServer("clock", (given) => {
      client = given;
      const peer = handWritten(answerClock)(given);
      return {
        receive: async (message) => {
          if (message.method === "tools/call") throw new Error("boom");
          await peer.receive(message);
        },
        close: () => Promise.reject(new Error("already closed")),
      };
    });
    const hub = await hubOf(clock);
    await expect(hub.call("clock.now")).rejects.toThrow(/boom/);
    client?.close();
    await expect.poll(() => hub.status()[0]?.error?.code).toBe("SERVER_EXITED");
    open.pop();
    await hub.close().catch(() => {});
  });

  it("is another one after a reload that gives it another function", async () => {
    const clockOf = (text: string) =>
      inProcessServer(
        "clock",
        handWritten((method) =>
          method === "tools/call" ? { content: [{ type: "text", text }] } : answerClock(method),
        ),
      );
    const hub = await hubOf(clockOf("noon"));
    expect((await hub.call("clock.now")).text).toBe("noon");
    await hub.reload(configOf(clockOf("midnight")));
    expect((await hub.call("clock.now")).text).toBe("midnight");
  });

  it.each([["text"], [{ id: 1 }], [null]])("cannot break the client with %j instead of a message", async (noise) => {
    const clock = inProcessServer("clock", (client) => {
      client.send(noise as never);
      return handWritten((method) => {
        client.send(noise as never);
        return answerClock(method);
      })(client);
    });
    expect((await (await hubOf(clock)).call("clock.now")).text).toBe("noon");
  });

  it("is ended once, with the hub", async () => {
    let ends = 0;
    const clock = inProcessServer("clock", (client) => ({
      ...handWritten(answerClock)(client),
      close: () => void ends++,
    }));
    const hub = await hubOf(clock);
    await hub.close();
    await hub.close();
    expect(ends).toBe(1);
  });

  it("that is still starting when the hub closes is ended as soon as it has started", async () => {
    let finish = () => {};
    let isStarting = false;
    let ends = 0;
    const slow = inProcessServer(
      "slow",
      (client) =>
        new Promise((resolve) => {
          isStarting = true;
          finish = () => resolve({ ...handWritten(answerClock)(client), close: () => void ends++ });
        }),
    );
    const hub = await openHub(configOf({ ...slow, lazy: true }));
    const connecting = hub.connect(["slow"]).catch(() => {});
    await expect.poll(() => isStarting).toBe(true);
    const closing = hub.close();
    finish();
    await Promise.all([closing, connecting]);
    await expect.poll(() => ends).toBe(1);
  });

  it("is shared by hubs on one pool, if it is the same function", async () => {
    let starts = 0;
    const start = (client: InProcessClient) => {
      starts++;
      return handWritten(answerClock)(client);
    };
    const pool = new ConnectionPool();
    open.push(pool);
    const hubs = await Promise.all(
      [start, start, (client: InProcessClient) => start(client)].map((each) =>
        openHub(configOf(inProcessServer("clock", each)), { connections: pool, workspace: "w" }),
      ),
    );
    open.push(...hubs);
    for (const hub of hubs) expect((await hub.call("clock.now")).text).toBe("noon");
    expect(starts).toBe(2);
  });
});
