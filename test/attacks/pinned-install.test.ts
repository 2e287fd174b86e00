// `install` writes the version that the user has: a version that is published later, by whoever, must not run by itself.
import { join, sep } from "node:path";
import { describe, expect, it } from "vitest";
import { launchCommand } from "../../packages/cli/src/install/launch-command.js";
import { Place } from "../e2e/command.js";

describe("install", () => {
  const script = join(sep, "home", "ada", ".npm", "_npx", "0f", "node_modules", "trunkline", "bin", "trunkline.cjs");

  it.each(["linux", "darwin", "win32"] as const)("writes an exact version for npx (%s)", async (platform) => {
    const place = { env: { PATH: "/nowhere" }, platform, inShell: true, version: "1.2.3", script };
    const { command, args } = await launchCommand(["serve"], place);
    expect([command, ...args]).toEqual(["npx", "-y", "trunkline@1.2.3", "serve"]);
  });

  it("writes the path of a checkout", async () => {
    using place = new Place();
    const { stdout } = await place.run(["install", "claude-code", "--project", "--dry-run"]);
    expect(stdout).toMatch(/trunkline\.cjs/);
    expect(stdout).not.toMatch(/"npx"/);
  });
});
