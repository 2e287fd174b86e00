import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { seededRandom } from "../../../../test/support/seed.js";
import { openStore } from "../../src/index.js";
import { cosine, lengthOf, type Numbers, numbersOf } from "../../src/search/vector-math.js";
import { formatOneStore } from "../support/format-1.js";
import { rawDatabase } from "../support/raw-database.js";

const CONVERTER = fileURLToPath(new URL("../programs/converter.js", import.meta.url));
const DIMENSIONS = 64;
const VECTORS = 20_000;

/** Opens the store in another process and kills it `afterMs` later. Returns whether the process had finished. */
async function killedConverter(path: string, afterMs: number): Promise<boolean> {
  const child = spawn(process.execPath, [CONVERTER, path], { stdio: ["ignore", "pipe", "inherit"] });
  let isComplete = false;
  const lines = createInterface({ input: child.stdout });
  const ended = once(lines, "close");
  lines.on("line", (line) => {
    // The test is about the moment of the kill; nothing waits for it.
    if (line === "open") setTimeout(() => child.kill("SIGKILL"), afterMs);
    else isComplete = true;
  });
  await once(child, "exit");
  await ended;
  return isComplete;
}

describe("kill -9 during the conversion of a store", () => {
  it("loses no vector, and the next process goes on", async () => {
    const random = seededRandom();
    const path = await formatOneStore();
    const db = rawDatabase(join(path, "index.sqlite"));
    const insert = db.prepare("INSERT INTO vectors (embedder, hash, vector) VALUES (1, ?, ?)", "objects");
    const floats = new Map<number, Float32Array>();
    db.exec("BEGIN");
    for (let n = 0; n < VECTORS; n++) {
      const vector = Float32Array.from({ length: DIMENSIONS }, () => random.next() - 0.5);
      const hash = Buffer.alloc(32);
      hash.writeUInt32BE(n);
      floats.set(insert.run([hash, Buffer.from(vector.buffer)]).lastInsertRowid, vector);
    }
    db.exec("COMMIT");
    db.close();
    let kills = 0;
    while (!(await killedConverter(path, kills * 150 * random.next()))) kills++;
    expect(kills).toBeGreaterThan(0);
    const after = rawDatabase(join(path, "index.sqlite"));
    const rows = after.prepare("SELECT id, vector FROM vectors", "objects").all([]) as {
      id: number;
      vector: Uint8Array;
    }[];
    after.close();
    expect(rows.length).toBe(VECTORS + 3);
    for (const { id, vector } of rows) {
      expect(vector.length).toBe(DIMENSIONS);
      const before = floats.get(id);
      if (before === undefined) continue;
      const numbers = numbersOf(vector, DIMENSIONS) as Numbers;
      expect(cosine(before, numbers, lengthOf(before))).toBeGreaterThan(0.999);
    }
    await using store = await openStore({ path });
    expect(await store.verify()).toMatchObject({ ok: true });
    expect(await store.graph({ listTypes: true })).toMatchObject({
      types: expect.arrayContaining([{ type: "class", count: 1 }]),
    });
  });
});
