import { describe, expect, it } from "vitest";
import { expandText, renderParts } from "../src/expand.js";
import { literalText } from "../src/index.js";

describe.each(["mcpServers", "servers"] as const)("literalText for %s", (dialect) => {
  const scope = {
    dialect,
    env: () => "expanded",
    workspaceFolder: "/work",
    userHome: "/home",
    maySee: () => true,
  };

  it.each([
    "plain",
    "",
    "100 $",
    "{braces}",
    "${HOME}",
    "\\${HOME}",
    "${A:-b}",
    "${secret:X}",
    "a ${cmd:id} b ${op://v/i/f}",
  ])("writes %j so that it is read as the same text", (text) => {
    const written = literalText(text, dialect);
    expect(renderParts(expandText(written ?? "", scope).parts)).toBe(text);
  });

  it.each(["${env:HOME}", "${input:id}", "${workspaceFolder:work}", "${unknown:x}", "${A:-${B}}", "open ${"])(
    "says that %j cannot be written",
    (text) => {
      expect(literalText(text, dialect)).toBeUndefined();
    },
  );
});

it("writes no variable into a skill, which would look it up at launch", () => {
  expect(literalText("${HOME}", "metadata.mcp")).toBeUndefined();
  expect(literalText("plain", "metadata.mcp")).toBe("plain");
});
