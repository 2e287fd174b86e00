// Creates a store, removes write permission, and prints what still works: first with a read-only folder, then with
// read-only files. Then does the same without permission to read.
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

/** Opens the store as reading commands do, which must fail. */
async function refusal() {
  const error = await openStore({ path, lazyWriter: true }).catch((reason) => reason);
  return { code: error.code, message: error.message, hint: error.hint };
}

try {
  const store = await openStore({ path });
  await store.add({ content: "a heron", name: "kept.txt" });
  await store.close();
  chmodSync(path, 0o555);
  const folder = await attempt();
  chmodSync(path, 0o755);
  for (const file of files()) chmodSync(file, 0o444);
  const written = await attempt();
  chmodSync(join(path, "index.sqlite"), 0);
  const unreadableFile = await refusal();
  chmodSync(path, 0);
  const result = { folder, files: written, unreadableFile, unreadableFolder: await refusal() };
  chmodSync(path, 0o700);
  process.stdout.write(JSON.stringify(result));
} finally {
  rmSync(base, { recursive: true, force: true });
}
