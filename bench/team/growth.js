// How a team's database grows: its size by table and index after each step. docs/sizing.md is made from it.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { report } from "../report.js";
import { corpus } from "../store/corpus.js";
import { withEngines } from "./stores.js";

const STEPS = [2_000, 10_000, 40_000];
const LINES = 60;
const KB = 1_024;

/** @param {import("./run.js").TeamOptions} options */
export async function measure({ documents }) {
  const steps = documents === undefined ? STEPS : [documents];
  await withEngines(async ({ home, version, open, run }) => {
    const store = await open("postgres");
    const files = [...corpus({ files: steps.at(-1) ?? 0, lines: LINES })];
    let textBytes = 0;
    let written = 0;
    /** @type {import("../report.js").Row[]} */
    const rows = [];
    for (const step of steps) {
      const folder = join(home, String(step));
      for (const { name, text } of files.slice(written, step)) {
        const path = join(folder, name);
        mkdirSync(join(path, ".."), { recursive: true });
        writeFileSync(path, text);
        textBytes += Buffer.byteLength(text);
      }
      written = step;
      await store.add({ path: folder });
      await store.indexed();
      run("VACUUM ANALYZE");
      const total = Number(run("SELECT pg_database_size(current_database())"));
      const what = `${step.toLocaleString("en")} documents`;
      rows.push(
        { what: `${what}: text`, figure: textBytes / step / KB, unit: "kB each" },
        {
          what: `${what}: database`,
          figure: total / step / KB,
          unit: "kB each",
          beside: "its text",
          ratio: total / textBytes,
        },
      );
      const sizes = run(`SELECT relname || ' ' || pg_table_size(oid) || ' ' || pg_indexes_size(oid) FROM pg_class
        WHERE relnamespace = 'trunkline'::regnamespace AND relkind = 'r' AND pg_total_relation_size(oid) > 1000000
        ORDER BY pg_total_relation_size(oid) DESC`);
      for (const line of sizes.split("\n")) {
        const [table = "", tableBytes = 0, indexBytes = 0] = line.split(" ");
        rows.push({ what: `   ${table}: table`, figure: Number(tableBytes) / step / KB, unit: "kB each" });
        rows.push({ what: `   ${table}: indexes`, figure: Number(indexBytes) / step / KB, unit: "kB each" });
      }
    }
    await store.close();
    report("team-growth", rows, {
      title: "A team's store: how it grows",
      workload: `Files of at most ${LINES} lines, sources and prose, added to one database in steps and indexed completely, without vectors.`,
      versions: { PostgreSQL: version },
    });
  });
}
