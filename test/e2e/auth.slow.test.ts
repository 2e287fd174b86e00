// Signs in through the command, using a real authorization server.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { browse, isCallback } from "../servers/browser.js";
import { startServer } from "../servers/start.js";
import { outcomeOf, Place, seen } from "./command.js";

const ADDRESS = /^ {2}(http\S+)$/m;

interface KeptGrant {
  tokens?: { access_token: string; refresh_token?: string };
  expiresAtMs?: number;
}

function placeFor(url: string, entry: Record<string, unknown> = {}): Place {
  return new Place({ "mcp.json": { mcpServers: { docs: { url, ...entry } } } }, { TRUNKLINE_MCP_FILE: "mcp.json" });
}

/** Signs in like a person who opens the displayed URL. */
async function login(place: Place): Promise<void> {
  const child = place.start(["auth", "login", "docs", "--no-browser"]);
  const ended = outcomeOf(child);
  const [, url = ""] = await seen(child.stderr, ADDRESS);
  await browse(url);
  expect(await ended).toMatchObject({ code: 0, stdout: 'Signed in to "docs": 2 tools.\n' });
}

function credentialFiles(place: Place): string[] {
  const folder = join(place.home, ".trunkline", "credentials");
  return readdirSync(folder)
    .filter((name) => name.endsWith(".json"))
    .map((name) => join(folder, name));
}

function grantOf(place: Place): KeptGrant {
  const [path = ""] = credentialFiles(place);
  const { grants } = JSON.parse(readFileSync(path, "utf8")) as { grants: Record<string, KeptGrant> };
  return Object.values(grants)[0] ?? {};
}

/** Makes the access token look expired. */
function letTokensEnd(place: Place): void {
  for (const path of credentialFiles(place)) {
    const content = JSON.parse(readFileSync(path, "utf8")) as { grants: Record<string, KeptGrant> };
    for (const grant of Object.values(content.grants)) grant.expiresAtMs = 1;
    writeFileSync(path, JSON.stringify(content));
  }
}

async function countsOf(url: string): Promise<unknown> {
  return await (await fetch(new URL("/test/counts", url))).json();
}

async function tell(url: string, what: string): Promise<void> {
  await fetch(new URL(`/test/${what}`, url), { method: "POST" });
}

// Runs up to nine processes one after another, and four at once, possibly on two cores.
describe("trunkline auth", () => {
  it("refreshes an expired token after a restart without a new sign-in or registration", async () => {
    await using server = await startServer("oauth");
    using place = placeFor(server.url);
    await login(place);
    for (const path of credentialFiles(place)) expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(await place.run(["call", "docs.hello", "name=Ada"])).toMatchObject({ code: 0, stdout: "Hello, Ada!\n" });

    letTokensEnd(place);
    await tell(server.url, "expire");
    expect(await place.run(["call", "docs.hello", "name=Ada"])).toMatchObject({ code: 0, stdout: "Hello, Ada!\n" });
    expect(await countsOf(server.url)).toMatchObject({
      registrations: 1,
      authorizations: 1,
      grants: { authorization_code: 1, refresh_token: 1 },
    });
  });

  it("lets only one of several processes refresh, and keeps a usable refresh token", async () => {
    await using server = await startServer("oauth");
    using place = placeFor(server.url);
    await login(place);
    for (const round of [1, 2]) {
      letTokensEnd(place);
      await tell(server.url, "expire");
      const outcomes = await Promise.all(
        [...Array(2)].flatMap(() => [place.runProcess(["call", "docs.hello"]), place.run(["call", "docs.hello"])]),
      );
      expect(outcomes.map(({ code, stderr }) => ({ code, stderr }))).toEqual(Array(4).fill({ code: 0, stderr: "" }));
      // With rotation, a second process that used the old refresh token would have invalidated the sign-in for all of
      // them.
      expect(await countsOf(server.url)).toMatchObject({ registrations: 1, grants: { refresh_token: round } });
    }
  });

  it("does not wait for a process that was killed while holding the lock", async () => {
    await using server = await startServer("oauth");
    using place = placeFor(server.url);
    await login(place);
    const [path = ""] = credentialFiles(place);
    const holder = spawn(process.execPath, [fileURLToPath(new URL("lock-holder.js", import.meta.url)), `${path}.lock`]);
    await seen(holder.stdout, /held/);
    holder.kill("SIGKILL");
    await once(holder, "exit");
    letTokensEnd(place);
    expect(await place.run(["call", "docs.hello"])).toMatchObject({ code: 0, stdout: "Hello, world!\n" });
    expect(await countsOf(server.url)).toMatchObject({ grants: { refresh_token: 1 } });
  });

  it("accepts a pasted URL if the browser cannot reach this machine", async () => {
    await using server = await startServer("oauth");
    using place = placeFor(server.url);
    const child = place.start(["auth", "login", "docs"]);
    const ended = outcomeOf(child);
    const [, url = ""] = await seen(child.stderr, ADDRESS);
    const end = await browse(url, { until: isCallback });
    const refused = seen(child.stderr, /That is not the final URL of this sign-in/);
    child.stdin?.write("http://127.0.0.1:1/callback?code=x&state=y\n");
    await refused;
    child.stdin?.write(`${end.url}\n`);
    const { code, stdout, stderr } = await ended;
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'Signed in to "docs": 2 tools.\n' });
    expect(stderr).toContain(`this URL on ${new URL(server.url).host}`);
    expect(stderr).not.toContain(new URL(end.url).searchParams.get("code"));
  });

  it("ends with 3 and the next command if a sign-in is needed, and with 130 on Ctrl-C", async () => {
    await using server = await startServer("oauth");
    using place = placeFor(server.url);
    const called = await place.run(["call", "docs.hello"]);
    expect(called.code).toBe(3);
    expect(called.stderr).toContain("Sign in: trunkline auth login docs");
    const listed = await place.run(["tools"]);
    expect(listed.code).toBe(3);
    expect(listed.stderr).toContain("Sign in: trunkline auth login docs");
    expect((await place.run(["auth", "status", "docs"])).code).toBe(3);
    const checked = await place.run(["doctor"]);
    expect(checked.stdout).toContain("next: Sign in: trunkline auth login docs");

    const child = place.start(["auth", "login", "docs", "--no-browser"]);
    const ended = outcomeOf(child);
    await seen(child.stderr, ADDRESS);
    child.kill("SIGINT");
    expect((await ended).code).toBe(130);
  });

  it("ends with 3 if the user declines", async () => {
    await using server = await startServer("oauth", ["--deny"]);
    using place = placeFor(server.url);
    const child = place.start(["auth", "login", "docs", "--no-browser"]);
    const ended = outcomeOf(child);
    const [, url = ""] = await seen(child.stderr, ADDRESS);
    await browse(url);
    expect(await ended).toMatchObject({ code: 3, stdout: "" });
  });

  it("shows the state of the sign-in and forgets it on request", async () => {
    await using server = await startServer("oauth");
    using place = placeFor(server.url);
    await login(place);
    const status = await place.run(["auth", "status", "--json"]);
    expect(JSON.parse(status.stdout)).toMatchObject([
      { server: "docs", state: "signed in", issuer: new URL(server.url).origin, renewable: true },
    ]);
    expect((await place.run(["auth", "status"])).stdout).toMatch(/^docs +signed in +at http.*renewed automatically$/m);
    const report = JSON.parse((await place.run(["doctor", "--format", "json"])).stdout);
    expect(report.mcp.servers[0].sign_in).toMatchObject({ status: "ok", issuer: new URL(server.url).origin });
    expect((await place.run(["auth", "login", "docs"])).stdout).toContain("Already signed in");

    expect(await place.run(["auth", "logout", "docs"])).toMatchObject({ code: 0, stdout: 'Signed out of "docs".\n' });
    expect(credentialFiles(place)).toEqual([]);
    expect(await countsOf(server.url)).toMatchObject({ revocations: 1 });
    expect((await place.run(["call", "docs.hello"])).code).toBe(3);
  });

  it("never shows a token or code, however verbose the log", async () => {
    await using server = await startServer("oauth");
    using place = placeFor(server.url);
    await login(place);
    const before = grantOf(place).tokens;
    letTokensEnd(place);
    const env = { TRUNKLINE_LOG_LEVEL: "debug" };
    const runs = [
      await place.run(["call", "docs.hello"], { env }),
      await place.run(["doctor", "--format", "json"], { env }),
      await place.run(["auth", "status", "--json"], { env }),
      await place.run(["auth", "logout", "docs"], { env }),
    ];
    const shown = runs.map(({ stdout, stderr }) => stdout + stderr).join("\n");
    expect(shown).toContain("token renewed");
    for (const secret of [before?.access_token, before?.refresh_token]) {
      expect(secret).toBeDefined();
      expect(shown).not.toContain(secret);
    }
  });

  it("signs a machine in with credentials from its entry and the environment", async () => {
    await using server = await startServer("oauth", ["--client", "robot:robot-secret-value"]);
    const issuer = new URL(server.url).origin;
    const auth = { type: "client_credentials", client_id: "robot", client_secret: "${ROBOT_SECRET}", issuer };
    using place = placeFor(server.url, { auth });
    const env = { ROBOT_SECRET: "robot-secret-value" };
    expect(await place.run(["call", "docs.hello"], { env })).toMatchObject({ code: 0, stdout: "Hello, world!\n" });
    const report = await place.run(["doctor", "--format", "json"], { env });
    expect(report.stdout).not.toContain("robot-secret-value");
    const wrong = await place.run(["call", "docs.hello"], { env: { ROBOT_SECRET: "not-the-secret" } });
    expect(wrong.code).toBe(3);
    expect(wrong.stderr).not.toContain("not-the-secret");
  });

  it("says that a local server needs no sign-in", async () => {
    using place = new Place(
      { "mcp.json": { mcpServers: { local: { command: "node" } } } },
      { TRUNKLINE_MCP_FILE: "mcp.json" },
    );
    const outcome = await place.run(["auth", "login", "local"]);
    expect(outcome.code).toBe(2);
    expect(outcome.stderr).toContain("nothing to sign in to");
    expect((await place.run(["auth", "login", "nobody"])).code).toBe(2);
  });
});
