import { describe, expect, it } from "vitest";
import { Place, said } from "./place.js";

const servers = { mcpServers: { s: { command: "c" } } };

describe("policy", () => {
  it("is read from every file, the strongest first", async () => {
    using place = new Place({
      ".trunkline/mcp.json": { ...servers, policy: { "s.*": "ask" } },
      "home/settings.json": { policy: { "s.write_*": "deny", delete: "ASK" } },
    });
    const { settings, diagnostics } = await place.load();
    expect(settings?.policies).toEqual([{ "s.*": "ask" }, { "s.write_*": "deny", delete: "ask" }]);
    expect(diagnostics).toEqual([]);
  });

  it("denies where a rule cannot be read, and says so", async () => {
    using place = new Place({ "home/settings.json": { ...servers, policy: { "s.*": "alow", t: 1 } } });
    const config = await place.load();
    expect(config.settings?.policies).toEqual([{ "s.*": "deny", t: "deny" }]);
    expect(said(config).join("\n")).toMatch(/"s\.\*" has to be "allow", "ask" or "deny" \(did you mean "allow"\?\)/);
  });

  it("is no policy where it is no object", async () => {
    using place = new Place({ "home/settings.json": { ...servers, policy: ["s"] } });
    const config = await place.load();
    expect(config.settings?.policies).toEqual([]);
    expect(said(config).join("\n")).toContain('"policy" is a list');
  });
});

describe("download.allowPrivate", () => {
  it("counts in the user's settings", async () => {
    using place = new Place({ "home/settings.json": { download: { allowPrivate: true } } });
    expect((await place.load()).settings?.allowPrivateAddresses).toBe(true);
  });

  it("is off unless it is set", async () => {
    using place = new Place({ "home/settings.json": servers });
    expect((await place.load()).settings?.allowPrivateAddresses).toBe(false);
  });

  it("does not count in a project's file: a repository must not open the machine's network", async () => {
    using place = new Place({ ".trunkline/settings.json": { ...servers, download: { allowPrivate: true } } });
    const config = await place.load();
    expect(config.settings?.allowPrivateAddresses).toBe(false);
    expect(said(config).join("\n")).toContain("counts only in your own settings");
  });
});

describe("agent.allow", () => {
  it("counts in the user's settings, of all their files together", async () => {
    using place = new Place({ "home/settings.json": { ...servers, agent: { allow: ["docs.*", "wiki.add"] } } });
    expect((await place.load()).settings?.agentAllow).toEqual(["docs.*", "wiki.add"]);
  });

  it("does not count in a project's file: a repository must not take a question away", async () => {
    using place = new Place({ ".trunkline/settings.json": { ...servers, agent: { allow: ["*"] } } });
    const config = await place.load();
    expect(config.settings?.agentAllow).toBeUndefined();
    expect(said(config).join("\n")).toContain('"agent.allow" counts only in your own settings');
  });

  it.each([{ allow: "docs.*" }, { allow: [{}] }, ["docs.*"]])(
    "is nothing where it is %j, and says so",
    async (agent) => {
      using place = new Place({ "home/settings.json": { ...servers, agent } });
      const config = await place.load();
      expect(config.settings?.agentAllow).toBeUndefined();
      expect(said(config).join("\n")).toContain('"agent');
    },
  );
});
