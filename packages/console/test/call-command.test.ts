import { readFileSync } from "node:fs";
import type { Json } from "@trunkline/console/contract";
import { describe, expect, it } from "vitest";
import { callCommand } from "../page/pages/tools/tool-details.js";

/** Arguments of `git.log`, and the command that is copied for them here and in the details of a call. */
const COPIED = JSON.parse(readFileSync(new URL("./copied-commands.json", import.meta.url), "utf8")) as readonly {
  args: Readonly<Record<string, Json>>;
  command: string;
}[];

describe("a call as a command", () => {
  it("has simple arguments as pairs", () => {
    expect(callCommand("git.log", {})).toBe("trunkline call git.log");
    expect(callCommand("git.log", { count: 3, all: true, branch: "main", none: null })).toBe(
      "trunkline call git.log count:=3 all:=true branch=main none:=null",
    );
  });

  it("has everything else as JSON", () => {
    expect(callCommand("a.b", { list: ["x"] })).toBe(`trunkline call a.b list:='["x"]'`);
    expect(callCommand("a.b", { "--json": 1 })).toBe(`trunkline call a.b --input '{"--json":1}'`);
  });

  it("says to a shell exactly what was entered", () => {
    expect(callCommand("a.b", { text: 'it\'s $HOME `x` "y"' })).toBe(
      `trunkline call a.b text='it'\\''s $HOME \`x\` "y"'`,
    );
    expect(callCommand("a; rm", {})).toBe("trunkline call 'a; rm'");
    expect(callCommand("a.b", { text: "" })).toBe("trunkline call a.b text=''");
  });

  it("names hidden characters instead of having them", () => {
    expect(callCommand("a.b", { text: "a\u202eb\u001b\u{e0001}" })).toBe(
      `trunkline call a.b text:='"a\\u202eb\\u001b\\udb40\\udc01"'`,
    );
    expect(callCommand("a.\u0003", {})).toBeUndefined();
  });

  it.each(COPIED)("is the same as in the details of a call: $command", ({ args, command }) => {
    expect(callCommand("git.log", args)).toBe(command);
  });
});
