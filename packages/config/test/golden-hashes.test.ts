// Hashes that other versions have written: a change of one asks every user to approve again, reports pins as changed or
// starts servers twice. Never update a value here; find out why it differs.
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { canonicalText, definitionHash } from "../../client/src/pins/pinned-definition.js";
import { keyParts, partsKey } from "../../client/src/pool/pool-key.js";
import { fingerprintOf } from "../src/fingerprint.js";
import type { ServerDefinition } from "../src/loaded-config.js";
import { parseConfigText } from "../src/parse-file.js";
import { checkEntry } from "../src/server-entries.js";
import { memberOf } from "../src/tree.js";
import { Place } from "./place.js";

const ENTRIES = {
  bare: { command: "node" },
  full: {
    command: "npx",
    args: ["-y", "server", "--key=${secret:KEY}"],
    env: { B: "2", A: "${HOME:-x}" },
    cwd: "/srv",
    envFile: "/srv/none.env",
    timeout: 5,
    callTimeout: 7,
    lazy: true,
    asks: false,
    readOnly: ["get_*"],
    pin: "notice",
    maxMessageBytes: 100_000,
    share: "user",
    idleStop: 60,
    tools: { allow: ["a*"], deny: ["b"] },
  },
  remote: { url: "https://x.example/mcp" },
  signedIn: {
    type: "sse",
    url: "https://x.example/${ID}",
    headers: { Authorization: "Bearer ${secret:TOKEN}", "X-A": "1" },
    tools: ["read_*"],
    auth: { clientId: "c", scope: ["a", "b"], issuer: "https://login.example.com" },
  },
};

/** Loaded from the user's own settings, so that nothing depends on where the test runs. */
async function load(): Promise<readonly ServerDefinition[]> {
  using place = new Place({ "home/settings.json": { mcpServers: ENTRIES } });
  return (await place.load({ env: { HOME: "/home/u", ID: "7" } })).servers;
}

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

describe("hashes that are kept on disk", () => {
  it("of what a file would run stay as they are", async () => {
    const text = JSON.stringify({ mcpServers: ENTRIES });
    const parsed = await parseConfigText(text, "/w/mcp.json");
    const servers = parsed.ok ? memberOf(parsed.root, "mcpServers") : undefined;
    const members = servers?.kind === "map" ? servers.members : [];
    const hashes = members.map((member) => {
      const outcome = checkEntry(member, { file: "/w/mcp.json", scope: "project", dialect: "mcpServers" });
      if (!("entry" in outcome)) throw new Error(JSON.stringify(outcome.diagnostics));
      return [member.key, fingerprintOf([outcome.entry], { workspaceFolder: "/w", inputs: new Map() })];
    });
    expect(Object.fromEntries(hashes)).toEqual({
      bare: "47bce0fd49e4ab443804eafa9fae8b028517171cbe96d1a217f65b602a035dac",
      full: "1d4952cf25a21fbd43a3189cb60424eaddc28b87e8598506dff2cc59939583f4",
      remote: "e6663a8c4bd671c84ac90959643e598733b62cd0618de55d949427d8a8e893a0",
      signedIn: "ebad96e90956ad41a97f0c8fdead068c5eaab38d37089cb6dbb5d41c6d388458",
    });
  });

  it("of what an entry runs stay as they are", async () => {
    const servers = await load();
    expect(Object.fromEntries(servers.map(({ name, identity }) => [name, identity]))).toEqual({
      bare: "5d68a37bc51e12669bb92cbaac36b5de837ae1a5d0b4ed83745a1f5ee29f473f",
      full: "5b6c61976b809698ebd010a3521d5e977d15aefa1fc36263f6ef06f1307e29cf",
      remote: "a8fdcecde1cc9708ff8e6cf0a4bfbc7a8f9d2ad090c8cc3dcb28473c7393df15",
      signedIn: "37add7ef57984557a796faa8c302057d6c333c920aa9f58c4939beda09b17acd",
    });
  });

  it("of pinned definitions stay as they are", () => {
    const tool = {
      name: "add",
      description: "Adds two numbers.",
      inputSchema: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a"] },
      annotations: { readOnlyHint: true },
      title: undefined,
      _meta: { any: 1 },
    };
    expect(definitionHash(canonicalText(tool))).toBe("3af6ef8f38d64ac83eb219f708e29683");
  });
});

describe("the key of a shared server", () => {
  it("stays as it is, so that two versions share a daemon's servers alike", async () => {
    const servers = await load();
    const keys = servers.map((definition: ServerDefinition) => {
      const options = {
        clientInfo: { name: "trunkline", version: "0" },
        env: { PATH: "/usr/bin" },
        places: { home: "/home/u/.trunkline", foreignFolders: ["/w"] },
        connectLimitMs: undefined,
        maxMessageBytes: undefined,
        asking: { policy: "serialize", abilities: { elicitation: { form: {} } } },
        signingIn: { clientName: "Trunkline", signInTimeoutMs: 1, credentials: {} },
      } as unknown as Parameters<typeof keyParts>[1]; // Only what the key reads.
      return [definition.name, sha256(partsKey(keyParts(definition, options, { share: "user", workspace: "/w" })))];
    });
    expect(Object.fromEntries(keys)).toEqual({
      bare: "a6b7ddb568b007279ead9de0eb1fb4d4199181ec97ee07697a65a3d18559dea9",
      full: "737dbfad62f357a0612fa1313f0784dd67d4446b9167499dd3179ddf961e817a",
      remote: "dd7b4e882a0e37fc00ab291ad56e302af841ef0084336d55738549060fe67ff1",
      signedIn: "43c62434465e77b03bdbcbde63619affdd89e5511ae787a6c82b1a496cdf3363",
    });
  });
});
