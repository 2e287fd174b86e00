// Large files and killed gateways, on a real server.
import { spawn } from "node:child_process";
import { randomFillSync } from "node:crypto";
import { closeSync, openSync, writeSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { initPostgresStore, openPostgresStore } from "../src/index.js";
import { type PostgresCluster, postgresBinaries, startPostgres } from "./support/postgres-cluster.js";

const binaries = postgresBinaries();
const GATEWAY = fileURLToPath(new URL("support/gateway-process.mjs", import.meta.url));
const LARGE = fileURLToPath(new URL("support/large-file.mjs", import.meta.url));
const MB = 1024 * 1024;

describe.skipIf(binaries === undefined)("a store on a PostgreSQL server (needs postgresql)", () => {
  let cluster: PostgresCluster;
  let folder: string;

  beforeAll(async () => {
    cluster = await startPostgres(binaries as string);
    folder = await mkdtemp(join(tmpdir(), "trunkline-large-"));
  });

  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  it("takes a file of 200 MB without holding it in memory", async () => {
    const url = cluster.createDatabase();
    await initPostgresStore(url);
    const path = join(folder, "large.bin");
    const file = openSync(path, "w");
    const block = Buffer.alloc(MB);
    for (let n = 0; n < 200; n++) writeSync(file, randomFillSync(block));
    closeSync(file);
    const adding = spawn(process.execPath, [LARGE, url, folder, path], { stdio: ["ignore", "pipe", "inherit"] });
    const lines: string[] = [];
    for await (const line of createInterface({ input: adding.stdout })) lines.push(line);
    const { size, peakBytes, idleBytes } = JSON.parse(lines.at(-1) ?? "{}") as Record<string, number>;
    expect(size).toBe(200 * MB);
    expect((peakBytes as number) - (idleBytes as number)).toBeLessThan(150 * MB);
  });

  it("loses nothing that was acknowledged when a gateway is killed in the middle of add, and shows nothing by halves", async () => {
    const url = cluster.createDatabase();
    await initPostgresStore(url);
    const acknowledged: string[] = [];
    for (let round = 0; round < 3; round++) {
      const gateway = spawn(process.execPath, [GATEWAY, url, folder, `r${round}n`, "500"], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      const ended = new Promise((resolve) => gateway.once("exit", resolve));
      for await (const line of createInterface({ input: gateway.stdout })) {
        if (line.endsWith(".ts")) acknowledged.push(line);
        if (line === `r${round}n${10 + 7 * round}.ts`) gateway.kill("SIGKILL");
      }
      await ended;
    }
    await using store = await openPostgresStore({ url, cwd: folder });
    await store.indexed();
    const { documents } = (await store.list({ limit: 1000 })) as { documents: readonly { path: string }[] };
    const there = new Set(documents.map(({ path }) => path));
    expect(acknowledged.filter((path) => !there.has(path))).toEqual([]);
    for (const path of there) {
      expect(await store.get({ path, includeContent: true })).toMatchObject({
        content: expect.stringContaining("return"),
      });
    }
    expect(await store.verify()).toMatchObject({ ok: true, problems: [] });
  });
});
