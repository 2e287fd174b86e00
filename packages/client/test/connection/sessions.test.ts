import { describe, expect, it } from "vitest";
import { SessionServer } from "../../../../test/support/session-server.js";
import { openHub } from "../../src/index.js";
import { configOf, http } from "../hub/fixtures.js";

describe("closing the hub", () => {
  it("ends the HTTP session of every server", async () => {
    await using one = await new SessionServer().listen();
    await using two = await new SessionServer({ token: "t0ken-of-two" }).listen();
    const hub = await openHub(
      configOf(http("one", one.url), http("two", two.url, { headers: { Authorization: "Bearer t0ken-of-two" } })),
    );
    expect([one.open.size, two.open.size]).toEqual([1, 1]);
    await hub.call("one.hello");
    await hub.close();
    await hub.close();
    expect([one.opened, one.deletes, one.open.size]).toEqual([1, 1, 0]);
    expect([two.opened, two.deletes, two.open.size]).toEqual([1, 1, 0]);
  });

  it("ends the session while a call is running, which rejects with CLOSED", async () => {
    await using server = await new SessionServer().listen();
    const hub = await openHub(configOf(http("one", server.url)));
    const call = hub.call("one.wait");
    call.catch(() => {});
    await server.waiting;
    await hub.close();
    await expect(call).rejects.toMatchObject({ code: "CLOSED" });
    expect(server.open.size).toBe(0);
  });

  it.each(["refuse", "hang"] as const)("succeeds if the server does not end sessions (%s)", async (onDelete) => {
    await using server = await new SessionServer({ onDelete }).listen();
    const hub = await openHub(configOf(http("one", server.url)));
    await hub.close();
    expect(server.deletes).toBe(1);
  });

  it("succeeds if the server is gone", async () => {
    const server = await new SessionServer().listen();
    const hub = await openHub(configOf(http("one", server.url)));
    await server[Symbol.asyncDispose]();
    await hub.close();
    await expect(hub.call("one.hello")).rejects.toMatchObject({ code: "CLOSED" });
  });

  it("ends the session of a connection that was still being opened", async () => {
    let onListing = () => {};
    const listing = new Promise<void>((resolve) => {
      onListing = resolve;
    });
    await using server = await new SessionServer({
      isExpired: (method) => {
        if (method === "tools/list") onListing();
        return false;
      },
    }).listen();
    const controller = new AbortController();
    const opening = openHub(configOf(http("one", server.url)), { signal: controller.signal });
    await listing;
    controller.abort();
    await (await opening).close();
    expect([server.opened, server.open.size]).toEqual([1, 0]);
  });
});

describe("a reload", () => {
  it("ends the session of a server that is removed", async () => {
    await using server = await new SessionServer().listen();
    await using hub = await openHub(configOf(http("one", server.url)));
    await hub.reload(configOf());
    expect([server.opened, server.open.size]).toEqual([1, 0]);
  });
});

describe("a session that expires again right after it was reopened", () => {
  it("fails the call with an error that says so, and the next call works", async () => {
    let left = 2;
    await using server = await new SessionServer({
      isExpired: (method) => method === "tools/call" && left-- > 0,
    }).listen();
    await using hub = await openHub(configOf(http("one", server.url)));
    await expect(hub.call("one.hello")).rejects.toMatchObject({
      code: "CONNECTION_FAILED",
      message: 'tools/call on "one" failed: the server ended the session, and then also the one opened in its place.',
      hint: "The server did not run it. Try again, or restart the server.",
      retryable: true,
      data: { cause: "session-expired" },
    });
    expect((await hub.call("one.hello")).text).toBe("Hello!");
    // No one sends a DELETE for a session that is gone.
    expect(server.deletes).toBe(0);
  });

  it("fails a listing with the same error", async () => {
    await using server = await new SessionServer({ isExpired: (method) => method === "tools/list" }).listen();
    await using hub = await openHub(configOf(http("one", server.url)));
    const [status] = hub.status();
    expect(JSON.stringify(status)).not.toContain("INTERNAL");
    expect(hub.warnings()).toMatchObject([{ server: "one", message: expect.stringContaining("session") }]);
    await expect(hub.request("one", "tools/list")).rejects.toMatchObject({
      code: "CONNECTION_FAILED",
      message: expect.stringContaining('tools/list on "one" failed: the server ended the session'),
    });
  });
});
