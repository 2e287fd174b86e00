// Hubs that share a server which needs a sign-in: the user of one is asked, and all of them are signed in.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startServer } from "../../../../test/servers/start.js";
import type { Channel, Hub, SignIn } from "../../src/index.js";
import { byBrowser, Home } from "../auth/fixtures.js";
import { http, until } from "../hub/fixtures.js";
import { createSignal, PoolHubs } from "./fixtures.js";

let server: Awaited<ReturnType<typeof startServer>>;
beforeAll(async () => {
  server = await startServer("oauth");
});
afterAll(async () => await server[Symbol.asyncDispose]());

const stateOf = (hub: Hub) => hub.status()[0]?.state;
const connected = (hub: Hub) =>
  until(
    () => stateOf(hub) === "connected",
    (listener) => hub.onStatusChanged(listener),
  );

describe("a sign-in to a shared server", () => {
  it("asks the channel that made the call, and connects every hub", async () => {
    using home = new Home();
    await using hubs = new PoolHubs();
    const asked: string[] = [];
    const asking =
      (name: string): SignIn =>
      async (request) => {
        asked.push(name);
        return await byBrowser(request);
      };
    const options = (name: string) => ({ home: home.path, workspace: name, channel: { signIn: asking(name) } });
    const one = await hubs.open(http("sec", server.url), options("one"));
    const two = await hubs.open(http("sec", server.url), options("two"));
    expect([one, two].map(stateOf)).toEqual(["needs-auth", "needs-auth"]);
    const channel: Channel = { signIn: asking("the call's") };
    const result = await one.call({ server: "sec", tool: "authenticate" }, {}, { channel });
    expect(result.text).toBe('Signed in to "sec". It now has 2 tools.');
    expect(asked).toEqual(["the call's"]);
    await connected(two);
    expect(two.tools()).toHaveLength(2);
    expect((await two.call("sec.hello", { name: "Ada" })).text).toBe("Hello, Ada!");
    expect(hubs.pool.servers()).toHaveLength(1);
  });

  it("does not keep a hub waiting for another hub's user", async () => {
    using home = new Home();
    await using hubs = new PoolHubs();
    const [asked, mayGo] = [createSignal(), createSignal()];
    const opening = hubs.open(http("sec", server.url), {
      home: home.path,
      signIn: async (request) => {
        asked.resolve();
        await mayGo.promise;
        return await byBrowser(request);
      },
    });
    await asked.promise;
    const two = await hubs.open(http("sec", server.url), { home: home.path, workspace: "two" });
    expect(stateOf(two)).toBe("needs-auth");
    mayGo.resolve();
    const one = await opening;
    expect(stateOf(one)).toBe("connected");
    await connected(two);
    expect(hubs.pool.servers()).toMatchObject([{ hubs: ["", ""] }]);
  });

  it("ends with the hub whose user is asked, and another hub's user can sign in then", async () => {
    using home = new Home();
    await using hubs = new PoolHubs();
    const [asked, withdrawn] = [createSignal(), createSignal()];
    const one = await hubs.open(http("sec", server.url), { home: home.path });
    const two = await hubs.open(http("sec", server.url), { home: home.path });
    const channel: Channel = {
      signIn: ({ signal }) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => {
            withdrawn.resolve();
            resolve("completed");
          });
          asked.resolve();
        }),
    };
    const call = one.call({ server: "sec", tool: "authenticate" }, {}, { channel });
    call.catch(() => {});
    await asked.promise;
    await one.close();
    await withdrawn.promise;
    await expect(call).rejects.toMatchObject({ code: "CLOSED" });
    const result = await two.call({ server: "sec", tool: "authenticate" }, {}, { channel: { signIn: byBrowser } });
    expect(result).toMatchObject({ isError: false });
  });
});
