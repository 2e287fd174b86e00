import { describe, expect, it } from "vitest";
import { startServer } from "../../../../test/servers/start.js";
import { openHub, type ServerLog } from "../../src/index.js";
import { configOf, http, stdio } from "../hub/fixtures.js";
import { Told } from "../hub/told.js";

describe("a dropped event stream", () => {
  it("is resumed in mid-call, and the call gets its answer", async () => {
    await using server = await startServer("resuming");
    const logs = new Told<ServerLog>();
    await using hub = await openHub(configOf(http("resuming", server.url)));
    const { text } = await hub.withChannel({ log: logs.tell }, () =>
      hub.call("resuming.interrupted", { text: "at last" }),
    );
    expect(text).toBe("at last");
    // Events on the resumed stream still belong to the call.
    expect(await logs.next()).toMatchObject({ data: "while you were away" });
  });

  it("outside of calls is resumed as often as it drops, without loss or duplicates", async () => {
    await using server = await startServer("resuming");
    const logs = new Told<ServerLog>();
    await using hub = await openHub(configOf(http("resuming", server.url)), { channel: { log: logs.tell } });
    await hub.call("resuming.announce", { count: 3 });
    const told = [await logs.next(), await logs.next(), await logs.next()];
    expect(told.map(({ data }) => data)).toEqual(["announcement 1", "announcement 2", "announcement 3"]);
    const resumptions = JSON.parse((await hub.call("resuming.resumptions")).text);
    expect(new Set(resumptions).size).toBe(resumptions.length);
    expect(logs.count).toBe(3);
  });

  it("without anything to resume from fails the call at once", async () => {
    await using server = await startServer("resuming");
    await using hub = await openHub(configOf(http("resuming", server.url, { callTimeoutMs: 600_000 })));
    await expect(hub.call("resuming.cut")).rejects.toMatchObject({
      code: "SERVER_EXITED",
      message: 'tools/call on "resuming" failed: the stream ended without an answer.',
    });
    // The connection itself is fine.
    expect((await hub.call("resuming.resumptions")).isError).toBe(false);
  });
});

describe("the stream on which a modern HTTP server reports changed lists", () => {
  it("is reopened when the server is back", async () => {
    const server = await startServer("modern");
    await using hub = await openHub(configOf(http("modern", server.url)));
    const changed = new Told<void>();
    hub.onCatalogChanged(() => changed.tell());
    await hub.call("modern.grow");
    await changed.next();
    expect(hub.tools().map(({ tool }) => tool)).toContain("grown_1");
    await server.close();
    await using _again = await startServer("modern", ["--port", String(server.port)]);
    // The new process does not have the tool that was added in the old one.
    await changed.next();
    expect(hub.tools().map(({ tool }) => tool)).not.toContain("grown_1");
  });
});

describe("a batch of 2025-03-26", () => {
  it("is understood on a line and as a JSON body", async () => {
    await using server = await startServer("garbled", ["--json-array"]);
    const logs = new Told<ServerLog>();
    const both = configOf(stdio("garbled", ["--json-array"], { name: "line" }), http("body", server.url));
    await using hub = await openHub(both, { channel: { log: logs.tell } });
    for (const name of ["line", "body"]) {
      expect((await hub.call(`${name}.unicode`)).text).toBe("Grüße, 世界 👋");
    }
    expect(await logs.next()).toMatchObject({ data: "working, grüßend" });
  });

  it("is understood inside a stream event", async () => {
    await using server = await startServer("resuming", ["--batches"]);
    const logs = new Told<ServerLog>();
    await using hub = await openHub(configOf(http("resuming", server.url)), { channel: { log: logs.tell } });
    expect(hub.status()[0]?.revision).toBe("2025-03-26");
    expect((await hub.call("resuming.batch")).text).toBe("third");
    expect([(await logs.next()).data, (await logs.next()).data]).toEqual(["first", "second"]);
    // Resumption counts events, not messages.
    expect((await hub.call("resuming.interrupted", { text: "still works" })).text).toBe("still works");
  });
});
