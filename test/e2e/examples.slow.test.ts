import { execFile } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { Place, root } from "./command.js";

const examples = readdirSync(join(root, "examples"), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);
const scripts = examples.filter((name) => existsSync(join(root, "examples", name, "main.ts")));

describe("the example", () => {
  it.each(examples.filter((name) => !scripts.includes(name)))("%s runs and passes its own checks", async (name) => {
    const { stdout } = await promisify(execFile)(process.execPath, [join(root, "examples", name, "main.js")], {
      cwd: root,
    });
    expect(stdout).toMatch(/^done$/m);
  });

  it("exists as a script, five times", () => {
    expect(scripts).toHaveLength(5);
  });

  it.each(scripts)("%s runs as a script and passes its own checks", async (name) => {
    using place = new Place();
    const servers = join("examples", name, "mcp.jsonc");
    const options = existsSync(join(root, servers)) ? ["--mcp", servers] : [];
    const outcome = await place.runProcess([...options, "run", join("examples", name, "main.ts")], {
      cwd: root,
      env: { TRUNKLINE_STORE: join(place.base, "store") },
    });
    expect(outcome).toMatchObject({ code: 0, stderr: "" });
    expect(outcome.stdout).toMatch(/^done$/m);
  });
});
