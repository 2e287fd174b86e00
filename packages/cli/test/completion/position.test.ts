import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { VALUE_KINDS } from "../../src/commands/completion/find-values.js";
import { positionOf } from "../../src/commands/completion/position.js";
import { unquote } from "../../src/commands/completion/run.js";
import { buildProgram } from "../../src/program.js";
import { createContext } from "../../src/terminal/context.js";
import { Interrupts } from "../../src/terminal/interrupts.js";
import { processIo } from "../../src/terminal/process-io.js";

const program = await buildProgram(createContext(processIo(new Interrupts())), () => {});

function at(line: string) {
  const { command, given, option, current, isAfterDashes } = positionOf(program, line.split(" "));
  const path: string[] = [];
  for (let each: Command | null = command; each?.parent; each = each.parent) path.unshift(each.name());
  return { command: path.join(" "), given, option: option?.long, current, isAfterDashes };
}

describe("the position in a command line", () => {
  it.each([
    ["", { command: "", given: [], current: "" }],
    ["store grep -n pat", { command: "store grep", given: [], current: "pat" }],
    ["store grep pat src", { command: "store grep", given: ["pat"], current: "src" }],
    ["store --store /x list a", { command: "store list", given: [], current: "a" }],
    ["serve --port 1 --surface d", { command: "serve", option: "--surface", current: "d" }],
    ["serve --surface=d", { command: "serve", option: "--surface", current: "d" }],
    ["serve --allow-path a b", { command: "serve", option: "--allow-path", current: "b" }],
    ["store grep -inA 3 x", { command: "store grep", given: [], current: "x" }],
    ["store grep -inA3 x", { command: "store grep", given: [], current: "x" }],
    ["store grep -e -x y", { command: "store grep", given: [], current: "y" }],
    ["chat --resume --think x", { command: "chat", given: [], current: "x", option: undefined }],
    ["resources wiki x", { command: "resources list", given: ["wiki"], current: "x" }],
    ["servers add x -- npx -y", { command: "servers add", given: ["x", "npx"], current: "-y", isAfterDashes: true }],
    ["run a.ts --mcp x", { command: "run", given: ["a.ts", "--mcp"], current: "x", isAfterDashes: true }],
  ])("of `%s`", (line, expected) => {
    expect(at(line)).toMatchObject(expected);
  });

  it("remembers the values of earlier options", () => {
    const { values } = positionOf(program, ["--mcp", "a.json", "tools", "--mcp=b.json", ""]);
    expect([...values]).toEqual([["mcp", "b.json"]]);
  });
});

describe("the kinds of values", () => {
  it("are all used by some option or argument", () => {
    const wanted = new Set<string>();
    const look = (command: Command): void => {
      for (const argument of command.registeredArguments) wanted.add(argument.name());
      for (const option of command.options) {
        wanted.add(option.name());
        wanted.add(/[<[](.+?)(?:\.\.\.)?[>\]]/.exec(option.flags)?.[1] ?? "");
      }
      command.commands.forEach(look);
    };
    look(program);
    expect(VALUE_KINDS.filter((kind) => !wanted.has(kind))).toEqual([]);
  });
});

describe("a word as typed", () => {
  it.each([
    ["plain", "plain"],
    ["two\\ words", "two words"],
    ["'two words'", "two words"],
    ["'not closed", "not closed"],
    ['"a \\$b \\x"', "a $b \\x"],
    ["--a='b c'", "--a=b c"],
    ["ends\\", "ends"],
    ["$'it\\'s \\x27\\\\", "it's '\\"],
    ["a$'b'c", "abc"],
    ["\"$'", "$'"],
  ])("%s means %s", (written, word) => {
    expect(unquote(written)).toBe(word);
  });
});
