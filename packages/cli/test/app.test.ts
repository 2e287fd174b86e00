import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { silentLogger } from "@trunkline/core";
import type { AnyStore } from "@trunkline/store";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openApp } from "../src/app/app.js";
import { WarmParts } from "../src/commands/broker/warm-parts.js";
import { createContext } from "../src/terminal/context.js";
import type { StoreKey } from "../src/terminal/shared-parts.js";

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "trunkline-app-"));
});
afterEach(() => {
  rmSync(base, { recursive: true, force: true });
});

function contextIn(folder: string) {
  const [cwd, userHome] = [join(folder, "project"), join(folder, "home")];
  mkdirSync(cwd);
  mkdirSync(userHome);
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() };
  return createContext({ ...streams, env: { HOME: userHome, TRUNKLINE_HOME: join(userHome, "own") }, cwd, userHome });
}

describe("an App", () => {
  it("opens each part once", async () => {
    const context = contextIn(base);
    writeFileSync(join(context.cwd, "mcp.json"), JSON.stringify({ mcpServers: { docs: { command: "docs" } } }));
    await using app = openApp(context, { mcp: "mcp.json", embed: false });
    expect(await app.config()).toBe(await app.config());
    expect(await app.hub()).toBe(await app.hub());
    expect(await app.store()).toBe(await app.searchableStore());
  });

  it("closes the store even if the hub fails to close, and only once", async () => {
    const context = contextIn(base);
    writeFileSync(join(context.cwd, "mcp.json"), JSON.stringify({ mcpServers: { docs: { command: "docs" } } }));
    const app = openApp(context, { mcp: "mcp.json", embed: false });
    const hub = await app.hub();
    const store = await app.store();
    hub.close = () => Promise.reject(new Error("the hub stays"));
    const closing = app.close();
    await expect(closing).rejects.toThrow("the hub stays");
    expect(app.close()).toBe(closing);
    await expect(store.list({})).rejects.toMatchObject({ code: "CLOSED" });
  });

  it("keeps the user's own folder out of a folder that is added", async () => {
    const context = contextIn(base);
    mkdirSync(context.home);
    writeFileSync(join(context.home, "settings.json"), "{}");
    writeFileSync(join(context.userHome, "note.md"), "A note.");
    await using app = openApp(context, { embed: false });
    const store = await app.store();
    await store.add({ path: context.userHome });
    expect(await store.list({})).toMatchObject({ total: 1, documents: [{ path: join(context.userHome, "note.md") }] });
  });

  it("tells a broker which database its store is in, without the password", async () => {
    const parts = new UnreachableStores(silentLogger);
    await using app = openApp(
      { ...contextIn(base), shared: parts },
      { store: "postgres://ada:s3cret-word@db.example:5433/notes", embed: false },
    );
    await expect(app.store()).rejects.toThrow("unreachable");
    expect(parts.seen).toEqual(["db.example:5433/notes"]);
  });
});

/** A broker's parts, whose stores cannot be opened; notes what the broker would show of them. */
class UnreachableStores extends WarmParts {
  seen: readonly string[] = [];

  override store(key: StoreKey): Promise<AnyStore> {
    const opening = super.store(key, () => Promise.reject(new Error("unreachable")));
    this.seen = this.storePlaces;
    return opening;
  }
}
