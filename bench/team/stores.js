// Both engines, opened for one measurement, so that every ratio is from one run.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "../../packages/store/dist/index.js";
import { initPostgresStore, openPostgresStore } from "../../packages/store-postgres/dist/index.js";
import { startCluster } from "./cluster.js";

/** @typedef {import("../../packages/store/dist/index.js").Store} EmbeddedStore */
/** @typedef {import("../../packages/store-postgres/dist/index.js").PostgresStore} PostgresStore */
/** @typedef {{ name: "embedded" | "postgres", store: EmbeddedStore | PostgresStore }} Engine */
/** @typedef {import("@trunkline/core").Embedder} Embedder */

/** The engines in the order they are measured: the embedded one first. */
export const NAMES = /** @type {const} */ (["embedded", "postgres"]);

/**
 * @typedef {object} Place
 * @property {string} home A folder for the files of the measurement.
 * @property {string} version The version of PostgreSQL.
 * @property {(name: Engine["name"], embedder?: Embedder) => Promise<Engine["store"]>} open Opens a new, empty store.
 * @property {(sql: string) => string} run Runs a statement in the newest database.
 */

/**
 * Runs work with a server and a folder of its own.
 * @param {(place: Place) => Promise<void>} work
 */
export async function withEngines(work) {
  const home = mkdtempSync(join(tmpdir(), "trunkline-bench-team-"));
  const cluster = await startCluster();
  let stores = 0;
  try {
    await work({
      home,
      version: cluster.version,
      run: (sql) => cluster.run(sql, `store_${stores}`),
      async open(name, embedder) {
        if (name === "embedded") return await openStore({ path: join(home, `store-${Date.now()}`), embedder });
        const url = cluster.createDatabase();
        stores++;
        await initPostgresStore(url);
        return await openPostgresStore({ url, folder: join(home, "own"), embedder });
      },
    });
  } finally {
    cluster.stop();
    rmSync(home, { recursive: true, force: true });
  }
}
