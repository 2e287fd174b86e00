import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { seededRandom } from "../../../../test/support/seed.js";
import { openStore } from "../../src/index.js";
import { temporaryFolder } from "../support/temporary.js";

const WRITER = fileURLToPath(new URL("../programs/writer.js", import.meta.url));

/** Starts a writer, kills it `afterMs` after its first acknowledgement, and returns what it acknowledged. */
async function killedWriter(
  store: string,
  prefix: string,
  { kind, afterMs }: { kind: "lean" | "store"; afterMs: number },
): Promise<string[]> {
  const child = spawn(process.execPath, [WRITER, store, prefix, kind], { stdio: ["ignore", "pipe", "inherit"] });
  const acknowledged: string[] = [];
  const lines = createInterface({ input: child.stdout });
  const ended = once(lines, "close");
  let armed = false;
  lines.on("line", (line) => {
    acknowledged.push(line);
    if (armed) return;
    armed = true;
    // The test is about the moment of the kill; nothing waits for it.
    setTimeout(() => child.kill("SIGKILL"), afterMs);
  });
  const [code, signal] = (await once(child, "exit")) as [number | null, string | null];
  await ended;
  expect({ code, signal }).toEqual({ code: null, signal: "SIGKILL" });
  return acknowledged;
}

async function expectNothingLost(path: string, acknowledged: readonly string[]): Promise<void> {
  await using store = await openStore({ path });
  const verified = await store.verify();
  expect(verified.problems).toEqual([]);
  const list = await store.list({ pathsOnly: true, limit: 1_000_000 });
  const there = new Set("paths" in list ? list.paths : []);
  expect(acknowledged.filter((name) => !there.has(name))).toEqual([]);
  for (const name of acknowledged.slice(-5)) {
    expect((await store.get({ path: name, includeContent: true })).content).toContain(`document ${name}\n`);
    const found = await store.search({
      query: name.replace(".txt", ""),
      type: "keyword",
      pathsOnly: true,
      limit: 100,
    });
    expect("paths" in found && found.paths).toContain(name);
  }
}

describe("kill -9", () => {
  it("loses nothing acknowledged in 200 kills of writers, four at a time in one store", async () => {
    const random = seededRandom();
    const path = join(await temporaryFolder(), "store");
    const acknowledged: string[] = [];
    for (let round = 0; round < 50; round++) {
      const writers = [0, 1, 2, 3].map((number) =>
        killedWriter(path, `k${round}w${number}`, { kind: "lean", afterMs: random.next() * 25 }),
      );
      for (const names of await Promise.all(writers)) acknowledged.push(...names);
      if (round % 10 === 9) await expectNothingLost(path, acknowledged);
    }
    expect(acknowledged.length).toBeGreaterThanOrEqual(200);
  });

  it("loses nothing the whole store acknowledged, including its threads", async () => {
    const random = seededRandom();
    const path = join(await temporaryFolder(), "store");
    const acknowledged: string[] = [];
    for (let round = 0; round < 5; round++) {
      const writers = [0, 1].map((number) =>
        killedWriter(path, `r${round}w${number}`, { kind: "store", afterMs: random.next() * 25 }),
      );
      for (const names of await Promise.all(writers)) acknowledged.push(...names);
    }
    await expectNothingLost(path, acknowledged);
  });
});
