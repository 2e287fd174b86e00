// Servers that are restarted, upgraded or dynamic: nothing is asked, nothing is missing.
import { describe, expect, it } from "vitest";
import type { HubOptions } from "../../packages/client/src/index.js";
import { createLogger } from "../../packages/core/src/index.js";
import { announce, ChangingServers, tool } from "./changing-server.js";

/** Collects log lines from a level up. */
function logged(level: "info" | "warn"): { lines: string[]; options: HubOptions } {
  const lines: string[] = [];
  return { lines, options: { logger: createLogger({ level, write: (line) => void lines.push(line) }) } };
}

describe("everyday use asks nothing", () => {
  it("when the same server is connected again, in another order of keys", async () => {
    using servers = new ChangingServers();
    servers.define("notes", {
      tools: [tool("read"), tool("write")],
      prompts: [{ name: "ask" }],
      instructions: "Be kind.",
    });
    await servers.run();
    const { lines, options } = logged("info");
    await servers.run(options);
    const [read, write] = [tool("read"), tool("write")].map((each) =>
      Object.fromEntries(Object.entries(each).reverse()),
    );
    servers.define("notes", { tools: [write ?? {}, read ?? {}], prompts: [{ name: "ask" }], instructions: "Be kind." });
    await using hub = await servers.open(options);
    await hub.connect();
    expect(hub.held()).toEqual([]);
    expect(lines.filter((line) => line.includes("definition"))).toEqual([]);
  });

  it("when an upgrade rewords, adds and removes tools", async () => {
    using servers = new ChangingServers();
    servers.define("notes", { tools: [tool("read"), tool("write"), tool("old")] });
    await servers.run();
    const { lines, options } = logged("info");
    servers.define("notes", {
      tools: [
        tool("read", { description: "Reads a note. Comments are ignored. Do not use it for attachments 👩\u200d💻." }),
        tool("write", {
          inputSchema: { type: "object", properties: { text: { type: "string" }, tags: { type: "array" } } },
        }),
        tool("search", { annotations: { readOnlyHint: true } }),
      ],
    });
    await using hub = await servers.open(options);
    expect(hub.tools().map((each) => each.tool)).toEqual(["announce", "read", "write", "search"]);
    expect((await hub.call("notes.search")).text).toBe("called search");
    expect(hub.held()).toEqual([]);
    // One notice for each, and none the next time.
    expect(lines.filter((line) => line.includes("definition"))).toHaveLength(3);
    const later = logged("info");
    await servers.run(later.options);
    expect(later.lines.filter((line) => line.includes("definition"))).toEqual([]);
  });

  it("when the wording differs every time, and says so only at first", async () => {
    using servers = new ChangingServers();
    const notices: number[] = [];
    for (const day of ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"]) {
      servers.define("clock", { tools: [tool("now", { description: `Tells the time. Today is ${day}.` })] });
      const { lines, options } = logged("info");
      await using hub = await servers.open(options);
      expect((await hub.call("clock.now")).text).toBe("called now");
      notices.push(lines.filter((line) => line.includes("a definition has changed")).length);
    }
    expect(notices).toEqual([0, 1, 1, 0, 0]);
  });

  it("when a dynamic server switches between lists in one session", async () => {
    using servers = new ChangingServers();
    const [closed, open] = [[tool("open_file")], [tool("open_file"), tool("edit"), tool("save")]];
    servers.define("editor", { tools: closed });
    await using hub = await servers.open();
    for (const tools of [open, closed, open]) {
      servers.define("editor", { tools });
      await announce(hub, "editor");
      expect(hub.tools()).toHaveLength(tools.length + 1);
    }
    expect((await hub.call("editor.save")).text).toBe("called save");
    expect(hub.held()).toEqual([]);
  });

  it("when two servers have tools of the same name", async () => {
    using servers = new ChangingServers();
    servers.define("github", { tools: [tool("search")] });
    servers.define("notes", { tools: [tool("read")] });
    await servers.run();
    servers.define("notes", { tools: [tool("read"), tool("search")] });
    await using hub = await servers.open();
    expect(hub.held()).toEqual([]);
    expect((await hub.call("notes.search")).server).toBe("notes");
  });

  it("when a server is replaced by another one of the same name", async () => {
    using servers = new ChangingServers();
    servers.define("search", { tools: [tool("find")] }, { identity: "npx search-one" });
    await servers.run();
    const other = { tools: [tool("find", { annotations: { readOnlyHint: true } })] };
    servers.define("search", other, { identity: "npx search-two" });
    await using hub = await servers.open();
    expect(hub.held()).toEqual([]);
  });
});
