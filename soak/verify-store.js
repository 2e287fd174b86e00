// Checks that everything acknowledged is in the store, byte for byte, and that the store is not damaged.
import { openStore } from "../packages/store/dist/index.js";
import { contentOf } from "./documents.js";
import { documentBytes } from "./store.js";

/** How many documents to read at a time. */
const AT_A_TIME = 8;

/**
 * Lists documents that differ from their acknowledged state, one line each.
 * @param {import("@trunkline/store").Store} store
 * @param {import("./ledger.js").Ledger} ledger
 */
export async function lostDocuments(store, ledger) {
  /** @type {string[]} */
  const lost = [];
  const names = ledger.names;
  const workers = Array.from({ length: AT_A_TIME }, async () => {
    for (let name = names.pop(); name !== undefined; name = names.pop()) {
      const states = ledger.statesOf(name);
      const bytes = await documentBytes(store, name).catch((error) => String(error));
      const isRight = states.some((version) =>
        version === undefined ? bytes === undefined : Buffer.isBuffer(bytes) && bytes.equals(contentOf(name, version)),
      );
      if (isRight) continue;
      const wanted = states.map((version) => (version === undefined ? "not there" : `version ${version}`)).join(" or ");
      const is = Buffer.isBuffer(bytes) ? `${bytes.length} other bytes` : (bytes ?? "not there");
      lost.push(`${name}: ${is}, but ${wanted} was acknowledged`);
    }
  });
  await Promise.all(workers);
  return lost;
}

/**
 * @param {string} path
 * @param {import("./ledger.js").Ledger} ledger
 * @returns {Promise<import("./checks.js").Check[]>}
 */
export async function verifyStore(path, ledger) {
  const store = await openStore({ path });
  try {
    await store.indexed();
    const lost = await lostDocuments(store, ledger);
    const { problems } = await store.verify();
    const { contents } = await store.gc();
    const lostByGc = await lostDocuments(store, ledger);
    const after = await store.verify();
    const shown = (/** @type {unknown} */ problem) => JSON.stringify(problem);
    const documents = `${ledger.names.length} documents, ${ledger.present.length} of them present`;
    return [
      { name: "everything acknowledged is there, byte for byte", problems: lost, detail: documents },
      { name: "the store verifies", problems: problems.map(shown) },
      {
        name: "gc afterwards loses nothing",
        problems: [...lostByGc, ...after.problems.map(shown)],
        detail: `${contents} contents collected`,
      },
    ];
  } finally {
    await store.close();
  }
}
