// Hears of changes in all workspaces: of their configuration, their servers' states and their definitions.
import type { Hub } from "@trunkline/client";
import type { ConsoleWorkspace } from "./console-world.js";

type WorkspaceChange = "config" | "status" | "definitions";

type OnChange = (workspace: string, change: WorkspaceChange) => void;

export class WorkspaceWatches {
  readonly #onChange: OnChange;
  readonly #watched = new Map<string, () => void>();

  constructor(onChange: OnChange) {
    this.#onChange = onChange;
  }

  /** Watches these workspaces and no others. */
  watch(workspaces: readonly ConsoleWorkspace[]): void {
    const ids = new Set(workspaces.map(({ id }) => id));
    for (const [id, stop] of this.#watched) {
      if (ids.has(id)) continue;
      stop();
      this.#watched.delete(id);
    }
    for (const workspace of workspaces)
      if (!this.#watched.has(workspace.id)) this.#watched.set(workspace.id, this.#follow(workspace));
  }

  #follow({ id, app }: ConsoleWorkspace): () => void {
    let hub: Hub | undefined;
    let stops: (() => void)[] = [];
    const followHub = () => {
      if (app.openedHub === hub) return;
      hub = app.openedHub;
      for (const stop of stops) stop();
      stops =
        hub === undefined
          ? []
          : [
              hub.onStatusChanged(() => this.#onChange(id, "status")),
              hub.onDefinitionsChanged(() => this.#onChange(id, "definitions")),
            ];
    };
    followHub();
    const stopApp = app.onChange(() => {
      followHub();
      this.#onChange(id, "config");
    });
    return () => {
      stopApp();
      for (const stop of stops) stop();
    };
  }
}
