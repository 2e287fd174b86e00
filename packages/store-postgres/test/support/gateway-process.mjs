// A gateway of its own process, for tests that kill it: opens the store at an address, adds documents one after another
// and prints each name after it was acknowledged. Runs the built package.
import { openPostgresStore } from "../../dist/index.js";

const [url, folder, prefix, count] = process.argv.slice(2);
const store = await openPostgresStore({ url, cwd: folder, folder });
process.stdout.write("open\n");
for (let n = 0; n < Number(count); n++) {
  const name = `${prefix}${n}.ts`;
  await store.add({ name, content: `export function ${prefix}${n}() { return ${n}; }\n` });
  process.stdout.write(`${name}\n`);
}
await store.indexed();
process.stdout.write("indexed\n");
await store.close();
