// Writes the dump of the current schema with a sample store, for the tests of later migrations.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { initPostgresStore, openPostgresStore, SCHEMA_VERSION } from "../../dist/index.js";
import { fillSample } from "./sample-store.mjs";

const [url] = process.argv.slice(2);
if (url === undefined) {
  process.stderr.write("Usage: write-dump.mjs postgres://user@host/empty-database\n");
  process.exitCode = 2;
} else {
  await initPostgresStore(url);
  const store = await openPostgresStore({ url });
  await fillSample(store);
  await store.close();
  const dump = execFileSync("pg_dump", [url, "--schema=trunkline", "--no-owner", "--no-privileges"]);
  const file = fileURLToPath(new URL(`../released/${SCHEMA_VERSION}.sql`, import.meta.url));
  writeFileSync(file, dump);
  process.stdout.write(`${file}\n`);
}
