// Creates a store, removes write permission, and prints what still works: first with a read-only folder, then with
// read-only files.
import { chmodSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "../../src/index.js";

const NOBODY = 65_534;
if (process.getuid?.() === 0) {
  process.setgid?.(NOBODY);
  process.setuid?.(NOBODY);
}
const base = mkdtempSync(join(tmpdir(), "trunkline-store-"));
const path = join(base, "store");
const files = () => readdirSync(path).map((name) => join(path, name));

async function attempt() {
  const store = await openStore({ path });
  try {
    const { total } = await store.search({ query: "heron", type: "keyword" });
    const error = await store.add({ content: "x", name: "x" }).catch((reason) => reason);
    return { found: total, code: error.code, message: error.message };
  } finally {
    await store.close();
  }
}

try {
  const store = await openStore({ path });
  await store.add({ content: "a heron", name: "kept.txt" });
  await store.close();
  chmodSync(path, 0o555);
  const folder = await attempt();
  chmodSync(path, 0o755);
  for (const file of files()) chmodSync(file, 0o444);
  const result = { folder, files: await attempt() };
  process.stdout.write(JSON.stringify(result));
} finally {
  rmSync(base, { recursive: true, force: true });
}
