// The index of `find` is a file in Trunkline's home. A planted or damaged one may cost time, but it must not decide which
// tool a model picks, and must not stop or crash the gateway.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Embedder, silentLogger } from "@trunkline/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Vectors } from "../../packages/gateway/src/find/kept-vectors.js";

const TEXTS = ["pay: Send money.", "read: Read a file."];
const WAIT = { waitMs: 60_000 };
const right = [Float32Array.of(1, 0), Float32Array.of(1, 0)];

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "trunkline-tool-index-"));
  file = join(folder, "vectors-model.bin");
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

function opened(): Vectors {
  const embedder: Embedder = {
    model: "model",
    dimensions: 2,
    embed: async (texts) => texts.map(() => Float32Array.of(1, 0)),
    async [Symbol.asyncDispose]() {},
  };
  return new Vectors({ embedder: async () => embedder, folder, logger: silentLogger });
}

async function vectors(): Promise<unknown> {
  const index = opened();
  const known = await index.of(TEXTS, WAIT);
  await index.close();
  return known;
}

/** A file as ours, with these vectors for the texts. */
function planted(dimensions: number, ...values: number[][]): Buffer {
  const header = Buffer.alloc(32);
  header.write("trunkline vectors 1");
  header.writeUInt32LE(dimensions, 28);
  const records = TEXTS.map((text, at) =>
    Buffer.concat([
      createHash("sha256").update(text).digest(),
      Buffer.from(Float32Array.from(values[at] ?? values[0] ?? []).buffer),
    ]),
  );
  return Buffer.concat([header, ...records]);
}

describe("a planted index of tools", () => {
  it.each([
    ["with vectors that are too long and would always win", planted(2, [1e6, 1e6])],
    ["with values that are not numbers", planted(2, [Number.NaN, Number.POSITIVE_INFINITY])],
    ["with vectors of another size", planted(3, [1, 0, 0])],
    ["with a size that does not fit", planted(4_000_000_000, [1, 0])],
    ["without vectors", planted(0, [])],
    ["of something else", Buffer.from('{"format": 1}'.repeat(100))],
    ["that is empty", Buffer.alloc(0)],
  ])("%s is computed again", async (_, bytes) => {
    await writeFile(file, bytes);
    expect(await vectors()).toEqual(right);
    // It was replaced.
    expect(await vectors()).toEqual(right);
  });

  it("that is huge is not read", async () => {
    await writeFile(file, planted(2, [0, 1]));
    await truncate(file, 32 + 40 * 10_000_000);
    expect(await vectors()).toEqual(right);
  });

  it.skipIf(process.platform === "win32")("that is a link or a pipe is not followed", async () => {
    const elsewhere = join(folder, "elsewhere");
    await writeFile(elsewhere, planted(2, [0, 1]));
    await symlink(elsewhere, file);
    expect(await vectors()).toEqual(right);
    await rm(file);
    execFileSync("mkfifo", [file]);
    expect(await vectors()).toEqual(right);
  });
});
