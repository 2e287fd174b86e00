// bin/trunkline.cjs decides what runs: the bundle or the build output.
import { execFile } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import * as nodeModule from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, describe, expect, it } from "vitest";

const BIN = fileURLToPath(new URL("../bin/trunkline.cjs", import.meta.url));
const base = mkdtempSync(join(tmpdir(), "trunkline-entry-"));

afterEach(() => rmSync(base, { recursive: true, force: true }));

const BUILT = {
  "dist/main.js": 'console.log("build");',
  "dist/relay-main.js": "export const relayToBroker = async () => false;",
};
const BUNDLED = {
  "bundle/main.cjs": 'console.log("bundle");',
  "bundle/relay-main.cjs": "exports.relayToBroker = async () => false;",
};
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
  const env = { PATH: process.env.PATH, HOME: join(base, "home"), TMPDIR: join(base, "tmp") };
  mkdirSync(env.TMPDIR, { recursive: true });
  return await promisify(execFile)(process.execPath, [join(base, "bin", "trunkline.cjs"), "tools"], { env });
}

function mkdirs(name: string): string {
  mkdirSync(join(base, name), { recursive: true });
  return join(base, name);
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

  it("runs nothing itself if the broker does the work", async () => {
    const relayed = {
      ...BUNDLED,
      "bundle/relay-main.cjs": "exports.relayToBroker = async (args) => { console.log(args.join()); return true; };",
    };
    expect(await run({ ...BUILT, ...relayed })).toEqual({ stdout: "tools\n", stderr: "" });
  });

  it("says what to do if nothing is built", async () => {
    await expect(run({})).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining("npm run build") });
  });

  it("does not run a bundle whose build output was cleaned", async () => {
    const { "bundle/inputs.json": inputs } = CHECKOUT;
    await expect(run({ ...BUNDLED, "bundle/inputs.json": inputs })).rejects.toMatchObject({ code: 1 });
  });

  it.skipIf(process.platform === "win32")("keeps compiled code where no other user can plant any", async () => {
    await run(BUILT);
    const cache = join(base, "home", ".cache", "trunkline");
    // Node 20 has no such cache.
    const has = "enableCompileCache" in nodeModule;
    expect(existsSync(cache) && readdirSync(cache).length > 0).toBe(has);
    expect(has ? statSync(cache).mode & 0o777 : 0o700).toBe(0o700);
    expect(readdirSync(join(base, "tmp"))).toEqual([]);
  });

  it("runs without a home folder that can be written to", async () => {
    writeFileSync(join(mkdirs("home"), ".cache"), "a file in place of the folder");
    expect(await run(BUILT)).toEqual({ stdout: "build\n", stderr: "" });
    expect(existsSync(join(base, "home", ".cache", "trunkline"))).toBe(false);
  });
});
