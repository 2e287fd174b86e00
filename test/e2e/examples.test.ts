import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { root } from "./command.js";

const folders = readdirSync(join(root, "examples"), { withFileTypes: true }).filter((entry) => entry.isDirectory());

describe("the example", () => {
  it.each(folders.map(({ name }) => name))("%s runs and finds everything as it says", async (name) => {
    const { stdout } = await promisify(execFile)(process.execPath, [join(root, "examples", name, "main.js")], {
      cwd: root,
    });
    expect(stdout).toMatch(/^done$/m);
  });
});
