import { describe, expect, it } from "vitest";
import { describeStanding, nextStep, type Standing } from "../src/commands/standing/next-step.js";

const complete: Standing = {
  servers: [{ name: "docs", state: "ready", tools: 3 }],
  disabled: 0,
  problems: 0,
  importable: [],
  store: { path: ".trunkline/store", isProjects: true, isKnown: true },
  canInit: true,
  programs: [{ id: "codex", title: "Codex", hasTrunkline: true }],
};
const server = (name: string, state: Standing["servers"][number]["state"], tools?: number) => ({ name, state, tools });

describe("nextStep", () => {
  it.each<[string, Partial<Standing>, string | undefined]>([
    ["nothing is missing", {}, undefined],
    ["a file has a mistake", { problems: 1, servers: [] }, "trunkline doctor"],
    ["every server is disabled", { servers: [], disabled: 2 }, "trunkline servers"],
    ["another program has servers", { servers: [], importable: [{ title: "Zed", count: 2 }] }, "trunkline setup"],
    ["a project's server is not approved", { servers: [server("a", "not approved", 1)] }, "trunkline trust"],
    ["a server needs the workspace", { servers: [server("a", "needs workspace")] }, "trunkline trust --workspace"],
    ["a server was never connected", { servers: [server("a", "ready", 1), server("b", "ready")] }, "trunkline doctor"],
    ["an entry lacks something", { servers: [server("a", "unusable", 4)] }, "trunkline doctor"],
    [
      "the store is someone else's",
      { store: { path: "s", isProjects: true, isKnown: false } },
      "trunkline trust --store",
    ],
    ["there is no store", { store: undefined }, "trunkline init"],
    ["a store is not possible in the home folder", { store: undefined, canInit: false }, undefined],
    [
      "no agent has Trunkline",
      { programs: [{ id: "zed", title: "Zed", hasTrunkline: false }] },
      "trunkline install zed",
    ],
    ["there is no agent program", { programs: [] }, "trunkline serve --http"],
    [
      "the only agent's file is broken",
      { programs: [{ id: "zed", title: "Zed", hasTrunkline: false, problem: "x" }] },
      "trunkline install zed",
    ],
  ])("knows what to do if %s", (_, changes, command) => {
    expect(nextStep({ ...complete, ...changes })?.command).toBe(command);
  });
});

describe("describeStanding", () => {
  it("sums up servers, store and agents", () => {
    expect(describeStanding(complete)).toEqual([
      ["servers", "1 (docs), 3 tools"],
      ["store", ".trunkline/store"],
      ["agents", "Codex"],
    ]);
  });

  it("names the database that holds the store", () => {
    const database = { ...complete, store: { database: "db.example.com:5432/trunkline" } };
    expect(describeStanding(database)[1]).toEqual(["store", "PostgreSQL, db.example.com:5432/trunkline"]);
    expect(nextStep(database)).toBeUndefined();
  });

  it("counts what does not work yet, and names at most three servers", () => {
    const servers = ["a", "b", "c", "d", "e"].map((name, index) =>
      server(name, index === 0 ? "not approved" : index === 1 ? "unusable" : "ready"),
    );
    const [[, text] = []] = describeStanding({ ...complete, servers, disabled: 2, problems: 1 });
    expect(text).toBe(
      "5 (a, b, c and 2 more), 1 not approved, 1 not usable, 3 not connected yet, 2 disabled, 1 problem in the configuration",
    );
  });

  it("has a line for each program whose file cannot be used", () => {
    const cursor = { id: "cursor", title: "Cursor", hasTrunkline: false, problem: "mcp.json:2:1 is \u001b[2Jbroken." };
    expect(describeStanding({ ...complete, programs: [...complete.programs, cursor] }).slice(2)).toEqual([
      ["agents", "Codex; with a file that cannot be used: Cursor"],
      ["problem", "mcp.json:2:1 is \\u001b[2Jbroken."],
    ]);
  });

  it("makes names from files printable", () => {
    const [[, text] = []] = describeStanding({ ...complete, servers: [server("a\u001b[2Jb", "ready", 1)] });
    expect(text).not.toContain("\u001b");
  });
});
