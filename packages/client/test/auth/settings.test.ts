// `auth` in an entry: parsing, variables, and values that must not be shown.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { type HttpServer, loadConfig } from "../../src/index.js";

const folder = mkdtempSync(join(tmpdir(), "trunkline-settings-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function load(entry: Record<string, unknown>, env: Record<string, string> = {}) {
  const mcpPath = join(folder, "mcp.json");
  writeFileSync(mcpPath, JSON.stringify({ mcpServers: { docs: { url: "https://docs.example/mcp", ...entry } } }));
  const config = await loadConfig({ cwd: folder, home: join(folder, "home"), env, mcpPath });
  return { config, auth: (config.servers[0] as HttpServer | undefined)?.auth };
}

describe("auth in an entry", () => {
  it("fills in variables and hides the secret", async () => {
    const issuer = "https://login.example";
    const auth = { type: "client_credentials", client_id: "me", client_secret: "${SECRET}", scope: "read", issuer };
    const loaded = await load({ auth }, { SECRET: "s3cret-value" });
    expect(loaded.auth).toEqual({
      grant: "client_credentials",
      clientId: "me",
      clientSecret: "s3cret-value",
      scope: "read",
      issuer: "https://login.example",
    });
    expect(loaded.config.secrets).toContain("s3cret-value");
  });

  it("also hides a secret that is written in the file", async () => {
    const { config } = await load({ auth: { client_id: "me", client_secret: "in-the-file" } });
    expect(config.secrets).toContain("in-the-file");
  });

  it("accepts the spellings of other programs", async () => {
    expect((await load({ oauth: { clientId: "me", scopes: ["read", "write"] } })).auth).toEqual({
      grant: "authorization_code",
      clientId: "me",
      scope: "read write",
    });
    expect((await load({ auth: { CLIENT_ID: "me", CLIENT_SECRET: "shh-secret" } })).auth).toEqual({
      grant: "authorization_code",
      clientId: "me",
      clientSecret: "shh-secret",
    });
  });

  it.each(["oauth", true, {}])("ignores %j, which only says that there is a sign-in", async (auth) => {
    const loaded = await load({ auth });
    expect(loaded.auth).toBeUndefined();
    expect(loaded.config.servers).toHaveLength(1);
    expect(loaded.config.diagnostics.filter(({ severity }) => severity !== "note")).toEqual([]);
  });

  it("rejects client credentials without their issuer", async () => {
    const auth = { type: "client_credentials", client_id: "me", client_secret: "s3cret-value" };
    const { config } = await load({ auth });
    expect(config.servers).toEqual([]);
    expect(config.diagnostics[0]?.message).toContain('client credentials need "issuer"');
  });

  it("rejects client credentials without a secret, and a redirect to another machine", async () => {
    const machine = await load({ auth: { type: "client_credentials", client_id: "me" } });
    expect(machine.config.servers).toEqual([]);
    expect(machine.config.diagnostics[0]?.message).toContain('"client_secret" or "private_key"');
    const redirect = await load({ auth: { client_id: "me", redirect_uri: "https://evil.example/callback" } });
    expect(redirect.config.servers).toEqual([]);
    expect(redirect.config.diagnostics[0]?.message).toContain("on this machine");
  });

  it("affects the fingerprint of a project's file", async () => {
    const fingerprint = async (entry: Record<string, unknown>) => (await load(entry)).config.files[0]?.fingerprint;
    const plain = await fingerprint({});
    const one = await fingerprint({ auth: { client_id: "me", client_secret: "one-secret" } });
    const two = await fingerprint({ auth: { client_id: "me", client_secret: "two-secret" } });
    expect(new Set([plain, one, two]).size).toBe(3);
  });
});
