import { describe, expect, it } from "vitest";
import { secondsOption } from "../src/commands/flags.js";

describe("an option that takes seconds", () => {
  const parse = (text: string) => secondsOption("how long").default(30).parseArg?.(text, undefined);

  it.each([
    ["5", 5],
    ["0.5", 0.5],
    ["0", 30],
    ["0.0", 30],
  ])("reads %s as %s: 0 means the default", (text, seconds) => {
    expect(parse(text)).toBe(seconds);
    expect(secondsOption("how long").parseArg?.("0", undefined)).toBeUndefined();
  });

  it.each(["-1", "x", "", "86401", "Infinity"])("refuses %j", (text) => {
    expect(() => parse(text)).toThrow(
      expect.objectContaining({ code: "USAGE", message: `"${text}" is not a valid value for --timeout.` }),
    );
  });
});
