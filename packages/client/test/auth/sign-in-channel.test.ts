// A sign-in that a call of `authenticate` starts reaches the user of the channel that made the call.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { browse } from "../../../../test/servers/browser.js";
import { startServer } from "../../../../test/servers/start.js";
import { type Channel, openHub, type SignInRequest } from "../../src/index.js";
import { configOf, http } from "../hub/fixtures.js";

let home: string;
let server: Awaited<ReturnType<typeof startServer>>;

beforeAll(async () => {
  server = await startServer("oauth");
});

afterAll(async () => await server[Symbol.asyncDispose]());

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "trunkline-sign-in-"));
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

const callAuthenticate = { server: "sec", tool: "authenticate" };

describe("calling authenticate", () => {
  it.each(["call", "scope", "hub"])("asks the channel of the %s, and only that one", async (where) => {
    const asked: string[] = [];
    const channel: Channel = {
      signIn: async ({ server: name, url }: SignInRequest) => {
        asked.push(name);
        await browse(url);
        return "completed";
      },
    };
    const config = configOf(http("sec", server.url));
    await using hub = await openHub(config, { home, ...(where === "hub" ? { channel } : {}) });
    // Connecting alone asks no one.
    expect(hub.status()).toMatchObject([{ name: "sec", state: "needs-auth" }]);
    expect(asked).toEqual([]);
    const call = () => hub.call(callAuthenticate, {}, where === "call" ? { channel } : {});
    const result = where === "scope" ? await hub.withChannel(channel, call) : await call();
    expect(result).toMatchObject({ isError: false, text: 'Signed in to "sec". It now has 2 tools.' });
    expect(asked).toEqual(["sec"]);
    expect(hub.toolNames()).toEqual(["mcp__sec__hello", "mcp__sec__repeat"]);
  });

  it("says where to sign in if no one can be asked", async () => {
    await using hub = await openHub(configOf(http("sec", server.url)), { home });
    await expect(hub.call("sec.authenticate")).rejects.toMatchObject({
      code: "AUTH_REQUIRED",
      message: 'Server "sec" needs you to sign in.',
      hint: expect.stringContaining("on the machine where Trunkline runs: trunkline auth login sec."),
    });
    expect(hub.status()).toMatchObject([{ state: "needs-auth" }]);
  });

  it("withdraws the question when the caller gives up, and can be called again", async () => {
    await using hub = await openHub(configOf(http("sec", server.url)), { home });
    const giveUp = new AbortController();
    const waiting: Channel = {
      signIn: ({ signal }) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => resolve("completed"));
          giveUp.abort();
        }),
    };
    const options = { channel: waiting, signal: giveUp.signal };
    await expect(hub.call(callAuthenticate, {}, options)).rejects.toMatchObject({ code: "ABORTED" });
    const channel: Channel = {
      signIn: async ({ url }) => {
        await browse(url);
        return "completed";
      },
    };
    expect(await hub.call(callAuthenticate, {}, { channel })).toMatchObject({ isError: false });
  });

  it("is an error of the tool if the user declines", async () => {
    await using hub = await openHub(configOf(http("sec", server.url)), { home });
    const result = await hub.call(callAuthenticate, {}, { channel: { signIn: async () => "cancelled" } });
    expect(result).toMatchObject({ isError: true, text: 'The user did not sign in to "sec".' });
  });
});
