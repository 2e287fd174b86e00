import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { runProgram } from "../src/program.js";
import { paletteFor } from "../src/terminal/palette.js";

const TERMINAL = { isTTY: true as const };
const SOURCES = fileURLToPath(new URL("../src", import.meta.url));

describe("paletteFor", () => {
  it.each([
    ["a terminal", TERMINAL, {}, true],
    ["a pipe", {}, {}, false],
    ["a dumb terminal", TERMINAL, { TERM: "dumb" }, false],
    ["NO_COLOR", TERMINAL, { NO_COLOR: "1" }, false],
    ["an empty NO_COLOR", TERMINAL, { NO_COLOR: "" }, true],
    ["FORCE_COLOR in a pipe", {}, { FORCE_COLOR: "1" }, true],
    ["FORCE_COLOR on a dumb terminal", TERMINAL, { FORCE_COLOR: "1", TERM: "dumb" }, true],
    ["FORCE_COLOR=0", TERMINAL, { FORCE_COLOR: "0" }, false],
    ["FORCE_COLOR=false", TERMINAL, { FORCE_COLOR: "false" }, false],
    ["an empty FORCE_COLOR in a pipe", {}, { FORCE_COLOR: "" }, false],
    ["FORCE_COLOR and NO_COLOR", {}, { FORCE_COLOR: "1", NO_COLOR: "1" }, true],
  ])("decides for %s", (_what, stream, env, expected) => {
    expect(paletteFor(stream, env).hasColours).toBe(expected);
  });

  it("lets --color win over the environment and the stream", () => {
    expect(paletteFor({}, { NO_COLOR: "1" }, "always").error("x")).toBe("\u001b[31mx\u001b[39m");
    expect(paletteFor(TERMINAL, { FORCE_COLOR: "1" }, "never").error("x")).toBe("x");
  });

  it("continues a colour after another one inside it, and on the next line", () => {
    const { error, accent } = paletteFor(TERMINAL, {});
    expect(error(`a ${accent("b")} c`)).toBe("\u001b[31ma \u001b[36mb\u001b[39m\u001b[31m c\u001b[39m");
    expect(error("a\nb")).toBe("\u001b[31ma\u001b[39m\n\u001b[31mb\u001b[39m");
    expect(error("")).toBe("");
  });

  it("is the only source of colours", () => {
    const files = readdirSync(SOURCES, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
    const coloured = files.filter((name) =>
      /(\\u001b|\\x1b|\\u\{1b\}|\\e)\[[^"`']{0,12}m|styleText/i.test(readFileSync(join(SOURCES, name), "utf8")),
    );
    expect(coloured).toEqual([join("terminal", "palette.ts")]);
  });
});

describe("--color", () => {
  async function stderrOf(args: readonly string[], options: { isTTY?: boolean; env?: Record<string, string> } = {}) {
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
    if (options.isTTY) Object.assign(stderr, { isTTY: true, columns: 80 });
    const printed = Promise.all([text(stdout), text(stderr)]);
    const code = await runProgram(args, { stdin, stdout, stderr, env: { ...options.env }, cwd: "/", userHome: "/" });
    stdout.end();
    stderr.end();
    return { code, err: (await printed)[1] };
  }
  const RED = "\u001b[31mtrunkline: ";

  it.each([
    [["--color", "always", "lost"]],
    [["servers", "lost", "--color=always"]],
    [["servers", "--color", "always", "lost"]],
    [["servers", "list", "lost", "--color", "always"]],
    [["store", "--color", "always", "lost"]],
  ])("is accepted before and after a command: %j", async (args) => {
    expect(await stderrOf(args)).toMatchObject({ code: 2, err: expect.stringContaining(RED) });
  });

  it("follows the terminal and the environment by default", async () => {
    expect((await stderrOf(["lost"])).err).toMatch(/^trunkline: /);
    expect((await stderrOf(["lost"], { isTTY: true })).err).toContain(RED);
    expect((await stderrOf(["lost"], { isTTY: true, env: { NO_COLOR: "1" } })).err).toMatch(/^trunkline: /);
    expect((await stderrOf(["lost"], { env: { FORCE_COLOR: "1" } })).err).toContain(RED);
    expect((await stderrOf(["--color", "never", "lost"], { env: { FORCE_COLOR: "1" } })).err).toMatch(/^trunkline: /);
  });

  it("rejects other values", async () => {
    const { code, err } = await stderrOf(["tools", "--color", "sometimes"]);
    expect(code).toBe(2);
    expect(err).toContain("Allowed choices are auto, always, never.");
  });

  it("cannot be faked: escape codes in a message are made visible", async () => {
    expect((await stderrOf(["lost\u001b[2J"], { isTTY: true })).err).not.toContain("\u001b[2J");
  });
});
