import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadText, Place, said, server } from "./place.js";

describe("the notation of a file", () => {
  const json = '// VS Code\n{ "mcpServers": { "s": { "command": "c", /* why */ "args": ["a",], }, }, }';
  const yaml = "mcpServers:\n  s:\n    command: c\n    args: [a]\n";
  it.each([
    ["m.json", json],
    ["m.jsonc", json],
    ["m.yaml", yaml],
    ["m.yml", yaml],
    ["m", json],
    ["m.conf", yaml],
    ["m.yaml", json],
    ["m.json", yaml],
    ["flow.yaml", "{mcpServers: {s: {command: c, args: [a]}}}"],
    ["started.yaml", `---\n${yaml}`],
    ["two.yaml", `---\n${yaml}---\nother: 1\n`],
    ["bom.json", `\uFEFF${json}`],
    ["crlf.yaml", yaml.replaceAll("\n", "\r\n")],
    ["SKILL.md", `---\r\nname: x\r\n${yaml.replaceAll("\n", "\r\n")}---\r\n# Skill\r\n\r\n---\r\ntext: {`],
    ["anchors.yaml", "base: &base { command: c }\nmcpServers: { s: { <<: *base, args: [a] } }"],
  ])("is detected by content and extension: %s", async (as, text) => {
    const config = await loadText(text, { as });
    expect(server(config, "s")).toMatchObject({ command: "c", args: ["a"] });
    expect(said(config)).toEqual([]);
  });

  it("can be UTF-16, as written by Windows shells", async () => {
    using place = new Place();
    writeFileSync(join(place.cwd, "m.json"), Buffer.from(`\uFEFF${json}`, "utf16le"));
    expect(server(await place.load({ mcpPath: "m.json" }), "s")).toMatchObject({ command: "c" });
  });

  it.each([
    ["m.yaml", 'mcpServers: { s: { command: c, args: ["\\${TOKEN} \\\\${TOKEN} \\n"] } }'],
    ["m.json", '{ "mcpServers": { "s": { "command": "c", "args": ["\\${TOKEN} \\\\${TOKEN} \\n"] } } }'],
  ])("can have a backslash before a dollar in double quotes, valid or not: %s", async (as, text) => {
    const config = await loadText(text, { as, env: { TOKEN: "t" } });
    expect(server(config, "s")).toMatchObject({ args: ["${TOKEN} ${TOKEN} \n"] });
    expect(said(config)).toEqual([]);
  });

  it.each([
    ["m.yaml", 'mcpServers: { s: { command: "C:\\dir" } }'],
    ["m.json", '{ "mcpServers": { "s": { "command": "C:\\dir" } } }'],
  ])("keeps any other bad escape as text and warns: %s", async (as, text) => {
    const config = await loadText(text, { as });
    expect(server(config, "s")).toMatchObject({ command: "C:\\dir" });
    expect(config.diagnostics).toMatchObject([{ severity: "warning", line: 1 }]);
  });

  it("uses the last of two equal names and says so", async () => {
    for (const as of ["m.json", "m.yaml"]) {
      const config = await loadText('{"mcpServers":{"s":{"command":"a"},\n"s":{"command":"b"}}}', { as });
      expect(server(config, "s")).toMatchObject({ command: "b" });
      expect(config.diagnostics).toMatchObject([{ severity: "warning", line: 2, column: 1 }]);
    }
  });

  it.each([
    [
      "a bomb of aliases",
      `a: &a [x, x, x, x, x, x, x, x, x]\n${"bcdefgh".replace(/./g, (c, i) => `${c}: &${c} [${Array(9).fill(`*${"abcdefgh"[i]}`)}]\n`)}servers: *h`,
    ],
    ["an alias of itself", "servers: &a { s: *a }"],
  ])("is not misled by %s", async (_, text) => {
    await expect(loadText(text, { as: "m.yaml" })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  });

  it("reports positions relative to the whole file for front matter", async () => {
    const config = await loadText("---\nmetadata:\n  mcp:\n    s: { command: 1 }\n---\n", { as: "SKILL.md" });
    expect(config.diagnostics).toMatchObject([{ line: 4, column: 19, server: "s", field: "command" }]);
    expect(config.files[0]?.dialect).toBe("metadata.mcp");
  });
});

describe("the key of a file", () => {
  it("uses several keys together, in the order of the table", async () => {
    const config = await loadText({
      metadata: { mcp: { a: { command: "no" }, c: { command: "c" } } },
      mcpServers: { a: { command: "no" }, b: { command: "b" } },
      servers: { a: { type: "stdio", command: "a" } },
    });
    expect(config.servers.map((s) => [s.name, s.dialect, s.type === "stdio" && s.command])).toEqual([
      ["a", "servers", "a"],
      ["b", "mcpServers", "b"],
      ["c", "metadata.mcp", "c"],
    ]);
    expect(config.diagnostics.map(({ severity, server }) => [severity, server])).toEqual([
      ["note", undefined],
      ["warning", "a"],
      ["warning", "a"],
    ]);
  });

  it.each(["servers:", "mcpServers: {}", "metadata: { mcp: }"])("can be empty: %s", async (text) => {
    const config = await loadText(text, { as: "m.yaml" });
    expect(config).toMatchObject({ exists: true, servers: [], diagnostics: [] });
  });

  it("produces a warning with the expected shape if it is missing, or a note in settings", async () => {
    using place = new Place({ ".trunkline/mcp.json": { mcpServer: {} }, "home/settings.json": { theme: "dark" } });
    const { diagnostics } = await place.load();
    expect(diagnostics).toMatchObject([
      { severity: "warning", file: join(place.cwd, ".trunkline", "mcp.json") },
      { severity: "note", file: join(place.home, "settings.json") },
    ]);
    expect(diagnostics[0]?.message).toContain('{ "mcpServers": { "name": { "command"');
    expect(diagnostics[0]?.message).toContain('Did you mean "mcpServers" instead of "mcpServer"?');
  });
});

describe("an unusable file", () => {
  const broken = [
    ["m.json", '{ "servers": {\n  "a" {} } }', 2, 7],
    ["m.json", "", 1, 1],
    ["m.json", "[]", 1, 1],
    ["m.json", '{\n"servers": [] }', 2, 12],
    ["m.yaml", "servers:\n  a: {command: c\n", 3, 1],
    ["m.yaml", "just text", 1, 1],
    ["SKILL.md", "# no front matter", 1, 1],
  ] as const;

  it.each(broken)("is an error with line and column if it was named: %s %j", async (as, text, line, column) => {
    await expect(loadText(text, { as })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining(`${as}:${line}:${column} `),
      data: { line, column },
    });
  });

  it.each(broken.filter(([as]) => as === "m.json"))(
    "is one warning if it was found by searching: %s %j",
    async (_, text, line, column) => {
      using place = new Place({
        ".trunkline/mcp.json": text,
        "home/settings.json": { mcpServers: { u: { command: "c" } } },
      });
      const config = await place.load();
      expect(config.diagnostics).toMatchObject([{ severity: "warning", line, column, file: config.path }]);
      expect(config.exists).toBe(true);
      expect(config.servers.map(({ name }) => name)).toEqual(["u"]);
    },
  );

  it.each([
    ["no.json", "does not exist", "--mcp"],
    ["file/no.json", "does not exist", "--mcp"],
    ["folder", "it is a folder", "--mcp"],
    ["", "empty", "file"],
  ])("is an error if it was named and is unreadable: %j", async (mcpPath, message, hint) => {
    using place = new Place({ file: "x" });
    mkdirSync(join(place.cwd, "folder"));
    await expect(place.load({ mcpPath })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining(message),
      hint: expect.stringContaining(hint),
    });
  });

  it("is an error with the expected shape if it was named and has none of the keys", async () => {
    await expect(loadText({ command: "c" })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining('"mcpServers": { "name"'),
    });
    await expect(loadText({ context_servers: {} })).rejects.toThrow("trunkline import");
  });

  it("is a warning if it was found by searching and is a folder", async () => {
    using place = new Place();
    mkdirSync(join(place.cwd, ".trunkline", "mcp.json"), { recursive: true });
    expect((await place.load()).diagnostics).toMatchObject([
      { severity: "warning", message: expect.stringContaining("folder") },
    ]);
  });

  it.skipIf(process.getuid?.() === 0)("is distinguished from one without read permission (not as root)", async () => {
    using place = new Place();
    place.write("m.json", "{}", 0o000);
    await expect(place.load({ mcpPath: "m.json" })).rejects.toMatchObject({
      message: expect.stringContaining("permission"),
    });
  });
});
