import { describe, expect, it } from "vitest";
import { type EntryPlace, entryText, withEntry, withoutEntry } from "../src/program-file.js";

const json: EntryPlace = { format: "json", path: ["mcpServers", "trunkline"] };
const toml: EntryPlace = { format: "toml", path: ["mcp_servers", "trunkline"] };
const entry = { command: "trunkline", args: ["serve"] };

describe("one entry in another program's file", () => {
  it.each([
    [
      "empty",
      "",
      '{\n  "mcpServers": {\n    "trunkline": {\n      "command": "trunkline",\n      "args": [\n        "serve"\n      ]\n    }\n  }\n}\n',
    ],
    ["an empty object", "{}", undefined],
    ["compact", '{"a":1,"mcpServers":{"x":{"command":"x"}}}', undefined],
    [
      "with tabs and comments",
      '{\n\t// one\n\t"a": 1, // two\n\t"mcpServers": {\n\t\t"x": {} // three\n\t}\n}\n',
      undefined,
    ],
    ["with a trailing comma", '{ "mcpServers": { "x": {}, }, }\n', undefined],
    [
      "with another table of that name deeper",
      '{ "projects": { "/p": { "mcpServers": { "trunkline": 1 } } } }',
      undefined,
    ],
  ])("is added to JSON that is %s", (_, text, expected) => {
    const changed = withEntry(text, json, entry);
    if (expected !== undefined) expect(changed).toBe(expected);
    expect(changed).toContain('"trunkline"');
    const without = withoutEntry(changed, json);
    for (const comment of text.match(/\/\/ \w+/g) ?? []) expect(without).toContain(comment);
  });

  it.each([
    ["empty", ""],
    ["without a line break at the end", 'model = "x"'],
    ["with Windows line ends", 'model = "x"\r\n\r\n[a]\r\nb = 1\r\n'],
    [
      "with lists that look like headers",
      'list = [\n  [1, 2],\n  [3]\n]\ntext = """\n[other]\n"""\n\n[[tasks]]\nname = "a"\n',
    ],
    ["with quoted names", '[mcp_servers."my server"]\ncommand = "x"\n\n[mcp_servers."my server".env]\nA = "[b]"\n'],
    ["with dates and large numbers", "when = 2026-11-15T06:25:34Z\nbig = 9007199254740991\n"],
  ])("is added to TOML that is %s, and removed again", (_, text) => {
    const changed = withEntry(text, toml, entry);
    expect(changed.startsWith(text.trimEnd())).toBe(true);
    expect(withEntry(changed, toml, entry)).toBe(changed);
    const ended = text === "" || text.endsWith("\n") ? text : `${text}\n`;
    expect(withoutEntry(changed, toml)).toBe(ended);
  });

  it("replaces only itself in TOML, including its subsections", () => {
    const text =
      '[mcp_servers.trunkline]\ncommand = "old"\n\n[mcp_servers.trunkline.env]\nA = "1"\n\n# next\n[mcp_servers.x]\ncommand = "x"\n';
    const changed = withEntry(text, toml, { ...entry, env: { A: "1" } });
    expect(changed).toBe(
      '[mcp_servers.trunkline]\ncommand = "trunkline"\nargs = [ "serve" ]\n\n[mcp_servers.trunkline.env]\nA = "1"\n\n# next\n[mcp_servers.x]\ncommand = "x"\n',
    );
    expect(withoutEntry(changed, toml)).toBe('\n# next\n[mcp_servers.x]\ncommand = "x"\n');
  });

  it("is not removed if a multi-line string contains what looks like its header", () => {
    const changed = withEntry('text = """\n[mcp_servers.trunkline]\n"""\n', toml, entry);
    expect(() => withoutEntry(changed, toml)).toThrow(/cannot be removed/);
  });

  it("ends where an array of tables starts", () => {
    const after = '[[tasks]]\nname = "a"\n';
    const text = `[mcp_servers.trunkline]\ncommand = "x"\n\n${after}`;
    expect(withoutEntry(text, toml)).toBe(`\n${after}`);
  });

  it.each([
    ["an inline table", 'mcp_servers = { x = { command = "x" } }\n', toml],
    ["dotted keys", 'mcp_servers.trunkline.command = "x"\n', toml],
    ["a list of tables", "[[mcp_servers]]\na = 1\n", toml],
    ["a list where the table should be", '{ "mcpServers": [] }', json],
    ["a text where the table should be", '{ "mcpServers": "none" }', json],
  ])("is not added to %s", (_, text, place) => {
    expect(() => withEntry(text, place, entry)).toThrow(/cannot be added/);
  });

  it("is shown as it would be written", () => {
    expect(entryText(json, { command: "x" })).toBe('"mcpServers": {\n  "trunkline": {\n    "command": "x"\n  }\n}');
    expect(entryText(toml, { command: "x" })).toBe('[mcp_servers.trunkline]\ncommand = "x"');
  });
});
