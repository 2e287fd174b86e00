// An unpacked archive can have pipes in place of the files that Trunkline reads, and a repository links to devices.
// Opening a pipe waits until something is written to it: in the broker, a few of them would stop every window.
import { execFileSync } from "node:child_process";
import { closeSync, constants, mkdirSync, openSync, symlinkSync, truncateSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { Place } from "../e2e/command.js";

/** A project with pipes in it. Programs that wait for one go on when it is disposed of. */
class Piped extends Place {
  readonly #pipes: string[] = [];

  constructor(paths: readonly string[]) {
    super({ ".git/HEAD": "" });
    for (const path of paths) {
      const pipe = join(this.cwd, path);
      mkdirSync(dirname(pipe), { recursive: true });
      execFileSync("mkfifo", [pipe]);
      this.#pipes.push(pipe);
    }
  }

  override [Symbol.dispose](): void {
    const writers = this.#pipes.map((pipe) => openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK));
    for (const writer of writers) closeSync(writer);
    super[Symbol.dispose]();
  }
}

const OWN = [".env", ".trunkline/mcp.json", ".trunkline/settings.json"];
const OTHERS = [".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json", ".codex/config.toml"];

describe.skipIf(process.platform === "win32")("a pipe in place of a project's file", () => {
  it.each([
    ["tools", []],
    ["doctor", []],
    ["servers", ["list"]],
    ["trust", []],
    ["import", ["--dry-run"]],
    ["setup", ["--dry-run"]],
    ["install", ["claude-code", "--project", "--dry-run"]],
    ["uninstall", ["claude-code", "--project", "--yes"]],
    ["servers", ["add", "docs", "--project", "https://docs.example/mcp"]],
  ])("is not waited for: %s %s", { timeout: 20_000 }, async (command, args) => {
    using place = new Piped([...OWN, ...OTHERS]);
    const { code } = await place.run([command, ...args]);
    expect(code).toBeLessThan(3);
  });

  it("is named, and counts as a file that cannot be read", { timeout: 20_000 }, async () => {
    using place = new Piped(OWN);
    const { stderr } = await place.run(["tools"]);
    expect(stderr).toContain("mcp.json cannot be read: it is a pipe or a device, not a file");
    expect(stderr).toContain('its policy counts as "deny"');
  });

  it("is read if the user names it", { timeout: 20_000 }, async () => {
    using place = new Piped(["named.json"]);
    const running = place.run(["servers", "list", "--mcp", "named.json"]);
    const servers = { docs: { url: "https://docs.example/mcp" } };
    await writeFile(join(place.cwd, "named.json"), JSON.stringify({ mcpServers: servers }));
    expect((await running).stdout).toContain("docs.example");
  });
});

describe.skipIf(process.platform === "win32")("another program's file", () => {
  it.each([
    ["a link to a device", (file: string) => symlinkSync("/dev/zero", file), "a pipe or a device"],
    ["endless", (file: string) => truncateSync(file, 65 * 1024 * 1024), "too large"],
  ])("is not read if it is %s", async (_name, spoil, reason) => {
    const isLink = reason !== "too large";
    using place = new Place({ ".git/HEAD": "", ...(isLink ? {} : { ".mcp.json": "" }) });
    spoil(join(place.cwd, ".mcp.json"));
    const { stderr } = await place.run(["import", "--dry-run"]);
    expect(stderr).toContain(`.mcp.json cannot be read: it is ${reason}`);
  });
});
