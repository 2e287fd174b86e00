import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type CredentialRecord, CredentialStore } from "../../src/auth/credentials.js";

const key = { resource: "https://docs.example/mcp" };
const record: CredentialRecord = {
  ...key,
  issuer: "https://issuer.example",
  grants: {
    "https://issuer.example": {
      client: { client_id: "id", client_name: "Trunkline" },
      redirectUri: "http://127.0.0.1:1/callback",
      tokens: { access_token: "secret", token_type: "Bearer", id_token: "kept" },
      savedAtMs: 1,
      expiresAtMs: 2,
    },
  },
  wantedScope: "read",
};

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "trunkline-credentials-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** Replaces the stored file of the key. */
async function store(content: unknown): Promise<CredentialStore> {
  const credentials = new CredentialStore(home);
  await credentials.update(key, () => record);
  const [name = ""] = readdirSync(credentials.folder).filter((file) => file.endsWith(".json"));
  writeFileSync(join(credentials.folder, name), typeof content === "string" ? content : JSON.stringify(content));
  return credentials;
}

describe("the file of a sign-in", () => {
  it("comes back as it was stored, with fields of the SDK that we do not know", async () => {
    const credentials = new CredentialStore(home);
    expect(await credentials.read(key)).toEqual({ ...key, grants: {} });
    await credentials.update(key, () => record);
    expect(await new CredentialStore(home).read(key)).toEqual(record);
  });

  const [issuer = ""] = Object.keys(record.grants);
  const grant = record.grants[issuer];
  it.each([
    ["no JSON", "{"],
    ["an array", []],
    ["another version", { version: 2, ...record }],
    ["no resource", { version: 1, ...record, resource: undefined }],
    ["an issuer that is not text", { version: 1, ...record, issuer: 1 }],
    ["no grants", { version: 1, ...record, grants: undefined }],
    ["a grant that is not an object", { version: 1, ...record, grants: { [issuer]: "secret" } }],
    ["a client without an id", { version: 1, ...record, grants: { [issuer]: { ...grant, client: {} } } }],
    ["tokens without a type", { version: 1, ...record, grants: { [issuer]: { tokens: { access_token: "secret" } } } }],
    ["an expiry that is not a number", { version: 1, ...record, grants: { [issuer]: { ...grant, expiresAtMs: "2" } } }],
    ["null in place of a scope", { version: 1, ...record, wantedScope: null }],
  ])("is an error if it has %s, and the error does not quote it", async (_what, content) => {
    const error = await (await store(content)).read(key).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "CONFIG_INVALID", hint: "Delete it and sign in again." });
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain("secret");
  });
});
