import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findRuntime, packagesFolder, RUNTIME, requireRuntime, runtimePlaces } from "../../src/runtime/find-runtime.js";
import { installRuntime } from "../../src/runtime/install-runtime.js";

/** A home, and an npm that is this script and records its calls. */
class Place implements Disposable {
  readonly base = mkdtempSync(join(tmpdir(), "trunkline-runtime-"));
  readonly home = join(this.base, "home");
  readonly npm = join(this.base, "npm");
  readonly #calls = join(this.base, "calls");

  constructor(script = "") {
    writeFileSync(
      this.npm,
      `#!${process.execPath}
       const fs = require("node:fs"), path = require("node:path");
       const args = process.argv.slice(2);
       fs.appendFileSync(${JSON.stringify(this.#calls)}, JSON.stringify(args) + "\\n");
       const installed = path.join(args[args.indexOf("--prefix") + 1], "node_modules", "onnxruntime-node");
       ${script}`,
    );
    chmodSync(this.npm, 0o755);
  }

  get calls(): string[][] {
    const lines = readFileSync(this.#calls, "utf8").trim().split("\n");
    return lines.map((line) => JSON.parse(line));
  }

  get libraries(): string {
    return join(packagesFolder(this.home), "node_modules", "onnxruntime-node", "bin", "napi-v6");
  }

  async install(npmCommand = [this.npm]): Promise<void> {
    await installRuntime({ home: this.home, npmCommand });
  }

  /** Creates a folder that has this version of the runtime, and returns its package.json. */
  runtimeIn(name: string, version: string): string {
    const folder = join(this.base, name, "node_modules", "onnxruntime-node");
    mkdirSync(folder, { recursive: true });
    const manifest = join(folder, "package.json");
    writeFileSync(manifest, JSON.stringify({ name: "onnxruntime-node", version, main: "lib.js" }));
    return manifest;
  }

  [Symbol.dispose](): void {
    rmSync(this.base, { recursive: true, force: true });
  }
}

describe("the library that runs the model", () => {
  it("has the version that the package depends on", () => {
    const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
    expect(manifest.dependencies[RUNTIME.name]).toBe(RUNTIME.version);
  });

  it("is loaded from the first place that has the right version", async () => {
    using place = new Place();
    const old = place.runtimeIn("old", "1.2.3");
    const [first, second] = [place.runtimeIn("first", RUNTIME.version), place.runtimeIn("second", RUNTIME.version)];
    const nowhere = join(place.base, "nowhere", "package.json");
    expect(await findRuntime([nowhere, first, second])).toMatch(/first\/node_modules\/onnxruntime-node\/lib\.js$/);
    expect(await findRuntime([old, second])).toContain(join("second", "node_modules"));
    expect(await findRuntime([undefined, nowhere, old])).toBeUndefined();
  });

  it("is never taken from a parent of the user's folder, which others may be able to write", async () => {
    using place = new Place();
    place.runtimeIn(".", RUNTIME.version);
    const [, own] = runtimePlaces(place.home);
    expect(await findRuntime([own])).toBeUndefined();
  });

  it("is next to the package in a checkout, so nothing needs to be installed", async () => {
    using place = new Place();
    expect(await requireRuntime(place.home)).toContain(join("node_modules", "onnxruntime-node"));
  });

  it("is installed below the user's folder, without running its scripts", async () => {
    using place = new Place();
    await place.install();
    const folder = packagesFolder(place.home);
    expect(place.calls).toEqual([
      expect.arrayContaining(["install", `onnxruntime-node@${RUNTIME.version}`, folder, "--ignore-scripts"]),
    ]);
    expect(JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))).toMatchObject({ private: true });
  });

  it("keeps its library for this platform and loses the others", async () => {
    const { platform, arch } = process;
    const own = join(platform, arch);
    const libraries = [own, join(platform, "other"), join("plan9", arch)];
    using place = new Place(`
      for (const each of ${JSON.stringify(libraries)}) {
        const folder = path.join(installed, "bin", "napi-v6", each);
        fs.mkdirSync(folder, { recursive: true });
        fs.writeFileSync(path.join(folder, "library"), "");
      }`);
    await place.install();
    expect(libraries.filter((each) => existsSync(join(place.libraries, each, "library")))).toEqual([own]);
  });

  it("keeps all libraries if none is for this platform", async () => {
    using place = new Place(
      `fs.mkdirSync(path.join(installed, "bin", "napi-v6", "plan9", "x64"), { recursive: true });`,
    );
    await place.install();
    expect(existsSync(join(place.libraries, "plan9", "x64"))).toBe(true);
  });

  it("reports a failed installation", async () => {
    using place = new Place("process.exitCode = 7;");
    await expect(place.install()).rejects.toMatchObject({
      code: "IO",
      message: `npm could not download onnxruntime-node@${RUNTIME.version} (exit code 7).`,
    });
    await expect(place.install([`${place.npm}-not`])).rejects.toMatchObject({ code: "SPAWN_FAILED" });
  });
});
