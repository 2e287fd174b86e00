import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { ConsoleWorkspace, ConsoleWorld } from "../../src/console/console-world.js";
import { openOperations } from "../../src/console/operations-part.js";
import { openQuestions } from "../../src/console/questions-part.js";
import { ToolCatalogue } from "../../src/console/tool-catalogue.js";
import { openTestWorld, type TestWorld, WORKSPACE } from "./console-workspace.js";

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
    vi.restoreAllMocks();
    vi.useRealTimers();
  });

  it("has no list of tools any more", async () => {
    await using test = openTestWorld();
    const { world, set } = closable(test);
    const { handlers, watch, rest } = openOperations(world);
    const rested = vi.spyOn(ToolCatalogue.prototype, "rest");
    watch();
    await handlers.tools({ workspace: WORKSPACE }, test.request());
    watch();
    expect(rested).not.toHaveBeenCalled();
    set(false);
    watch();
    expect(rested).toHaveBeenCalledTimes(1);
    rest();
    expect(rested).toHaveBeenCalledTimes(1);
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
