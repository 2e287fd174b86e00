import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Json } from "@trunkline/console/contract";
import { describe, expect, it } from "vitest";
import { readCallArguments } from "../../src/commands/call/call-arguments.js";
import { commandOf, targetOf } from "../../src/console/call-command.js";

/** Arguments of `git.log`, and the command that is copied for them here and on the page of tools. */
const COPIED = JSON.parse(
  readFileSync(new URL("../../../console/test/copied-commands.json", import.meta.url), "utf8"),
) as readonly { args: Readonly<Record<string, Json>>; command: string }[];

const NAMES = {
  servers: ["git", "git.hub", "odd name"],
  operations: new Map([
    ["search", "read"],
    ["add", "write"],
    ["start", "session"],
  ] as const),
};

function commandFor(operation: string, args?: Json): string | undefined {
  const target = targetOf(operation, NAMES);
  return target === undefined ? undefined : commandOf(target, NAMES, args);
}

describe("a call as a command", () => {
  it("names the server with the longest name, or an operation of our own", () => {
    expect(targetOf("git.log", NAMES)).toEqual({ kind: "tool", server: "git", tool: "log" });
    expect(targetOf("git.hub.list", NAMES)).toEqual({ kind: "tool", server: "git.hub", tool: "list" });
    expect(targetOf("search", NAMES)).toEqual({ kind: "operation", op: "search" });
    for (const name of ["start", "unknown", "resources/read", "git.", "gone.tool"])
      expect(targetOf(name, NAMES)).toBeUndefined();
  });

  it("uses the command that makes such a call", () => {
    expect(commandFor("git.log")).toBe("trunkline call git.log");
    expect(commandFor("odd name.x")).toBe("trunkline call 'odd name.x'");
    expect(commandFor("search", { query: "a b", limit: 3 })).toBe("trunkline query search query='a b' limit:=3");
    expect(commandFor("add", { path: "x.md" })).toBe("trunkline execute add path=x.md");
    expect(commandFor("add", { "a b": 1 })).toBe(`trunkline execute '{"op":"add","params":{"a b":1}}'`);
  });

  const AWKWARD: Readonly<Record<string, Json>> = {
    text: 'it\'s $HOME `id` "x" \\ ; rm -rf /\nnext',
    empty: "",
    number: 1.5,
    flag: false,
    none: null,
    deep: { "it's": ["$(id)", { x: 1 }] },
    equals: "a=b",
    "with-dash": "-x",
  };
  /** A terminal acts on some of these before a shell sees any quotes. */
  const HIDDEN: Readonly<Record<string, Json>> = {
    escape: "\u001b[201~\u0015id\r",
    interrupt: "a\u0003b\u007f\u009b",
    format: "a\u202eb\u200b\u{e0001}",
    lines: "a\u2028b\u2029c\td\ne",
    half: "\ud800",
    deep: { "\u001b": ["\u0003", "it's"] },
    plain: "it's",
  };

  it("names hidden characters instead of having them", () => {
    expect(commandFor("git.log", { text: "a\u001b\u202e\u{e0001}'" })).toBe(
      `trunkline call git.log text:='"a\\u001b\\u202e\\udb40\\udc01'\\''"'`,
    );
    for (const args of [HIDDEN, { "odd key\u0003": HIDDEN }])
      for (const operation of ["git.log", "search"])
        expect(commandFor(operation, args)).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u);
  });

  it("is not offered for a name with hidden characters", () => {
    expect(commandFor("git.\u001b[201~")).toBeUndefined();
  });

  it.each(COPIED)("is the same as on the page of tools: $command", ({ args, command }) => {
    expect(commandFor("git.log", args)).toBe(command);
  });

  it.each([AWKWARD, HIDDEN, { "odd key": 1, "a=b": "'", "x:": [] }])(
    "a shell reads back the same arguments",
    (args) => {
      const command = commandFor("git.log", args) ?? "";
      const output = execFileSync("sh", ["-c", command.replace(/^trunkline call git\.log/, `printf '%s\\0'`)]);
      const words = output.toString("utf8").split("\0").slice(0, -1);
      const [first, input] = words;
      const given = first === "--input" ? { pairs: [], input } : { pairs: words };
      expect(readCallArguments(given, {})).toEqual(args);
    },
  );
});
