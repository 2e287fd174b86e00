import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Embedder, silentLogger } from "@trunkline/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Vectors } from "../../src/find/kept-vectors.js";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "trunkline-vectors-"));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** A model that notes what it embeds. */
function modelOf(model = "test") {
  const embedded: string[] = [];
  const embedder: Embedder = {
    model,
    dimensions: 2,
    embed: async (texts) => {
      embedded.push(...texts);
      return texts.map(() => Float32Array.of(1, 0));
    },
    async [Symbol.asyncDispose]() {},
  };
  return { embedder, embedded };
}

function vectorsOf(embedder: () => Promise<Embedder | undefined>) {
  return new Vectors({ embedder, folder, logger: silentLogger });
}

const never = () => Promise.reject(new Error("The model was opened."));
const WAIT = { waitMs: 60_000 };

describe("kept vectors", () => {
  it("are computed once, and the model stays closed if nothing is missing", async () => {
    const { embedder, embedded } = modelOf();
    const first = vectorsOf(async () => embedder);
    await first.prepare(["a", "b", "a"]);
    await first.close();
    expect(embedded).toEqual(["a", "b"]);
    const second = vectorsOf(never);
    await second.prepare(["b", "a"]);
    await second.close();
  });

  it("are kept for texts of other projects too", async () => {
    const { embedder, embedded } = modelOf();
    for (const text of ["one project", "another project", "one project"]) {
      const vectors = vectorsOf(async () => embedder);
      expect(await vectors.of([text], WAIT)).toEqual([Float32Array.of(1, 0)]);
      await vectors.close();
    }
    expect(embedded).toEqual(["one project", "another project"]);
  });

  it("belong to one model", async () => {
    const old = modelOf("old");
    const first = vectorsOf(async () => old.embedder);
    await first.prepare(["a"]);
    await first.close();
    const current = modelOf("new");
    const second = vectorsOf(async () => current.embedder);
    await second.of(["a"], WAIT);
    await second.close();
    expect(current.embedded).toEqual(["a"]);
  });

  it("are pending, without waiting, while the model opens", async () => {
    const { embedder } = modelOf();
    let open = (_: Embedder) => {};
    const opening = new Promise<Embedder>((resolve) => {
      open = resolve;
    });
    const vectors = vectorsOf(() => opening);
    expect(await vectors.of(["a"], { waitMs: 0 })).toBe("pending");
    open(embedder);
    expect(await vectors.of(["a"], WAIT)).toEqual([Float32Array.of(1, 0)]);
    await vectors.close();
  });

  it("do not exist without a model, or with one that fails", async () => {
    const without = vectorsOf(async () => undefined);
    expect(await without.of(["a"], WAIT)).toBe("no model");
    await without.close();
    const failing = vectorsOf(never);
    expect(await failing.of(["a"], WAIT)).toBe("failed");
    await failing.close();
    expect(await readdir(folder)).toEqual([]);
  });

  it("are computed again if the file is damaged", async () => {
    const { embedder, embedded } = modelOf();
    const write = vectorsOf(async () => embedder);
    await write.prepare(["a", "b"]);
    await write.close();
    const path = join(folder, "vectors-test.bin");
    const bytes = await readFile(path);
    await writeFile(path, bytes.subarray(0, bytes.length - 3));
    const again = vectorsOf(async () => embedder);
    await again.prepare(["a", "b"]);
    await again.close();
    expect(embedded).toEqual(["a", "b", "a", "b"]);
  });
});
