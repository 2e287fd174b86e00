// Runs tasks of the tokens-per-task benchmark on both surfaces.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runTask } from "../../bench/tasks/run-task.js";
import { TASKS } from "../../bench/tasks/tasks.js";
import { openWorld, type World } from "../../bench/tasks/world.js";

let world: World;

beforeAll(async () => {
  world = await openWorld({
    further: [{ server: "shop", tools: [{ name: "sell", description: "Sells.", inputSchema: { type: "object" } }] }],
  });
});

afterAll(() => world.close());

function taskNamed(name: string) {
  const found = TASKS.find((task) => task.name === name);
  if (found === undefined) throw new Error(`There is no task "${name}".`);
  return found;
}

describe("tokens per finished task", () => {
  it("has 20 tasks with unique names", () => {
    expect(new Set(TASKS.map(({ name }) => name)).size).toBe(20);
  });

  it.each(["search the memory, then add to what was found", "a file copied"])(
    "%s: finishes on both surfaces",
    async (name) => {
      const direct = await runTask(taskNamed(name), "direct", world);
      const composite = await runTask(taskNamed(name), "composite", world);
      expect(direct.turns).toBe(3);
      // One turn to discover the tools, one to do the work, one to answer.
      expect(composite.turns).toBe(3);
      expect(composite.fresh).toBeLessThan(composite.total);
      expect(composite.total).toBeLessThan(direct.total);
    },
  );

  it("fails the check of a task that was not completed", async () => {
    const copying = taskNamed("a file copied");
    const idle = {
      ...copying,
      *direct() {
        yield* [];
        return "It is copied.";
      },
    };
    await expect(runTask(idle, "direct", world)).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("lists additional servers on the direct surface, at no cost on the composite one", () => {
    expect(world.tools.direct.map(({ title }) => title)).toContain("shop.sell");
    expect(world.tools.composite.map(({ title }) => title)).toEqual([
      "trunkline.query",
      "trunkline.execute",
      "trunkline.session",
    ]);
  });
});
