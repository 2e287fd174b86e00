import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { ConsoleWorkspace, ConsoleWorld } from "../../src/console/console-world.js";
import { openOperations } from "../../src/console/operations-part.js";
import { openQuestions } from "../../src/console/questions-part.js";
import { openTestWorld, type TestWorld, WORKSPACE } from "./console-workspace.js";

const changing = fileURLToPath(new URL("../../../../test/servers/changing.js", import.meta.url));

/** The same world, in which workspaces can be closed. */
function closable({ world }: TestWorld) {
  const all = world.workspaces();
  let open: readonly ConsoleWorkspace[] = all;
  const changing: ConsoleWorld = { ...world, workspaces: () => open };
  return {
    world: changing,
    set: (isOpen: boolean) => {
      open = isOpen ? all : [];
    },
  };
}

describe("a workspace that was closed while a page is open", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it("sends no more news of its tools", async () => {
    await using test = openTestWorld({ mcpServers: {} });
    const definitions = join(test.folder, "definitions.json");
    const define = (...names: string[]) =>
      writeFileSync(
        definitions,
        JSON.stringify({ tools: names.map((name) => ({ name, inputSchema: { type: "object" } })) }),
      );
    define("announce");
    const args = [changing, "--definitions", definitions, "--calls", join(test.folder, "calls")];
    const settings = { mcpServers: { changing: { command: process.execPath, args } } };
    writeFileSync(join(test.home, "settings.json"), JSON.stringify(settings));
    const { world, set } = closable(test);
    const { handlers, watch, rest } = openOperations(world);
    const news = () => test.events.filter((event) => event.kind === "changed" && event.topics.includes("tools")).length;
    const hub = await test.app.hub();
    const announced = async (...names: string[]) => {
      define("announce", ...names);
      const changed = new Promise<void>((resolve) => {
        const stop = hub.onCatalogChanged(() => {
          stop();
          resolve();
        });
      });
      await hub.call("changing.announce");
      await changed;
    };
    watch();
    await handlers.tools({ workspace: WORKSPACE }, test.request());
    await announced("one");
    await expect.poll(news).toBeGreaterThan(0);
    watch();
    set(false);
    watch();
    const before = news();
    await announced("one", "two");
    expect(news()).toBe(before);
    rest();
  });

  it("has nothing left of its questions", async () => {
    await using test = openTestWorld();
    mkdirSync(join(test.folder, ".trunkline"));
    const servers = { mcpServers: { shop: { command: "node" } } };
    writeFileSync(join(test.folder, ".trunkline", "mcp.json"), JSON.stringify(servers));
    const { world, set } = closable(test);
    const { handlers, watch, rest } = openQuestions(world);
    vi.useFakeTimers({ toFake: ["Date"] });
    const since = async (now: string) => {
      vi.setSystemTime(now);
      const { questions } = await handlers.questions({}, test.request());
      return questions.map((row) => row.since);
    };
    watch();
    const first = await since("2026-01-01T00:00:00.000Z");
    expect(first).toHaveLength(1);
    watch();
    expect(await since("2026-01-02T00:00:00.000Z")).toEqual(first);
    set(false);
    watch();
    expect(await since("2026-01-03T00:00:00.000Z")).toEqual([]);
    set(true);
    watch();
    expect(await since("2026-01-04T00:00:00.000Z")).not.toEqual(first);
    rest();
  });
});
