// Runs tasks of the tokens-per-task benchmark on every surface.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Cost, runTask } from "../../bench/tasks/run-task.js";
import { summaryRows } from "../../bench/tasks/summary.js";
import { SETS } from "../../bench/tasks/tasks.js";
import { openWorld, type Side, type World } from "../../bench/tasks/world.js";

let world: World;
let composite: Side & { home: string };

beforeAll(async () => {
  world = await openWorld({
    further: [{ server: "shop", tools: [{ name: "sell", description: "Sells.", inputSchema: { type: "object" } }] }],
  });
  composite = await world.gateway("composite");
});

afterAll(async () => {
  await composite.close();
  await world.close();
});

const tasks = SETS.flatMap((set) => set.tasks);

function taskNamed(name: string) {
  const found = tasks.find((task) => task.name === name);
  if (found === undefined) throw new Error(`There is no task "${name}".`);
  return found;
}

describe("tokens per finished task", () => {
  it("has sets of 20 tasks, all with different names", () => {
    expect(SETS.map((set) => set.tasks.length)).toEqual(SETS.map(() => 20));
    expect(new Set(tasks.map(({ name }) => name)).size).toBe(tasks.length);
  });

  it.each(["search the memory, then add to what was found", "a file copied"])(
    "%s: finishes with direct tools and on the composite surface",
    async (name) => {
      const direct = await runTask(taskNamed(name), world.direct(), { world });
      const found = await runTask(taskNamed(name), composite, { world });
      expect(direct.turns).toBe(3);
      // One turn to discover the tools, one to do the work, one to answer.
      expect(found.turns).toBe(3);
      expect(found).toMatchObject({ asked: true, askedOnce: true });
      expect(found.fresh).toBeLessThan(found.total);
      expect(found.total).toBeLessThan(direct.total);
    },
  );

  it("calls the tools it used on earlier days without looking for them", async () => {
    for (let use = 0; use < 3; use++) await runTask(taskNamed("one small file"), composite, { world });
    await composite.close();
    const side = await world.laterGateway("auto", { earlier: composite.home, hasJournal: true });
    composite = await world.gateway("composite");
    try {
      expect([...side.listed.keys()]).toContain("files.read_text_file");
      expect(await runTask(taskNamed("one small file"), side, { world })).toMatchObject({ turns: 2, asked: false });
    } finally {
      await side.close();
    }
  });

  it("recovers from its mistakes on every surface, at the same places", async () => {
    const task = taskNamed("read two files, edit both");
    const seeds = Array.from({ length: 20 }, (_, seed) => seed);
    const mistakes = async (side: Side) => {
      const costs: Cost[] = [];
      for (const seed of seeds) costs.push(await runTask(task, side, { world, seed }));
      return costs.map(({ mistakes }) => mistakes);
    };
    const direct = await mistakes(world.direct());
    expect(direct.some((count) => count > 0) && direct.some((count) => count === 0)).toBe(true);
    expect(await mistakes(composite)).toEqual(direct);
  });

  it("fails the check of a task that was not completed", async () => {
    const copying = taskNamed("a file copied");
    const idle = {
      ...copying,
      *direct() {
        yield* [];
        return "It is copied.";
      },
    };
    await expect(runTask(idle, world.direct(), { world })).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("lists additional servers on the direct surface, at no cost on the composite one", () => {
    expect([...world.direct().listed.keys()]).toContain("shop.sell");
    expect([...composite.own.keys()]).toEqual(["query", "execute", "session"]);
  });
});

describe("the summary of tasks", () => {
  it("compares each task with the same one on the direct side, and names the worst", () => {
    const cost = (total: number): Cost => ({
      turns: 2,
      input: total,
      output: 0,
      total,
      fresh: total,
      freshWithoutTools: total,
      mistakes: 0,
      asked: false,
      askedOnce: true,
    });
    const done = [100, 200, 400].map((total, index) => ({
      name: `task ${index}`,
      direct: cost(200),
      composite: cost(400),
      auto: cost(total),
      favourites: cost(200),
    }));
    const rows = summaryRows(done, { where: "here", goals: "small" });
    const ratios = Object.fromEntries(rows.map(({ what, ratio, aim }) => [what, [ratio, aim]]));
    expect(ratios["here, auto: tool list cached, median"]).toEqual([1, 1]);
    expect(ratios["here, auto: tool list cached, worst task"]).toEqual([2, 1.15]);
    expect(ratios["here, auto: nothing cached, sum"]).toEqual([700 / 600, 0.3]);
    expect(ratios["here, composite: nothing cached, sum"]).toEqual([2, undefined]);
    expect(rows.find(({ ratio, aim }) => ratio === 2 && aim === 1.15)?.beside).toContain("task 2");
  });
});
