// The store with both SQLite drivers: the one that older Node versions need, and the one that newer ones have.
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { node24 } from "../../bench/peers/peers.js";
import { isNodeSqliteUsable } from "../../packages/store/src/engine/sqlite/node-sqlite-driver.js";
import { bin, type Outcome, outcomeOf, Place, root } from "./command.js";

const newer = node24();
if (typeof newer !== "string") throw new Error(newer.reason);
const NODES = [process.execPath, newer] as const;

function run(place: Place, node: string, args: readonly string[], env: Record<string, string> = {}): Promise<Outcome> {
  const child = spawn(node, [bin, ...args], {
    cwd: place.cwd,
    env: { PATH: process.env.PATH ?? "", HOME: place.home, TRUNKLINE_BROKER: "off", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  return outcomeOf(child);
}

async function answer(place: Place, node: string, ...args: string[]) {
  const { code, stdout, stderr } = await run(place, node, ["store", ...args, "--json"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout);
}

describe("one store on two versions of Node", () => {
  it("is written by both in turn, and each finds what the other wrote", async () => {
    using place = new Place();
    for (let round = 0; round < 4; round++) {
      const [writer = "", reader = ""] = round % 2 === 0 ? NODES : NODES.toReversed();
      place.write("notes.md", `walrus number${round}\n`);
      place.write(`src/part${round}.ts`, `export function part${round}(): number {\n  return ${round};\n}\n`);
      await answer(place, writer, "add", ".");
      const { results } = await answer(place, reader, "search", `number${round}`, "--type", "keyword");
      expect(results).toEqual([expect.objectContaining({ path: join(place.cwd, "notes.md") })]);
      const { matches } = await answer(place, reader, "grep", `part${round}\\(`);
      expect(matches).toEqual([expect.objectContaining({ line: 1 })]);
      const { versions } = await answer(place, reader, "get", "notes.md");
      expect(versions).toHaveLength(round + 1);
      await answer(place, reader, "update", "notes.md", "--tag", `round${round}`);
    }
    for (const node of NODES) expect(await answer(place, node, "verify")).toMatchObject({ ok: true });
  });

  it("is written by both at once", async () => {
    using place = new Place();
    const writers = [...NODES, ...NODES].map(async (node, writer) => {
      for (let number = 0; number < 6; number++) {
        await answer(place, node, "add", place.write(`n${writer}-${number}`, `walrus ${writer} ${number}`));
      }
    });
    await Promise.all(writers);
    for (const node of NODES) {
      const { total } = await answer(place, node, "search", "walrus", "--type", "keyword");
      expect(total).toBe(24);
      expect(await answer(place, node, "verify")).toMatchObject({ ok: true });
    }
  });
});

describe.skipIf(isNodeSqliteUsable(process.versions.node))("without a driver", () => {
  it("everything but the store works, and the store says what to do", async () => {
    using place = new Place();
    const env = withoutDriver(place);
    const hello = join(root, "test", "servers", "hello.js");
    const added = await run(place, NODES[0], ["servers", "add", "hello", "--", NODES[0], hello], env);
    expect(added.code).toBe(0);
    expect((await run(place, NODES[0], ["call", "hello.hello", "name=Ada"], env)).stdout).toBe("Hello, Ada!\n");
    const { code, stderr } = await run(place, NODES[0], ["store", "search", "walrus"], env);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^trunkline: The store cannot be used with Node \S+: its database driver is not built\.\n/);
    expect(stderr).toContain("Use Node 22.16 or newer");
    // It works as soon as there is one.
    expect((await run(place, newer, ["store", "status"], env)).code).toBe(0);
  });

  it("doctor says so, and the next init with a driver creates the store", async () => {
    using place = new Place({ "notes.md": "walrus" });
    const env = withoutDriver(place);
    const report = await run(place, NODES[0], ["doctor"], env);
    expect(report.code).toBe(1);
    expect(report.stdout).toMatch(/^✗ store .*\n {4}The store cannot be used with Node .*\n {4}next: Use Node 22\.16/m);
    expect((await run(place, NODES[0], ["init"], env)).stderr).toContain("its database driver is not built");
    expect((await run(place, NODES[0], ["init"])).stdout).toContain(`Created a store for ${place.cwd}`);
    expect((await run(place, NODES[0], ["store", "search", "walrus", "--paths-only"])).stdout).toBe("notes.md\n");
    expect((await run(place, NODES[0], ["doctor"])).stdout).not.toContain("✗ store");
  });
});

/** The environment of a process that cannot load the driver. */
function withoutDriver(place: Place): Record<string, string> {
  const hook = join(place.base, "no-driver.cjs");
  writeFileSync(
    hook,
    `const Module = require("node:module");
const resolve = Module._resolveFilename;
Module._resolveFilename = function (name, ...rest) {
  if (name === "better-sqlite3") throw Object.assign(new Error("Cannot find module"), { code: "MODULE_NOT_FOUND" });
  return resolve.call(this, name, ...rest);
};
`,
  );
  return { NODE_OPTIONS: `--require ${hook}` };
}
