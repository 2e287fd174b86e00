import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createEmbedder, type LocalEmbedder, shortened } from "../src/index.js";
import { modelFacts, vectorModelName } from "../src/models.js";
import { haveWeights, UNREACHABLE, weightsHome } from "./weights.js";

const emptyHome = mkdtempSync(join(tmpdir(), "trunkline-embedder-"));
afterAll(() => rmSync(emptyHome, { recursive: true, force: true }));

/** Cosine similarity; a dot product is enough because all vectors have length 1. */
function similarity(a: Float32Array | undefined, b: Float32Array | undefined): number {
  if (a === undefined || b === undefined) throw new Error("a vector is missing");
  return a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);
}

describe("opening an embedder", () => {
  it("explains what to do when the weights are missing, and downloads nothing", async () => {
    await expect(createEmbedder({ home: emptyHome })).rejects.toMatchObject({
      code: "NOT_FOUND",
      hint: "Run: trunkline models pull",
    });
  });

  it("rejects an unknown model", async () => {
    await expect(createEmbedder({ home: emptyHome, model: "nonsense" })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
  });

  it("identifies vectors by weights, tokenizer and preprocessing", () => {
    const facts = modelFacts("minilm");
    const name = vectorModelName(facts);
    expect(name).toMatch(/^minilm-[0-9a-f]{12}$/);
    expect(vectorModelName({ ...facts, weights: { ...facts.weights, sha256: "0" } })).not.toBe(name);
    expect(vectorModelName({ ...facts, tokenizer: { ...facts.tokenizer, sha256: "0" } })).not.toBe(name);
    expect(vectorModelName({ ...facts, maxTokens: 128 })).not.toBe(name);
  });
});

describe("a shortened vector", () => {
  it("keeps the first dimensions and is normalized to length 1", () => {
    expect([...shortened(Float32Array.of(3, 4, 12), 2)]).toEqual([...Float32Array.of(0.6, 0.8)]);
    expect([...shortened(Float32Array.of(0, 0, 1), 2)]).toEqual([0, 0]);
  });
});

const available = await haveWeights();
describe.skipIf(!available)(`the embedded model${available ? "" : ` ${UNREACHABLE}`}`, () => {
  let embedder: LocalEmbedder;
  beforeAll(async () => {
    embedder = await createEmbedder({ home: weightsHome });
  });
  afterAll(async () => {
    await embedder.close();
  });

  it("returns normalized vectors with 384 dimensions", async () => {
    const [vector] = await embedder.embed(["hello world"]);
    expect(embedder.dimensions).toBe(384);
    expect(vector).toHaveLength(384);
    expect(similarity(vector, vector)).toBeCloseTo(1, 5);
    expect(await embedder.embed([])).toEqual([]);
  });

  it("returns the same vector for a text alone, after others, in a batch and from another embedder", async () => {
    const text = "The store keeps each distinct chunk once.";
    const others = ["", "x", "a much longer text ".repeat(60), "函数", "parseHTTPRequest(socket)"];
    const [alone] = await embedder.embed([text]);
    const [among] = (await embedder.embed([...others, text, ...others])).slice(others.length);
    const [again] = await embedder.embed([text]);
    expect(among).toEqual(alone);
    expect(again).toEqual(alone);
    await using other = await createEmbedder({ home: weightsHome, threads: 1 });
    expect((await other.embed([text]))[0]).toEqual(alone);
    expect(other.model).toBe(embedder.model);
  });

  it.each([
    ["How do I reset my password?", "Steps to recover a forgotten login", "The recipe needs two eggs and some flour"],
    ["sort a list of numbers", "def quicksort(values): return sorted(values)", "The train to Lyon leaves at noon"],
    ["The cat is sleeping on the sofa", "A kitten naps on the couch", "Interest rates rose last quarter"],
  ])("places %j closer to a text with the same meaning than to an unrelated one", async (text, related, unrelated) => {
    const [a, b, c] = await embedder.embed([text, related, unrelated]);
    expect(similarity(a, b) - similarity(a, c)).toBeGreaterThan(0.25);
  });

  it("reads the first 256 tokens of a long text", async () => {
    const start = "word ".repeat(254);
    const [a, b, c] = await embedder.embed([start, `${start} and what follows is cut off`, "word ".repeat(200)]);
    expect(b).toEqual(a);
    expect(c).not.toEqual(a);
  });

  it("does not block the main thread", async () => {
    const texts = Array.from({ length: 12 }, (_, index) => `${index} ${"some text of many words ".repeat(50)}`);
    let ticks = 0;
    const timer = setInterval(() => ticks++, 1);
    await embedder.embed(texts);
    clearInterval(timer);
    // One text takes several milliseconds; on this thread there would be at most one tick per text.
    expect(ticks).toBeGreaterThan(texts.length * 1.5);
  });

  it("runs a query before a long batch is done", async () => {
    const order: string[] = [];
    const list = embedder.embed(Array.from({ length: 30 }, (_, index) => `${index} ${"long text ".repeat(100)}`));
    const query = embedder.embed(["a query"]);
    await Promise.all([list.then(() => order.push("list")), query.then(() => order.push("query"))]);
    expect(order).toEqual(["query", "list"]);
  });

  it("aborts one caller's work and continues with the others", async () => {
    const controller = new AbortController();
    const texts = Array.from({ length: 5000 }, (_, index) => `${index} ${"long text ".repeat(100)}`);
    const stopped = embedder.embed(texts, { signal: controller.signal });
    const first = await embedder.embed(["first"]);
    controller.abort();
    await expect(stopped).rejects.toMatchObject({ code: "ABORTED" });
    expect(await embedder.embed(["first"])).toEqual(first);
    await expect(embedder.embed(["late"], { signal: controller.signal })).rejects.toMatchObject({ code: "ABORTED" });
    await expect(createEmbedder({ home: weightsHome, signal: controller.signal })).rejects.toMatchObject({
      code: "ABORTED",
    });
  });

  it("rejects pending work on close, can be closed twice, and rejects new work afterwards", async () => {
    const closing = await createEmbedder({ home: weightsHome });
    const waiting = closing.embed(["one", "two"]);
    const rejected = expect(waiting).rejects.toMatchObject({ code: "CLOSED" });
    await Promise.all([closing.close(), closing.close()]);
    await rejected;
    await closing.close();
    await expect(closing.embed(["three"])).rejects.toMatchObject({ code: "CLOSED" });
  });

  it("rejects weights that do not match the pinned hash", async () => {
    const home = join(emptyHome, "damaged");
    cpSync(join(weightsHome, "models"), join(home, "models"), { recursive: true });
    writeFileSync(join(home, "models", "minilm", "model.onnx"), "not the weights");
    await expect(createEmbedder({ home })).rejects.toMatchObject({
      code: "IO",
      message: expect.stringContaining("expected SHA-256"),
      hint: expect.stringContaining("trunkline models pull"),
    });
  });
});
