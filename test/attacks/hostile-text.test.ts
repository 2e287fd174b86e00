// Text from a server, a repository, a registry or a client that would keep the one main thread busy, or fill its memory:
// a file without an end.
import { rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readRegularFile, systemCodeOf } from "../../packages/core/src/index.js";
import { Place } from "../e2e/command.js";

describe("a file of a project", () => {
  it.each([".mcp.json", ".trunkline/mcp.json"])("is at most 1 MB: %s", async (path) => {
    using place = new Place({ ".git/HEAD": "", [path]: "" });
    truncateSync(join(place.cwd, path), 1024 * 1024 + 1);
    const { stderr } = await place.run(path === ".mcp.json" ? ["import", "--dry-run"] : ["tools"]);
    expect(stderr).toContain(`${path.split("/").at(-1)} cannot be read: it is too large`);
  });
});

describe.skipIf(process.platform !== "linux")("a file without an end", () => {
  it("is read up to the limit, whatever size it claims", async () => {
    using place = new Place({});
    const path = join(place.cwd, "config");
    // Claims to be empty, and has gigabytes.
    symlinkSync("/proc/self/pagemap", path);
    const before = process.memoryUsage().rss;
    expect(await readRegularFile(path, { maxBytes: 1024 * 1024 }).catch(systemCodeOf)).toBe("EFBIG");
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024);
  });

  it("does not count as one if it only claims to be empty", async () => {
    expect((await readRegularFile("/proc/self/status")).toString()).toContain("Pid:");
  });

  it.each([".mcp.json", ".cursor/mcp.json", ".codex/config.toml"])("is not read in place of %s", async (path) => {
    using place = new Place({ ".git/HEAD": "", [path]: "" });
    rmSync(join(place.cwd, path));
    symlinkSync("/proc/self/pagemap", join(place.cwd, path));
    const { stderr } = await place.run(["import", "--dry-run"]);
    expect(stderr).toContain(`${path} cannot be read: it is too large`);
  });
});

describe("a file of exactly the limit", () => {
  it("is read, and one byte more is not", async () => {
    using place = new Place({});
    const path = join(place.cwd, "config");
    writeFileSync(path, "x".repeat(200_001));
    expect(await readRegularFile(path, { maxBytes: 200_001 })).toHaveLength(200_001);
    expect(await readRegularFile(path, { maxBytes: 200_000 }).catch(systemCodeOf)).toBe("EFBIG");
  });
});
