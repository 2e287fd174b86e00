import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ConsoleEvent } from "@trunkline/console";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { ConsoleWorld } from "../../src/console/console-world.js";
import { StoreWatch } from "../../src/console/operations-part.js";

let folder: string;
const events: ConsoleEvent[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "store-watch-"));
  events.length = 0;
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true });
});

function watched(): StoreWatch {
  const workspaces = () => [{ id: "w", app: { storeFolder: join(folder, "store") } }];
  return new StoreWatch({ workspaces, send: (event: ConsoleEvent) => events.push(event) } as unknown as ConsoleWorld); // All it uses.
}

it("tells pages that a store was created, written or removed by any process, and nothing else", () => {
  const watch = watched();
  watch.watch();
  watch.watch();
  vi.advanceTimersByTime(3_000);
  expect(events).toEqual([]);
  mkdirSync(join(folder, "store"));
  writeFileSync(join(folder, "store", "content.sqlite"), "1");
  vi.advanceTimersByTime(1_000);
  writeFileSync(join(folder, "store", "content.sqlite-wal"), "22");
  vi.advanceTimersByTime(2_000);
  const changed = { kind: "changed", topics: ["store"], workspace: "w" };
  expect(events).toEqual([changed, changed]);
  watch.rest();
  writeFileSync(join(folder, "store", "content.sqlite-wal"), "333");
  vi.advanceTimersByTime(3_000);
  expect(events).toHaveLength(2);
});
