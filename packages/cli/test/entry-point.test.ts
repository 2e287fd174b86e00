// bin/trunkline.cjs decides what runs: the bundle or the build output.
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, describe, expect, it } from "vitest";

const BIN = fileURLToPath(new URL("../bin/trunkline.cjs", import.meta.url));
const base = mkdtempSync(join(tmpdir(), "trunkline-entry-"));

afterEach(() => rmSync(base, { recursive: true, force: true }));

const BUILT = { "dist/main.js": 'console.log("build");' };
const BUNDLED = { "bundle/main.cjs": 'console.log("bundle");' };
const COMPILED_AT = new Date("2026-01-01T10:00:00.000Z");
const INPUTS = [{ file: "../dist/.tsbuildinfo", changedMs: COMPILED_AT.getTime() }];
const CHECKOUT = { ...BUILT, ...BUNDLED, "dist/.tsbuildinfo": "", "bundle/inputs.json": JSON.stringify(INPUTS) };

/** Runs the entry point of a package with these files. */
async function run(files: Record<string, string>, compiledAt?: Date) {
  cpSync(BIN, join(base, "bin", "trunkline.cjs"));
  for (const [name, text] of Object.entries({ "package.json": '{"type":"module"}', ...files })) {
    mkdirSync(dirname(join(base, name)), { recursive: true });
    writeFileSync(join(base, name), text);
  }
  if (compiledAt !== undefined) utimesSync(join(base, "dist", ".tsbuildinfo"), compiledAt, compiledAt);
  return await promisify(execFile)(process.execPath, [join(base, "bin", "trunkline.cjs"), "tools"]);
}

describe("the entry point", () => {
  it("runs the bundle of an installed package", async () => {
    expect(await run({ ...BUILT, ...BUNDLED })).toEqual({ stdout: "bundle\n", stderr: "" });
  });

  it("runs the bundle of a checkout that has not changed since", async () => {
    expect(await run(CHECKOUT, COMPILED_AT)).toEqual({ stdout: "bundle\n", stderr: "" });
  });

  it.each([
    ["was compiled again", new Date(COMPILED_AT.getTime() + 1)],
    ["has older output than the bundle was made from", new Date(COMPILED_AT.getTime() - 1)],
  ])("runs the build output of a checkout that %s", async (_what, compiledAt) => {
    expect(await run(CHECKOUT, compiledAt)).toEqual({ stdout: "build\n", stderr: "" });
  });

  it("runs the build output if there is no bundle", async () => {
    expect(await run(BUILT)).toEqual({ stdout: "build\n", stderr: "" });
  });

  it("says what to do if nothing is built", async () => {
    await expect(run({})).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining("npm run build") });
  });

  it("does not run a bundle whose build output was cleaned", async () => {
    const { "bundle/inputs.json": inputs } = CHECKOUT;
    await expect(run({ ...BUNDLED, "bundle/inputs.json": inputs })).rejects.toMatchObject({ code: 1 });
  });
});
