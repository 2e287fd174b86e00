import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import type { Command } from "commander";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { OUTLINE } from "../src/commands/outline.js";
import { buildProgram, commandWord, OUTLINE_ONLY, runProgram } from "../src/program.js";
import { createContext } from "../src/terminal/context.js";
import { Interrupts } from "../src/terminal/interrupts.js";
import type { ProgramIo } from "../src/terminal/program-io.js";

let base: string;
beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), "trunkline-program-"));
});
afterAll(() => {
  rmSync(base, { recursive: true, force: true });
});

/** An isolated environment: an empty home, an empty project and readable streams. */
function world(name: string, changes: Partial<ProgramIo> = {}) {
  const cwd = join(base, name, "project");
  const userHome = join(base, name, "home");
  mkdirSync(cwd, { recursive: true });
  mkdirSync(userHome, { recursive: true });
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const io: ProgramIo = { stdin, stdout, stderr, env: { HOME: userHome }, cwd, userHome, ...changes };
  return { io, cwd, stdin, stdout, stderr };
}

/** Answers the question as soon as it is shown. */
function answer({ stdin, stderr }: ReturnType<typeof world>, question: string, line: string): void {
  let shown = "";
  stderr.on("data", (chunk: Buffer) => {
    const isNew = !shown.includes(question);
    shown += chunk.toString();
    if (isNew && shown.includes(question)) stdin.write(`${line}\n`);
  });
}

async function run(args: readonly string[], { io, stdout, stderr }: ReturnType<typeof world>) {
  const printed = Promise.all([text(stdout), text(stderr)]);
  const code = await runProgram(args, io);
  stdout.end();
  stderr.end();
  const [out, err] = await printed;
  return { code, out, err };
}

describe("runProgram", () => {
  it("prints help to the given stdout, at the width of the given terminal", async () => {
    const piped = world("piped");
    const narrow = world("narrow");
    Object.assign(narrow.stdout, { isTTY: true, columns: 50 });
    const [wide, folded] = [await run(["call", "--help"], piped), await run(["call", "--help"], narrow)];
    expect(wide).toMatchObject({ code: 0, err: "" });
    expect(wide.out).toContain("Usage: trunkline call");
    expect(folded.out.split("\n").length).toBeGreaterThan(wide.out.split("\n").length);
  });

  it.each([
    [["call", "hello.hello"], "call"],
    [["--mcp", "mcp.json", "call", "hello.hello"], "call"],
    [["--mcp=mcp.json", "--color", "never", "tools"], "tools"],
    [["--mcp", "call", "tools"], "tools"],
    [["--mcp", "mcp.json", "--help"], "--help"],
    [["--mcp", "mcp.json"], undefined],
    [["--mcp"], undefined],
    [[], undefined],
  ])("finds the command in %j, so that only this one is loaded", (args, word) => {
    expect(commandWord(args)).toBe(word);
  });

  it("lists the commands without loading them, with their own descriptions", async () => {
    const context = createContext(world("outline").io);
    const [outline, whole] = [
      await buildProgram(context, () => {}, OUTLINE_ONLY),
      await buildProgram(context, () => {}),
    ];
    const visible = (program: Command) => program.createHelp().visibleCommands(program);
    const described = (program: Command) =>
      Object.fromEntries(visible(program).map((command) => [command.name(), command.description()]));
    expect(described(outline)).toEqual(described(whole));
    expect(outline.helpInformation()).toBe(whole.helpInformation());
    expect(outline.commands.every(({ options }) => options.length === 0)).toBe(true);
  });

  it("shows every command in one of five groups, on one screen of 24 lines and 80 columns", async () => {
    const { code, out } = await run(["--help"], world("screen"));
    const lines = out.trimEnd().split("\n");
    expect(code).toBe(0);
    // One line of the screen is for the prompt.
    expect(lines.length).toBeLessThan(24);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
    const titles = lines.filter((line) => /^[A-Z]\w+$/.test(line));
    expect(titles).toEqual(["Connect", "Use", "Agent", "Memory", "Maintenance"]);
    const listed = lines.flatMap((line) => /^ {2}(\w+(?:, \w+)*) {2}/.exec(line)?.[1]?.split(", ") ?? []);
    expect(listed.sort()).toEqual(Object.keys(OUTLINE).sort());
  });

  it("has a line for every command on the page that says which command to use", () => {
    const page = readFileSync(new URL("../../../docs/which-command.md", import.meta.url), "utf8");
    expect(Object.keys(OUTLINE).filter((name) => !page.includes(`\`trunkline ${name}`))).toEqual([]);
  });

  it("has no values in the help of any command that mean nothing to people", async () => {
    const { io } = world("help-values");
    const program = await buildProgram(createContext(io), () => {});
    const texts: string[] = [];
    const visit = (command: Command) => {
      texts.push(command.helpInformation());
      command.commands.forEach(visit);
    };
    visit(program);
    expect(texts.length).toBeGreaterThan(60);
    for (const text of texts) expect(text).not.toMatch(/default: (?:\[\]|\{\}|""|false)|undefined|\[object/);
  });

  it("wraps the list of commands on a narrow terminal", async () => {
    const narrow = world("narrow-screen");
    Object.assign(narrow.stdout, { isTTY: true, columns: 60 });
    const { out } = await run(["--help"], narrow);
    expect(Math.max(...out.split("\n").map((line) => line.length))).toBeLessThanOrEqual(60);
    expect(out).toContain("completion");
  });

  it("reports wrong usage on the given stderr", async () => {
    const { code, out, err } = await run(["servers", "lost", "docs"], world("usage"));
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain('There is no command "servers lost".');
  });

  it("isolates concurrent runs: folder, home, environment and secrets", async () => {
    const one = world("one");
    const two = world("two");
    for (const [{ cwd }, secret] of [
      [one, "secret-of-one"],
      [two, "secret-of-two"],
    ] as const) {
      mkdirSync(join(cwd, ".git"));
      const servers = {
        docs: { url: `https://${secret}.example.com/mcp`, headers: { Authorization: `Bearer ${secret}` } },
      };
      mkdirSync(join(cwd, ".trunkline"));
      writeFileSync(join(cwd, ".trunkline", "mcp.json"), JSON.stringify({ mcpServers: servers }));
    }
    const [a, b] = await Promise.all([
      run(["servers", "list", "--json"], one),
      run(["trust", "--yes"], two).then(() => run(["servers", "list", "--json"], world("two"))),
    ]);
    expect(JSON.parse(a.out)).toMatchObject([{ name: "docs", file: join(one.cwd, ".trunkline", "mcp.json") }]);
    expect(JSON.parse(b.out)).toMatchObject([{ name: "docs", file: join(two.cwd, ".trunkline", "mcp.json") }]);
    expect(`${a.out}${b.out}`).not.toContain("Bearer secret");
  });

  it("asks at the given terminal", async () => {
    const at = world("terminal");
    mkdirSync(join(at.cwd, ".trunkline"));
    writeFileSync(
      join(at.cwd, ".trunkline", "mcp.json"),
      JSON.stringify({ mcpServers: { docs: { command: "docs" } } }),
    );
    Object.assign(at.stdin, { isTTY: true });
    Object.assign(at.stderr, { isTTY: true, columns: 80 });
    answer(at, "Approve what this project would run? [y/N]", "y");
    const { code, out, err } = await run(["trust"], at);
    expect(code).toBe(0);
    expect(err).toContain("Approve what this project would run? [y/N]");
    expect(out).toContain("Approved:");
  });

  it.each([
    [
      "workspace",
      ["trust", "--workspace"],
      "Approve this workspace? [y/N]",
      "`trunkline trust --workspace` asks again.",
    ],
    ["store", ["trust", "--store"], "Approve this store? [y/N]", "`trunkline trust --store` asks again."],
  ])("asks about a %s with the same words, and says how to be asked again", async (subject, args, question, again) => {
    const at = world(`refused-${subject}`);
    mkdirSync(join(at.cwd, ".git"));
    mkdirSync(join(at.cwd, ".trunkline", "store"), { recursive: true });
    writeFileSync(join(at.cwd, ".trunkline", "store", "content.sqlite"), "");
    Object.assign(at.stdin, { isTTY: true });
    Object.assign(at.stderr, { isTTY: true, columns: 80 });
    answer(at, question, "n");
    const { code, err } = await run(args, at);
    expect(code).toBe(1);
    expect(err).toContain(question);
    expect(err).toContain(`Not approved. ${again}`);
  });

  it("ends on an interrupt with the signal's exit code", async () => {
    for (const [name, expected] of [
      ["SIGINT", 130],
      ["SIGTERM", 143],
      ["SIGHUP", 129],
    ] as const) {
      const interrupts = new Interrupts();
      const stopped = world(name, { interrupts });
      const ended = run(["store", "add", "--name", "note", "-"], stopped);
      interrupts.press(name);
      expect((await ended).code).toBe(expected);
    }
  });
});
