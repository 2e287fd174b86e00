import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ConfigMemory, readUserSettings } from "../src/index.js";
import { Place, said } from "./place.js";

const servers = { mcpServers: { s: { command: "c" } } };

describe("policy", () => {
  it("is read from every file, strongest first", async () => {
    using place = new Place({
      ".trunkline/mcp.json": { ...servers, policy: { "s.*": "ask" } },
      "home/settings.json": { policy: { "s.write_*": "deny", delete: "ASK" } },
    });
    const { settings, diagnostics } = await place.load();
    expect(settings?.policies).toEqual([{ "s.*": "ask" }, { "s.write_*": "deny", delete: "ask" }]);
    expect(diagnostics).toEqual([]);
  });

  it("denies if a rule is unreadable, and says so", async () => {
    using place = new Place({ "home/settings.json": { ...servers, policy: { "s.*": "alow", t: 1 } } });
    const config = await place.load();
    expect(config.settings?.policies).toEqual([{ "s.*": "deny", t: "deny" }]);
    expect(said(config).join("\n")).toMatch(/"s\.\*" must be "allow", "ask" or "deny" \(did you mean "allow"\?\)/);
  });

  it.each([{ policy: ["s"] }, { policy: "deny" }, { policy: null }])(
    "denies everything if it is not an object, and says so: %j",
    async ({ policy }) => {
      using place = new Place({ "home/settings.json": { ...servers, policy } });
      const config = await place.load();
      expect(config.settings?.policies).toEqual([{ "*": "deny" }]);
      expect(said(config).join("\n")).toMatch(/"policy" is .*it counts as \{ "\*": "deny" \}/);
    },
  );

  it.each(['{ "policy": { "s.*": "deny" }', "", '{ "mcpServers": [], "policy": { "s.*": "deny" } }'])(
    "denies every upstream tool if the file is unusable: %j",
    async (text) => {
      using place = new Place({ ".trunkline/mcp.json": servers, "home/settings.json": text });
      const config = await place.load();
      expect(config.settings?.policies).toEqual([{ "*.*": "deny" }]);
      expect(config.files.filter(({ unusable }) => unusable !== undefined).map(({ path }) => path)).toEqual([
        join(place.home, "settings.json"),
      ]);
      expect(said(config).join("\n")).toContain('its policy counts as "deny"');
    },
  );

  it("denies every upstream tool if there is a folder in place of the file", async () => {
    using place = new Place({ ".trunkline/mcp.json": servers, "home/settings.json/x": "" });
    expect((await place.load()).settings?.policies).toEqual([{ "*.*": "deny" }]);
  });

  it("stays in effect, with the servers, for a process that read the file before it broke", async () => {
    using place = new Place({ "home/settings.json": { ...servers, policy: { "s.write": "deny" } } });
    const memory = new ConfigMemory();
    await place.load({ memory });
    for (const text of ["{ oops", ""]) {
      place.write("home/settings.json", text);
      const config = await place.load({ memory });
      expect(config.settings?.policies).toEqual([{ "s.write": "deny" }]);
      expect(config.servers.map(({ name }) => name)).toEqual(["s"]);
      expect(said(config)).toEqual([
        expect.stringMatching(/^warning .* cannot be used: .* previous content stays in effect\.$/),
      ]);
    }
    place.write("home/settings.json", { policy: { "s.*": "ask" } });
    const corrected = await place.load({ memory });
    expect([corrected.settings?.policies, corrected.servers]).toEqual([[{ "s.*": "ask" }], []]);
    // A removed file is gone, and if it comes back broken its content is unknown.
    rmSync(join(place.home, "settings.json"));
    expect((await place.load({ memory })).settings?.policies).toEqual([]);
    place.write("home/settings.json", "{ oops");
    expect((await place.load({ memory })).settings?.policies).toEqual([{ "*.*": "deny" }]);
  });
});

describe("download.allowPrivate", () => {
  it("has an effect in the user's settings", async () => {
    using place = new Place({ "home/settings.json": { download: { allowPrivate: true } } });
    expect((await place.load()).settings?.allowPrivateAddresses).toBe(true);
  });

  it("is off unless it is set", async () => {
    using place = new Place({ "home/settings.json": servers });
    expect((await place.load()).settings?.allowPrivateAddresses).toBe(false);
  });

  it("has no effect in a project's file: a repository must not open the machine's network", async () => {
    using place = new Place({ ".trunkline/settings.json": { ...servers, download: { allowPrivate: true } } });
    const config = await place.load();
    expect(config.settings?.allowPrivateAddresses).toBe(false);
    expect(said(config).join("\n")).toContain("has an effect only in your own settings");
  });
});

describe("paths", () => {
  it("has an effect in the user's settings", async () => {
    const paths = { read: ["~/notes", "/data"], write: ["~/out"], outside: "deny" };
    using place = new Place({ "home/settings.json": { ...servers, paths } });
    expect((await place.load()).settings?.paths).toEqual(paths);
  });

  it("has no effect in a project's file: a repository must not let clients out of it", async () => {
    using place = new Place({ ".trunkline/settings.json": { ...servers, paths: { read: ["/"], outside: "ask" } } });
    const config = await place.load();
    expect(config.settings?.paths).toBeUndefined();
    expect(said(config).join("\n")).toContain('"paths" has an effect only in your own settings');
  });

  it.each([
    [["~/notes"], undefined],
    [{ read: "~/notes" }, { read: [], write: [] }],
    [{ write: ["notes", "/data"] }, { read: [], write: ["/data"] }],
    [{ outside: "allow" }, { read: [], write: [], outside: "deny" }],
  ])("says what is wrong with %j", async (paths, expected) => {
    using place = new Place({ "home/settings.json": { ...servers, paths } });
    const config = await place.load();
    expect(config.settings?.paths).toEqual(expected);
    expect(said(config).join("\n")).toContain('"paths');
  });
});

describe("agent.allow", () => {
  it("has an effect in the user's settings, across all their files", async () => {
    using place = new Place({ "home/settings.json": { ...servers, agent: { allow: ["docs.*", "wiki.add"] } } });
    expect((await place.load()).settings?.agentAllow).toEqual(["docs.*", "wiki.add"]);
  });

  it("has no effect in a project's file: a repository must not suppress a question", async () => {
    using place = new Place({ ".trunkline/settings.json": { ...servers, agent: { allow: ["*"] } } });
    const config = await place.load();
    expect(config.settings?.agentAllow).toBeUndefined();
    expect(said(config).join("\n")).toContain('"agent.allow" has an effect only in your own settings');
  });

  it.each([{ allow: "docs.*" }, { allow: [{}] }, ["docs.*"]])("is ignored if it is %j, and says so", async (agent) => {
    using place = new Place({ "home/settings.json": { ...servers, agent } });
    const config = await place.load();
    expect(config.settings?.agentAllow).toBeUndefined();
    expect(said(config).join("\n")).toContain('"agent');
  });
});

describe("surface", () => {
  it("is read from the user's settings", async () => {
    const surface = {
      directTokens: 0,
      favouriteTokens: 500,
      clients: { "my-agent": "direct", "Cursor*": "composite" },
    };
    using place = new Place({ "home/settings.json": { ...servers, surface } });
    const config = await place.load();
    expect(config.settings?.surface).toEqual(surface);
    expect(said(config)).toEqual([]);
  });

  it("has no effect in a project's file: a repository must not raise what the user pays", async () => {
    using place = new Place({
      ".trunkline/settings.json": { ...servers, surface: { directTokens: 900_000 } },
      "home/settings.json": { surface: { directTokens: 100 } },
    });
    const config = await place.load();
    expect(config.settings?.surface).toEqual({ directTokens: 100 });
    expect(said(config).join("\n")).toContain('"surface" has an effect only in your own settings');
  });

  it.each([
    [1200, undefined, '"surface" is a number, not an object'],
    [{ directTokens: "1200" }, undefined, '"surface.directTokens" must be a whole number of tokens'],
    [{ favouriteTokens: -1 }, undefined, '"surface.favouriteTokens" must be a whole number of tokens'],
    [{ favouriteTokens: 0.5 }, undefined, '"surface.favouriteTokens" must be a whole number of tokens'],
    [{ directTokens: 1e12 }, undefined, "from 0 to 1000000; the default is used"],
    [{ directToken: 5 }, undefined, '"surface.directToken" is not a setting (did you mean "directTokens"?)'],
    [{ clients: ["x"] }, undefined, '"surface.clients" is a list, not an object'],
    [
      { directTokens: 5, clients: { x: "drect", y: "AUTO" } },
      { directTokens: 5, clients: { y: "auto" } },
      'the surface for "x" must be "direct", "composite" or "auto" (did you mean "direct"?)',
    ],
  ])("says what is wrong with %j and uses the rest", async (surface, expected, message) => {
    using place = new Place({ "home/settings.json": { ...servers, surface } });
    const config = await place.load();
    expect(config.settings?.surface).toEqual(expected);
    expect(said(config).join("\n")).toContain(message);
  });
});

describe("favourites", () => {
  it("add up over all files, with the project's apart", async () => {
    using place = new Place({
      ".trunkline/settings.json": { ...servers, favourites: ["s.theirs", "s.*"] },
      "home/settings.json": { favourites: ["s.mine", "docs.*", "s.mine"] },
    });
    const config = await place.load();
    expect(config.settings?.favourites).toEqual(["s.mine", "docs.*"]);
    expect(config.settings?.projectFavourites).toEqual(["s.theirs", "s.*"]);
    expect(said(config)).toEqual([]);
  });

  it("need no servers in the same file", async () => {
    using place = new Place({ "home/settings.json": { favourites: ["s.mine"] } });
    const config = await place.load();
    expect([config.settings?.favourites, said(config)]).toEqual([["s.mine"], []]);
  });

  it.each([
    ["s.mine", undefined, '"favourites" is a string, not a list'],
    [{ "s.mine": true }, undefined, '"favourites" is an object, not a list'],
    [["search", "s.mine"], ["s.mine"], '"favourites" contains "search"; write a tool as "server.tool"'],
    [["*", "s.mine"], ["s.mine"], '"favourites" contains "*"; write a tool as "server.tool"'],
    [[7, null, {}, "s.", ".t", "s.mine"], ["s.mine"], '"favourites" contains a number'],
    [["s.a\u001b[2J", "s.mine"], ["s.mine"], '"favourites" contains "s.a\\u001b[2J"'],
    [[`s.${"x".repeat(300)}`, "s.mine"], ["s.mine"], '"favourites" contains a string'],
  ])("says what is wrong with %j and uses the rest", async (favourites, expected, message) => {
    using place = new Place({ "home/settings.json": { ...servers, favourites } });
    const config = await place.load();
    expect(config.settings?.favourites).toEqual(expected);
    expect(said(config).join("\n")).toContain(message);
  });

  it("are limited to 200 entries in a file", async () => {
    const favourites = Array.from({ length: 300 }, (_, index) => `s.t${index}`);
    using place = new Place({ ".trunkline/settings.json": { ...servers, favourites } });
    const config = await place.load();
    expect(config.settings?.projectFavourites).toHaveLength(200);
    expect(said(config).join("\n")).toContain('"favourites" has more than 200 entries');
  });
});

describe("registry and updateNotice", () => {
  it("are read from the user's own settings", async () => {
    using place = new Place({ "home/settings.json": { registry: "https://r.example", updateNotice: false } });
    expect(await readUserSettings(place.home)).toEqual({ registry: "https://r.example", updateNotice: false });
    place.write("home/settings.json", "{ oops");
    expect(await readUserSettings(place.home)).toEqual({});
    rmSync(join(place.home, "settings.json"));
    expect(await readUserSettings(place.home)).toEqual({});
  });

  it("have no effect in a project's files, and malformed ones are reported", async () => {
    using place = new Place({
      ".trunkline/settings.json": { ...servers, registry: "https://r.example", updateNotice: false },
      "home/settings.json": { registry: 1, updateNotice: "no" },
    });
    const config = await place.load();
    expect(config.files.flatMap(({ settings }) => settings?.registry ?? [])).toEqual([]);
    const text = said(config).join("\n");
    expect(text).toContain('"registry" has an effect only in your own settings');
    expect(text).toContain('"updateNotice" has an effect only in your own settings');
    expect(text).toContain('"registry" must be an address');
    expect(text).toContain('"updateNotice" must be true or false');
  });
});

describe("the registry field of an entry", () => {
  it("says where it came from, and changes nothing else; that of other programs is ignored", async () => {
    const registry = { name: "io.github.ada/docs", version: "1.2.3", url: "https://r.example/", hash: "sha512-x" };
    using place = new Place({
      ".trunkline/mcp.json": {
        mcpServers: {
          s: { command: "c", registry },
          t: { command: "c", registry: "npm" },
          u: { command: "c", registry: {} },
        },
      },
    });
    const config = await place.load();
    expect(config.servers.map((server) => server.registry)).toEqual([registry, undefined, undefined]);
    expect(said(config)).toEqual([]);
    const before = config.files[0]?.fingerprint;
    place.write(".trunkline/mcp.json", {
      mcpServers: { s: { command: "c" }, t: { command: "c" }, u: { command: "c" } },
    });
    expect((await place.load()).files[0]?.fingerprint).toBe(before);
  });
});
