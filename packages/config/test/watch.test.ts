import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { watchConfig } from "../../client/src/index.js";
import { Place } from "./place.js";

/** Counts changes and waits for the next one. */
function changes() {
  let count = 0;
  let wake: (() => void) | undefined;
  return {
    get count() {
      return count;
    },
    onChange: () => {
      count++;
      wake?.();
    },
    next: () =>
      new Promise<void>((resolve) => {
        wake = resolve;
      }),
  };
}

describe("watching the configuration", () => {
  it("notices a file that is changed, replaced, removed, and recreated with its folder", async () => {
    using place = new Place({ ".trunkline/mcp.json": { servers: {} } });
    const config = await place.load();
    const seen = changes();
    await using watch = watchConfig(config, { onChange: seen.onChange, debounceMs: 20 });
    await watch.ready;
    const after = async (change: () => void) => {
      const next = seen.next();
      change();
      await next;
    };
    await after(() => place.write(".trunkline/mcp.json", { servers: { a: { command: "c" } } }));
    await after(() => {
      const written = place.write(".trunkline/mcp.json.tmp", { servers: {} });
      renameSync(written, config.path);
    });
    await after(() => rmSync(join(place.cwd, ".trunkline"), { recursive: true }));
    await after(() => place.write(".trunkline/mcp.json", { servers: {} }));
    await after(() => place.write(".trunkline/settings.json", {}));
    await after(() => place.write("home/settings.json", {}));
  });

  it("notices a change made before the folders are watched", async () => {
    using place = new Place({ ".trunkline/mcp.json": { servers: {} } });
    const seen = changes();
    await using _watch = watchConfig(await place.load(), { onChange: seen.onChange, debounceMs: 20 });
    const next = seen.next();
    place.write(".trunkline/mcp.json", { servers: { a: { command: "c" } } });
    await next;
  });

  it("compares the files at once if asked to", async () => {
    using place = new Place({ ".trunkline/mcp.json": { servers: {} } });
    const seen = changes();
    await using watch = watchConfig(await place.load(), { onChange: seen.onChange, debounceMs: 3_600_000 });
    await watch.check();
    expect(seen.count).toBe(0);
    place.write(".trunkline/mcp.json", { servers: { a: { command: "c" } } });
    await watch.check();
    expect(seen.count).toBe(1);
  });

  it("notices changes behind a link", async () => {
    using place = new Place();
    const target = place.write("elsewhere/mcp.json", { servers: {} });
    mkdirSync(join(place.cwd, ".trunkline"));
    symlinkSync(target, join(place.cwd, ".trunkline", "mcp.json"));
    const seen = changes();
    await using watch = watchConfig(await place.load(), { onChange: seen.onChange, debounceMs: 20 });
    await watch.ready;
    const next = seen.next();
    writeFileSync(target, "{ }");
    await next;
  });

  it("reports several writes in a row once, and ignores other files in the folder", async () => {
    using place = new Place({ ".trunkline/mcp.json": { servers: {} } });
    const seen = changes();
    await using watch = watchConfig(await place.load(), { onChange: seen.onChange, debounceMs: 100 });
    await watch.ready;
    place.write(".trunkline/other.json", "{}");
    const next = seen.next();
    for (const command of ["a", "bb", "ccc"]) place.write(".trunkline/mcp.json", { servers: { s: { command } } });
    await next;
    await watch.close();
    expect(seen.count).toBe(1);
  });

  it("reports nothing once closed or aborted, and can be closed twice", async () => {
    using place = new Place({ ".trunkline/mcp.json": { servers: {} } });
    const seen = changes();
    const abort = new AbortController();
    const config = await place.load();
    const closed = watchConfig(config, { onChange: seen.onChange, debounceMs: 1 });
    const aborted = watchConfig(config, { onChange: seen.onChange, debounceMs: 1, signal: abort.signal });
    const witness = changes();
    await using other = watchConfig(config, { onChange: witness.onChange, debounceMs: 50 });
    await Promise.all([closed.ready, aborted.ready, other.ready]);
    await closed.close();
    await closed.close();
    abort.abort();
    const next = witness.next();
    place.write(".trunkline/mcp.json", { servers: { s: { command: "c" } } });
    await next;
    await aborted.close();
    expect(seen.count).toBe(0);
  });

  it("waits in close until a change has been handled, and rethrows its error", async () => {
    using place = new Place({ ".trunkline/mcp.json": { servers: {} } });
    const seen = changes();
    const watch = watchConfig(await place.load(), {
      debounceMs: 1,
      onChange: async () => {
        seen.onChange();
        await new Promise((resolve) => setImmediate(resolve));
        throw new Error("not reloaded");
      },
    });
    await watch.ready;
    const next = seen.next();
    place.write(".trunkline/mcp.json", "{}");
    await next;
    await expect(watch.close()).rejects.toThrow("not reloaded");
  });
});
