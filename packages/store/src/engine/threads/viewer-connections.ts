// The connections of one thread that are restricted to a viewer, opened on demand.
import { join } from "node:path";
import { type Db, openDatabase } from "../sqlite/database.js";
import { defineFilterFunctions } from "../sqlite/filters.js";
import { requireOwnTruth, requirePlainIndex } from "../sqlite/own-schema.js";
import { INDEX_APPLICATION_ID, INDEX_FILE, TRUTH_APPLICATION_ID, TRUTH_FILE } from "../sqlite/schema.js";
import { restrictGraph, restrictTruth } from "../sqlite/visibility.js";

/** The databases as a viewer sees them. */
interface ViewerDatabases {
  readonly truth: Db;
  readonly graph: Db;
}

interface Kept extends ViewerDatabases {
  uses: number;
}

const MOST_KEPT = 8;

export class ViewerConnections {
  readonly #folder: string;
  /** By viewer, most recently used last. */
  readonly #kept = new Map<string, Kept>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Runs `work` with the viewer's connections. */
  async use<T>(viewer: string, work: (databases: ViewerDatabases) => Promise<T>): Promise<T> {
    const kept = this.#kept.get(viewer) ?? this.#open(viewer);
    this.#kept.delete(viewer);
    this.#kept.set(viewer, kept);
    kept.uses += 1;
    try {
      return await work({ truth: kept.truth, graph: kept.graph });
    } finally {
      kept.uses -= 1;
      this.#closeOldest();
    }
  }

  close(): void {
    for (const { truth, graph } of this.#kept.values()) {
      truth.close();
      graph.close();
    }
    this.#kept.clear();
  }

  #open(viewer: string): Kept {
    const options = { readOnly: true, synchronous: "FULL" } as const;
    const truth = openDatabase(join(this.#folder, TRUTH_FILE), {
      ...options,
      applicationId: TRUTH_APPLICATION_ID,
      check: requireOwnTruth,
    });
    try {
      defineFilterFunctions(truth);
      restrictTruth(truth, viewer);
      const graph = openDatabase(join(this.#folder, INDEX_FILE), {
        ...options,
        applicationId: INDEX_APPLICATION_ID,
        check: requirePlainIndex,
      });
      restrictGraph(graph, viewer);
      return { truth, graph, uses: 0 };
    } catch (error) {
      truth.close();
      throw error;
    }
  }

  #closeOldest(): void {
    for (const [viewer, { truth, graph, uses }] of this.#kept) {
      if (this.#kept.size <= MOST_KEPT) return;
      if (uses > 0) continue;
      this.#kept.delete(viewer);
      truth.close();
      graph.close();
    }
  }
}
