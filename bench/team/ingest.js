// How fast documents are added and indexed on both engines, in alternating rounds: until they are found by keyword, and
// until everything in the background is done.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { median, report, timeMs } from "../report.js";
import { corpus } from "../store/corpus.js";
import { NAMES, withEngines } from "./stores.js";

const AIMS = { add: 0.4, background: 2 };
const DOCUMENTS = 6000;
const LINES = 60;
const SINGLE = 50;

/** @param {import("./run.js").TeamOptions} options */
export async function measure({ documents = DOCUMENTS, rounds }) {
  await withEngines(async ({ home, version, open, run }) => {
    const folder = join(home, "documents");
    // Real source files and prose: the graph parses them, too.
    for (const { name, text } of corpus({ files: documents, lines: LINES })) {
      const path = join(folder, name);
      mkdirSync(join(path, ".."), { recursive: true });
      writeFileSync(path, text);
    }
    /** @type {Record<string, Record<"add" | "background" | "one" | "again" | "grep", number[]>>} */
    const times = Object.fromEntries(
      NAMES.map((name) => [name, { add: [], background: [], one: [], again: [], grep: [] }]),
    );
    for (let round = 0; round < rounds; round++) {
      for (const name of NAMES) {
        const own = /** @type {NonNullable<(typeof times)[string]>} */ (times[name]);
        const store = await open(name);
        const addMs = await timeMs(() => store.add({ path: folder }));
        const found = await store.search({ query: "function", type: "keyword", limit: 1 });
        if (found.total === 0) throw new Error("nothing was found");
        own.add.push(documents / (addMs / 1000));
        own.background.push(await timeMs(() => store.indexed()));
        own.again.push(await timeMs(() => store.add({ path: folder })));
        own.grep.push(await timeMs(() => store.grep({ pattern: "return \\w+Path\\(", count: true })));
        const oneMs = await timeMs(async () => {
          for (let n = 0; n < SINGLE; n++)
            await store.add({ content: `note number ${n} ${"of many words ".repeat(20)}`, name: `note-${n}.md` });
        });
        own.one.push(oneMs / SINGLE);
        console.error(
          `${name}: ${JSON.stringify(Object.fromEntries(Object.entries(own).map(([key, list]) => [key, Math.round(list.at(-1) ?? 0)])))}`,
        );
        await store.close();
      }
    }
    /** @param {string} what @param {"add" | "background" | "one" | "again" | "grep"} key @param {string} unit @param {object} [aim] */
    const rowsOf = (what, key, unit, aim = {}) => {
      const [embedded = [], postgres = []] = NAMES.map((name) => times[name]?.[key]);
      const beside = `${what}: embedded`;
      return [
        { what: beside, figure: median(embedded), unit },
        {
          what: `${what}: PostgreSQL`,
          figure: median(postgres),
          unit,
          beside,
          ratio: median(postgres) / median(embedded),
          ...aim,
        },
      ];
    };
    const size = Number(run("SELECT pg_database_size(current_database())"));
    report(
      "team-ingest",
      [
        ...rowsOf("documents added per second, searchable by keyword", "add", "/s", { aim: AIMS.add, isAtLeast: true }),
        ...rowsOf("background work until all is indexed", "background", "ms", { aim: AIMS.background }),
        ...rowsOf("add again, nothing changed", "again", "ms"),
        ...rowsOf("add one short document", "one", "ms"),
        ...rowsOf("grep of a pattern", "grep", "ms"),
        { what: `database with ${documents} documents`, figure: size / 2 ** 20, unit: "MiB" },
      ],
      {
        title: "A team's store: adding documents",
        workload: `${documents} files of at most ${LINES} lines, sources and prose, ${rounds} rounds alternating between the engines, medians; one gateway, the database on the same machine.`,
        versions: { PostgreSQL: version },
      },
    );
  });
}
