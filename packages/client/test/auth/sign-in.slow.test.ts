// Signs in to a server that uses a real authorization server, with real sockets and an unattended browser.

import { statSync } from "node:fs";
import { connect } from "node:net";
import { Redactor } from "@trunkline/core";
import { describe, expect, it } from "vitest";
import { browse, isCallback } from "../../../../test/servers/browser.js";
import { startServer } from "../../../../test/servers/start.js";
import { openHub, type SignInRequest } from "../../src/index.js";
import { configOf, http, until } from "../hub/fixtures.js";
import { byBrowser, countsOf, Home, tell } from "./fixtures.js";

describe("signing in", () => {
  it("connects a server that answers 401 once the user has signed in, and saves everything so that only its owner can read it", async () => {
    using home = new Home();
    await using server = await startServer("oauth");
    const addresses: string[] = [];
    await using hub = await openHub(configOf(http("docs", server.url)), {
      home: home.path,
      signIn: async (request) => {
        addresses.push(request.url);
        expect(request.server).toBe("docs");
        return await byBrowser(request);
      },
    });
    expect(hub.status()[0]?.error).toBeUndefined();
    expect(hub.status()[0]?.signIn).toMatchObject({
      signedIn: true,
      renewable: true,
      issuer: new URL(server.url).origin,
    });
    expect(hub.tools().map(({ tool }) => tool)).toEqual(["hello", "repeat"]);
    expect((await hub.call("docs.hello", { name: "Ada" })).text).toBe("Hello, Ada!");
    expect(await countsOf(server.url)).toMatchObject({ registrations: 1, authorizations: 1 });

    expect(addresses).toHaveLength(1);
    const asked = new URL(addresses[0] ?? "").searchParams;
    expect(asked.get("code_challenge_method")).toBe("S256");
    expect(asked.get("resource")).toBe(server.url);
    expect(asked.get("state")?.length).toBeGreaterThan(20);
    expect(asked.get("redirect_uri")).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);

    expect(statSync(home.folder).mode & 0o777).toBe(0o700);
    for (const { path } of home.files()) expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it("leaves a server in needs-auth with instructions if no user can be asked", async () => {
    await using server = await startServer("oauth");
    await using hub = await openHub(configOf(http("docs", server.url)));
    const [status] = hub.status();
    expect(status?.state).toBe("needs-auth");
    expect(status?.error).toMatchObject({ code: "AUTH_REQUIRED", hint: "Sign in: trunkline auth login docs" });
    expect(hub.tools()).toEqual([]);
    expect(hub.toolNames()).toEqual(["mcp__docs__authenticate"]);
    await expect(hub.call("mcp__docs__authenticate")).rejects.toMatchObject({ code: "AUTH_REQUIRED" });
    expect(await countsOf(server.url)).toMatchObject({ registrations: 0 });
  });

  it("lets an agent have its user sign in, then lists the tools and reports the catalogue change", async () => {
    await using server = await startServer("oauth");
    let isThere = false;
    await using hub = await openHub(configOf(http("docs", server.url)), {
      signIn: async (request) => (isThere ? await byBrowser(request) : "cancelled"),
    });
    expect(hub.status()[0]?.state).toBe("needs-auth");
    const refused = await hub.call("mcp__docs__authenticate");
    expect(refused.isError).toBe(true);
    expect(hub.status()[0]?.state).toBe("needs-auth");

    isThere = true;
    let changes = 0;
    hub.onCatalogChanged(() => {
      changes++;
    });
    const done = await hub.call("mcp__docs__authenticate");
    expect(done).toMatchObject({ isError: false, text: 'Signed in to "docs". It now has 2 tools.' });
    expect(changes).toBe(1);
    expect(hub.toolNames()).toEqual(["mcp__docs__hello", "mcp__docs__repeat"]);
  });

  it("stays in needs-auth when the user declines in the browser", async () => {
    await using server = await startServer("oauth", ["--deny"]);
    await using hub = await openHub(configOf(http("docs", server.url)), { signIn: byBrowser });
    expect(hub.status()[0]).toMatchObject({ state: "needs-auth", error: { data: { signIn: "cancelled" } } });
    expect(await hub.authenticate("docs")).toBe("cancelled");
  });

  it("fails the connect when the callback throws", async () => {
    await using server = await startServer("oauth");
    await using hub = await openHub(configOf(http("docs", server.url)), {
      signIn: async () => {
        throw new Error("no screen");
      },
    });
    expect(hub.status()[0]).toMatchObject({ state: "failed" });
    expect(hub.status()[0]?.error?.message).toBe('Signing in to "docs" failed: no screen');
  });

  it("accepts the pasted URL if the browser cannot reach this machine, and rejects a different one", async () => {
    await using server = await startServer("oauth");
    const refusals: unknown[] = [];
    await using hub = await openHub(configOf(http("docs", server.url)), {
      signIn: async ({ url, submit }) => {
        const end = await browse(url, { until: isCallback });
        await submit("http://127.0.0.1:1/callback?code=stolen&state=wrong").catch((error: unknown) =>
          refusals.push(error),
        );
        await submit("what is this").catch((error: unknown) => refusals.push(error));
        await submit(` ${end.url}\n`);
        return "completed";
      },
    });
    expect(refusals).toMatchObject([{ code: "INVALID_ARGUMENT" }, { code: "INVALID_ARGUMENT" }]);
    expect(hub.status()[0]?.state).toBe("connected");
  });

  it("answers a redirect with an unknown state with 400 and keeps waiting", async () => {
    await using server = await startServer("oauth");
    let status: number | undefined;
    await using hub = await openHub(configOf(http("docs", server.url)), {
      signIn: async ({ url }) => {
        const callback = new URL(new URL(url).searchParams.get("redirect_uri") ?? "");
        callback.search = "?code=stolen&state=guessed";
        status = (await fetch(callback)).status;
        await browse(url);
        return "completed";
      },
    });
    expect(status).toBe(400);
    expect(hub.status()[0]?.state).toBe("connected");
  });

  it("rejects an answer that names another issuer", async () => {
    using home = new Home();
    await using server = await startServer("oauth");
    await using hub = await openHub(configOf(http("docs", server.url)), {
      home: home.path,
      signIn: async ({ url, submit }) => {
        const end = new URL((await browse(url, { until: isCallback })).url);
        end.searchParams.set("iss", "https://elsewhere.example");
        await submit(end.href);
        return "completed";
      },
    });
    expect(hub.status()[0]).toMatchObject({ state: "needs-auth", error: { code: "PROTOCOL" } });
    expect(home.grant().tokens).toBeUndefined();
  });

  it("closes its listener on timeout, independently of the connect timeout", async () => {
    await using server = await startServer("oauth");
    let port = 0;
    const ended: boolean[] = [];
    const definition = http("docs", server.url, { connectTimeoutMs: 20_000 });
    await using hub = await openHub(configOf(definition), {
      signInTimeoutMs: 2_000,
      signIn: async ({ url, signal }) => {
        port = Number(new URL(new URL(url).searchParams.get("redirect_uri") ?? "").port);
        signal.addEventListener("abort", () => ended.push(true));
        return "completed";
      },
    });
    expect(hub.status()[0]).toMatchObject({ state: "needs-auth", error: { code: "AUTH_REQUIRED" } });
    expect(ended).toEqual([true]);
    const refused = await new Promise((resolve) => {
      connect(port, "127.0.0.1")
        .once("error", resolve)
        .once("connect", () => resolve("somebody listens"));
    });
    expect(refused).toMatchObject({ code: "ECONNREFUSED" });
  });

  it("ends an unfinished sign-in when the hub is closed", async () => {
    await using server = await startServer("oauth");
    const requests: SignInRequest[] = [];
    const closing = new AbortController();
    const opening = openHub(configOf(http("docs", server.url)), {
      signal: closing.signal,
      signIn: async (request) => {
        requests.push(request);
        closing.abort();
        return "completed";
      },
    });
    await using hub = await opening;
    await hub.close();
    expect(requests[0]?.signal.aborted).toBe(true);
  });

  it("asks once when many calls need a sign-in", async () => {
    await using server = await startServer("oauth");
    let asked = 0;
    await using hub = await openHub(configOf(http("docs", server.url)), {
      lazy: true,
      signIn: async (request) => {
        asked++;
        return await byBrowser(request);
      },
    });
    const results = await Promise.all(Array.from({ length: 10 }, () => hub.call("docs.hello")));
    expect(results.map(({ text }) => text)).toEqual(Array(10).fill("Hello, world!"));
    expect(asked).toBe(1);
  });

  it("requests a wider scope when a call needs it, keeps the granted scopes, and repeats the call", async () => {
    using home = new Home();
    await using server = await startServer("oauth", ["--guard", "repeat=shout"]);
    const scopes: (string | null)[] = [];
    await using hub = await openHub(configOf(http("docs", server.url)), {
      home: home.path,
      signIn: async (request) => {
        scopes.push(new URL(request.url).searchParams.get("scope"));
        return await byBrowser(request);
      },
    });
    expect((await hub.call("docs.repeat", { text: "hey" })).text).toBe("hey hey");
    expect(scopes).toHaveLength(2);
    expect(scopes[0]?.split(" ")).not.toContain("shout");
    expect(scopes[1]?.split(" ")).toEqual(expect.arrayContaining(["greet", "shout"]));
    expect(await countsOf(server.url)).toMatchObject({ authorizations: 2 });
  });

  it("keeps the existing sign-in if the user declines to grant more", async () => {
    using home = new Home();
    await using server = await startServer("oauth", ["--guard", "repeat=shout"]);
    const config = configOf(http("docs", server.url));
    await (await openHub(config, { home: home.path, signIn: byBrowser })).close();
    await using hub = await openHub(config, { home: home.path, signIn: async () => "cancelled" });
    await expect(hub.call("docs.repeat", { text: "hey" })).rejects.toMatchObject({ code: "AUTH_REQUIRED" });
    await tell(server.url, "expire");
    expect((await hub.call("docs.hello")).text).toBe("Hello, world!");
  });

  it("keeps the rest usable if no user can grant more, and requests it with the next sign-in", async () => {
    using home = new Home();
    await using server = await startServer("oauth", ["--guard", "repeat=shout"]);
    const config = configOf(http("docs", server.url));
    await (await openHub(config, { home: home.path, signIn: byBrowser })).close();
    {
      await using hub = await openHub(config, { home: home.path });
      const refused = hub.call("docs.repeat", { text: "hey" });
      await expect(refused).rejects.toMatchObject({
        code: "AUTH_REQUIRED",
        hint: "Sign in: trunkline auth login docs",
      });
      await expect(refused).rejects.toThrow("shout");
      expect((await hub.call("docs.hello")).text).toBe("Hello, world!");
    }
    await using hub = await openHub(config, { home: home.path, signIn: byBrowser });
    expect(await hub.authenticate("docs")).toBe("completed");
    expect((await hub.call("docs.repeat", { text: "hey" })).text).toBe("hey hey");
  });

  it("signs in with a manually registered client", async () => {
    using home = new Home();
    await using server = await startServer("oauth", [
      "--no-registration",
      "--client",
      "known-client:known-client-secret",
    ]);
    const auth = {
      grant: "authorization_code",
      clientId: "known-client",
      clientSecret: "known-client-secret",
      redirectUri: "http://127.0.0.1/callback",
    } as const;
    await using hub = await openHub(configOf(http("docs", server.url, { auth })), {
      home: home.path,
      signIn: byBrowser,
    });
    expect(hub.status()[0]?.state).toBe("connected");
    expect(JSON.stringify(hub.status())).not.toContain("known-client-secret");
    expect(JSON.stringify(home.files())).not.toContain("known-client-secret");
    await tell(server.url, "expire");
    expect((await hub.call("docs.hello")).text).toBe("Hello, world!");
    expect((await countsOf(server.url)).grants).toMatchObject({ refresh_token: 1 });
  });

  it("does not send a client to an issuer that its entry does not name", async () => {
    await using server = await startServer("oauth", ["--client", "known-client:known-client-secret"]);
    const auth = {
      grant: "client_credentials",
      clientId: "known-client",
      clientSecret: "known-client-secret",
      issuer: "https://auth.example",
    } as const;
    await using hub = await openHub(configOf(http("docs", server.url, { auth })));
    expect(hub.status()[0]).toMatchObject({ error: { code: "PROTOCOL" } });
    expect((await countsOf(server.url)).grants).toEqual({});
  });

  it("signs a machine in with client credentials, and again when its token expires, without a user", async () => {
    await using server = await startServer("oauth", ["--client", "known-client:known-client-secret"]);
    const auth = {
      grant: "client_credentials",
      clientId: "known-client",
      clientSecret: "known-client-secret",
      issuer: new URL(server.url).origin,
    } as const;
    await using hub = await openHub(configOf(http("docs", server.url, { auth })));
    expect((await hub.call("docs.hello")).text).toBe("Hello, world!");
    await tell(server.url, "expire");
    expect((await hub.call("docs.hello")).text).toBe("Hello, world!");
    expect((await countsOf(server.url)).grants).toEqual({ client_credentials: 2 });
    expect(hub.status()[0]?.signIn).toMatchObject({ kind: "client-credentials", signedIn: true });
  });

  it("finds an authorization server without protected resource metadata", async () => {
    await using server = await startServer("oauth", ["--no-metadata"]);
    await using hub = await openHub(configOf(http("docs", server.url)), { signIn: byBrowser });
    expect(hub.status()[0]?.state).toBe("connected");
  });

  it("does not sign in to a server whose entry has its own token", async () => {
    await using server = await startServer("oauth");
    let asked = 0;
    const headers = { Authorization: "Bearer of-the-entry" };
    await using hub = await openHub(configOf(http("docs", server.url, { headers })), {
      signIn: async () => {
        asked++;
        return "completed";
      },
    });
    expect(asked).toBe(0);
    expect(hub.status()[0]).toMatchObject({
      state: "needs-auth",
      error: {
        message: 'Server "docs" rejected the Authorization header.',
        hint: 'Check the token under "headers" in its entry.',
      },
    });
  });

  it("notices a sign-in completed elsewhere, and lists the tools without being asked", async () => {
    using home = new Home();
    await using server = await startServer("oauth");
    const config = configOf(http("docs", server.url));
    await using waiting = await openHub(config, { home: home.path });
    expect(waiting.status()[0]?.state).toBe("needs-auth");
    await (await openHub(config, { home: home.path, signIn: byBrowser })).close();
    await until(
      () => waiting.tools().length === 2,
      (listener) => waiting.onCatalogChanged(listener),
    );
    expect((await waiting.call("docs.hello")).text).toBe("Hello, world!");
  });

  it("gives instructions if programs cannot register themselves", async () => {
    await using server = await startServer("oauth", ["--no-registration"]);
    await using hub = await openHub(configOf(http("docs", server.url)), { signIn: byBrowser });
    expect(hub.status()[0]).toMatchObject({ state: "needs-auth", error: { code: "AUTH_REQUIRED" } });
    expect(hub.status()[0]?.error?.hint).toContain('"client_id"');
  });

  it("signs in over HTTP+SSE too, and refreshes there", async () => {
    using home = new Home();
    await using server = await startServer("oauth", ["--sse"]);
    await using hub = await openHub(configOf(http("docs", server.url, { type: "sse" })), {
      home: home.path,
      signIn: byBrowser,
    });
    expect((await hub.call("docs.hello")).text).toBe("Hello, world!");
    await tell(server.url, "expire");
    expect((await hub.call("docs.hello")).text).toBe("Hello, world!");
    expect((await countsOf(server.url)).grants).toMatchObject({ refresh_token: 1 });
  });

  it("redacts tokens and codes from all output", async () => {
    using home = new Home();
    await using server = await startServer("oauth");
    const redactor = new Redactor();
    await using hub = await openHub(configOf(http("docs", server.url)), {
      home: home.path,
      redactor,
      signIn: byBrowser,
    });
    await until(
      () => hub.status()[0]?.state === "connected",
      (listener) => hub.onStatusChanged(listener),
    );
    const { tokens } = home.grant();
    for (const secret of [tokens?.access_token, tokens?.refresh_token]) {
      expect(redactor.text(`<${secret}>`)).toBe("<<redacted>>");
    }
  });
});
