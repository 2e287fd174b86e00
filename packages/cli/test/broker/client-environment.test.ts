import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { clientEnvironment } from "../../src/commands/broker/client-environment.js";

let base: string;

beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "trunkline-path-")));
});

afterAll(() => rmSync(base, { recursive: true, force: true }));

function folder(...parts: string[]): string {
  const path = join(base, ...parts);
  mkdirSync(path, { recursive: true });
  return path;
}

const pathOf = async (...folders: string[]): Promise<string[]> =>
  (await clientEnvironment({ PATH: folders.join(delimiter) })).PATH?.split(delimiter) ?? [];

describe("the PATH of a broker's client", () => {
  it("is the same for two processes of Codex, and contains none of its folders", async () => {
    const tools = folder("tools");
    const codex = (name: string) => folder(".codex", "tmp", "arg0", `codex-arg0${name}`);
    const vendored = folder(
      "node_modules",
      "@openai",
      "codex-linux-x64",
      "vendor",
      "x86_64-unknown-linux-musl",
      "path",
    );
    const packaged = folder("node_modules", "@openai", "codex", "codex-path");
    const [one, two] = await Promise.all([
      pathOf(codex("aB3xY9"), packaged, tools),
      pathOf(codex("Zz81qq"), vendored, tools),
    ]);
    expect(one).toEqual([tools]);
    expect(two).toEqual([tools]);
  });

  it("keeps every other folder, in order, even if its name is similar", async () => {
    const others = [
      folder("b"),
      folder("a"),
      folder("codex-arg0abc"),
      folder("tmp", "arg0"),
      folder("tmp", "arg0", "codex-arg0abc", "bin"),
      folder("tmp", "arg0", "my-codex-arg0abc"),
      folder("my-codex-path"),
      folder("codex-path", "bin"),
      folder("vendor", "x", "path"),
    ];
    expect(await pathOf(...others)).toEqual(others);
  });

  it("does not contain what does not exist or is a file", async () => {
    const file = join(base, "file");
    writeFileSync(file, "");
    expect(await pathOf(join(base, "gone"), folder("a"), file, join(file, "inner"))).toEqual([folder("a")]);
  });

  it("keeps relative folders, which depend on where a program runs", async () => {
    expect(await pathOf("", ".", "node_modules/.bin")).toEqual(["", ".", "node_modules/.bin"]);
  });

  it("is all that changes in the environment", async () => {
    const env = { Path: join(base, "gone"), HOME: join(base, "gone"), CODEX_PATH: "x" };
    expect(await clientEnvironment(env)).toEqual({ ...env, Path: "" });
    expect(await clientEnvironment({ HOME: "x" })).toEqual({ HOME: "x" });
  });
});
