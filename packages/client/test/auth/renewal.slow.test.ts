// A sign-in over time: restarts, token expiry, and an authorization server that changes its mind.
import { describe, expect, it } from "vitest";
import { startServer } from "../../../../test/servers/start.js";
import { forgetSignIn, readSignIn } from "../../src/auth/kept-sign-ins.js";
import { openHub } from "../../src/index.js";
import { configOf, http } from "../hub/fixtures.js";
import { byBrowser, countsOf, Home, tell } from "./fixtures.js";

describe("saved sign-in", () => {
  it("survives a restart and token expiry without the user and without a second registration", async () => {
    using home = new Home();
    await using server = await startServer("oauth");
    const config = configOf(http("docs", server.url));
    await (await openHub(config, { home: home.path, signIn: byBrowser })).close();
    const first = home.grant().tokens;

    home.letTokensEnd();
    await tell(server.url, "expire");
    await using hub = await openHub(config, { home: home.path });
    expect((await hub.call("docs.hello")).text).toBe("Hello, world!");
    const counts = await countsOf(server.url);
    expect(counts).toMatchObject({ registrations: 1, authorizations: 1, grants: { refresh_token: 1 } });
    // Refreshed before expiry, not after a 401: the only 401 was that of the first connect.
    expect(counts.unauthorized).toBe(1);
    const second = home.grant().tokens;
    expect(second?.access_token).not.toBe(first?.access_token);
    expect(second?.refresh_token).not.toBe(first?.refresh_token);
  });

  it("keeps the old refresh token if the response has no new one", async () => {
    using home = new Home();
    await using server = await startServer("oauth", ["--keep-refresh"]);
    const config = configOf(http("docs", server.url));
    await using hub = await openHub(config, { home: home.path, signIn: byBrowser });
    const first = home.grant().tokens;
    expect(first?.refresh_token).toBeDefined();
    for (let round = 1; round <= 2; round++) {
      await tell(server.url, "expire");
      expect((await hub.call("docs.hello")).text).toBe("Hello, world!");
      expect(home.grant().tokens?.refresh_token).toBe(first?.refresh_token);
      expect((await countsOf(server.url)).grants.refresh_token).toBe(round);
    }
    expect(home.grant().tokens?.scope).toBe(first?.scope);
  });

  it("refreshes once when many calls find the token expired in mid-session", async () => {
    using home = new Home();
    await using server = await startServer("oauth");
    await using hub = await openHub(configOf(http("docs", server.url)), { home: home.path, signIn: byBrowser });
    await tell(server.url, "expire");
    const results = await Promise.all(Array.from({ length: 20 }, () => hub.call("docs.hello")));
    expect(results.every(({ text }) => text === "Hello, world!")).toBe(true);
    expect((await countsOf(server.url)).grants.refresh_token).toBe(1);
  });

  it("changes a server to needs-auth in mid-session if the token cannot be refreshed, and offers authenticate", async () => {
    using home = new Home();
    await using server = await startServer("oauth");
    let changes = 0;
    await using hub = await openHub(configOf(http("docs", server.url)), {
      home: home.path,
      signIn: byBrowser,
      onCatalogChanged: () => {
        changes++;
      },
    });
    await tell(server.url, "revoke");
    const before = changes;
    await expect(hub.call("docs.hello")).rejects.toMatchObject({ code: "AUTH_REQUIRED" });
    expect(hub.status()[0]).toMatchObject({ state: "needs-auth", toolCount: 0 });
    expect(hub.toolNames()).toEqual(["mcp__docs__authenticate"]);
    expect(changes).toBe(before + 1);
    // Not automatically: a call in mid-session must not open windows.
    expect(await countsOf(server.url)).toMatchObject({ authorizations: 1 });

    expect((await hub.call("mcp__docs__authenticate")).isError).toBe(false);
    expect((await hub.call("docs.hello")).text).toBe("Hello, world!");
    expect(await countsOf(server.url)).toMatchObject({ registrations: 1, authorizations: 2 });
  });

  it("is kept while the authorization server is failing", async () => {
    using home = new Home();
    await using server = await startServer("oauth");
    const config = configOf(http("docs", server.url));
    await (await openHub(config, { home: home.path, signIn: byBrowser })).close();
    const { tokens } = home.grant();
    await tell(server.url, "expire");
    await tell(server.url, "fail-tokens?times=1");
    await using hub = await openHub(config, { home: home.path });
    expect(hub.status()[0]).toMatchObject({ state: "failed", error: { code: "CONNECTION_FAILED", retryable: true } });
    expect(home.grant().tokens).toEqual(tokens);
    expect((await hub.call("docs.hello")).text).toBe("Hello, world!");
  });

  it("registers again if the authorization server has forgotten the client", async () => {
    using home = new Home();
    await using server = await startServer("oauth");
    const config = configOf(http("docs", server.url));
    await (await openHub(config, { home: home.path, signIn: byBrowser })).close();
    const { client } = home.grant();
    await tell(server.url, "forget");
    await using hub = await openHub(config, { home: home.path, signIn: byBrowser });
    expect(hub.status()[0]?.state).toBe("connected");
    expect(home.grant().client?.client_id).not.toBe(client?.client_id);
  });

  it("is not used for another server or another client of the same server", async () => {
    using home = new Home();
    await using server = await startServer("oauth");
    await using other = await startServer("oauth");
    await (await openHub(configOf(http("docs", server.url)), { home: home.path, signIn: byBrowser })).close();
    const auth = { grant: "authorization_code", clientId: "another-client" } as const;
    await using hub = await openHub(configOf(http("docs", other.url), http("mine", server.url, { auth })), {
      home: home.path,
    });
    expect(hub.status().map(({ state }) => state)).toEqual(["needs-auth", "needs-auth"]);
  });

  it("is deleted by signing out, and revoked at the authorization server", async () => {
    using home = new Home();
    await using server = await startServer("oauth");
    const definition = http("docs", server.url);
    await (await openHub(configOf(definition), { home: home.path, signIn: byBrowser })).close();
    expect(await readSignIn(definition, { home: home.path })).toMatchObject({ kind: "person", signedIn: true });
    expect(await forgetSignIn(definition, { home: home.path })).toBe(true);
    expect(home.files()).toEqual([]);
    expect(await countsOf(server.url)).toMatchObject({ revocations: 1 });
    expect(await readSignIn(definition, { home: home.path })).toMatchObject({ signedIn: false });
    expect(await forgetSignIn(definition, { home: home.path })).toBe(false);
  });
});
