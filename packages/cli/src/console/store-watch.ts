// Notices that a store has changed, whichever process changed it: its database, or the log before it, has been written.
import { statSync } from "node:fs";
import { join } from "node:path";
import type { ConsoleWorld } from "./console-world.js";

const CHECK_MS = 1_000;
const FILES = ["content.sqlite", "content.sqlite-wal"];

/** While pages are open, tells them when the store of a workspace has changed. */
export class StoreWatch {
  readonly #world: ConsoleWorld;
  /** By the id of the workspace. */
  readonly #seen = new Map<string, string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(world: ConsoleWorld) {
    this.#world = world;
  }

  watch(): void {
    if (this.#timer !== undefined) return;
    this.#check();
    this.#timer = setInterval(() => this.#check(), CHECK_MS).unref();
  }

  rest(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#seen.clear();
  }

  #check(): void {
    for (const { id, app } of this.#world.workspaces()) {
      const now = stateOf(app.storeFolder);
      const before = this.#seen.get(id);
      this.#seen.set(id, now);
      if (before !== undefined && before !== now)
        this.#world.send({ kind: "changed", topics: ["store"], workspace: id });
    }
  }
}

function stateOf(folder: string): string {
  return FILES.map((name) => {
    const file = statSync(join(folder, name), { throwIfNoEntry: false });
    return file === undefined ? "" : `${file.size} ${file.mtimeMs}`;
  }).join();
}
