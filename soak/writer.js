// A writer for the soak's store that runs until it is killed. Arguments: the store's folder, a unique name, a seed.
// Prints "begin <what> <name> <version>" to stdout before each change and "done …" after it. If the parent has read
// "done", the change was acknowledged.
import { writeSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { openStore } from "../packages/store/dist/index.js";
import { contentOf } from "./documents.js";
import { Random } from "./random.js";

const [path = "", prefix = "", seed = "0"] = process.argv.slice(2);
const random = new Random(Number(seed), prefix);
const store = await openStore({ path });
/** Documents in the store, with their versions. @type {Map<string, number>} */
const present = new Map();
let number = 0;

/** @param {"put" | "delete"} what @param {string} name @param {number} version */
async function change(what, name, version) {
  // Synchronous, so the line is written even if the kill comes right now.
  writeSync(1, `begin ${what} ${name} ${version}\n`);
  if (what === "put") {
    await store.add({ name, content: contentOf(name, version) });
    present.set(name, version);
  } else {
    await store.delete({ name });
    present.delete(name);
  }
  writeSync(1, `done ${what} ${name} ${version}\n`);
}

for (;;) {
  // Leave the machine some time for the rest of the soak.
  await delay(random.between(0, 40));
  const drawn = random.next();
  const some = drawn < 0.25 && present.size > 0 ? random.pick([...present.keys()]) : undefined;
  const version = some === undefined ? 1 : (present.get(some) ?? 0) + 1;
  if (drawn < 0.005) {
    await store.gc();
    writeSync(1, "done gc\n");
  } else if (some === undefined) await change("put", `${prefix}-${number++}.txt`, 1);
  else await change(drawn < 0.08 ? "delete" : "put", some, version);
}
