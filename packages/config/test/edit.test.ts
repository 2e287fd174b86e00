import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ConfigEdit, editConfigFile, readEditableConfig } from "../src/edit.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "trunkline-edit-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const ENTRY = { command: "npx", args: ["-y", "new"] };

/** Applies the edits and returns the file's text. */
async function edited(text: string, edits: ConfigEdit | ConfigEdit[], name = "mcp.json"): Promise<string> {
  const path = join(folder, name);
  writeFileSync(path, text);
  await editConfigFile(path, [edits].flat());
  return readFileSync(path, "utf8");
}

const COMMENTED = `// Servers of the shop
{
  /* asked for once */
  "inputs": [],
  "servers": {
    // the first
    "first": { "command": "one" }, // pinned
    // the second: needs a token
    "second": {
      "command": "two", // not three
      "env": { "TOKEN": "\${env:TOKEN}" }
    } // the last
    // "spare": { "command": "x" }
  }
}
`;

const CASES: { what: string; name?: string; text: string; edits: ConfigEdit | ConfigEdit[]; after: string }[] = [
  {
    what: "an entry is added after the last one, and every comment stays where it was",
    text: COMMENTED,
    edits: { op: "set", name: "third", entry: ENTRY },
    after: COMMENTED.replace("} // the last", "}, // the last").replace(
      '"spare": { "command": "x" }\n',
      `"spare": { "command": "x" }
    "third": {
      "command": "npx",
      "args": [
        "-y",
        "new"
      ]
    }
`,
    ),
  },
  {
    what: "an entry in the middle is removed with the comment on its line",
    text: COMMENTED,
    edits: { op: "remove", name: "first" },
    after: COMMENTED.replace('    "first": { "command": "one" }, // pinned\n', ""),
  },
  {
    what: "the last entry is removed with the comma before it",
    text: COMMENTED,
    edits: { op: "remove", name: "second" },
    after:
      `${COMMENTED.slice(0, COMMENTED.indexOf('    "second"'))}${COMMENTED.slice(COMMENTED.indexOf('    // "spare"'))}`.replace(
        "}, // pinned",
        "} // pinned",
      ),
  },
  {
    what: "an entry is disabled by a field of its own",
    text: COMMENTED,
    edits: { op: "disable", name: "second" },
    after: COMMENTED.replace('TOKEN}" }\n', 'TOKEN}" },\n      "disabled": true\n'),
  },
  {
    what: "an entry that stands on one line is disabled too",
    text: '{ "servers": { "a": { "command": "x" } } }',
    edits: { op: "disable", name: "a" },
    after: '{ "servers": { "a": { "command": "x",\n  "disabled": true\n} } }',
  },
  {
    what: "a disabled entry is enabled by taking the field away",
    text: '{\n  "mcpServers": {\n    "a": {\n      "disabled": true, // for now\n      "command": "x"\n    }\n  }\n}\n',
    edits: { op: "enable", name: "a" },
    after: '{\n  "mcpServers": {\n    "a": {\n      "command": "x"\n    }\n  }\n}\n',
  },
  {
    what: "an entry that is enabled already stays as it is",
    text: COMMENTED,
    edits: { op: "enable", name: "first" },
    after: COMMENTED,
  },
  {
    what: "an entry is replaced in its place",
    text: COMMENTED,
    edits: { op: "set", name: "first", entry: { type: "http", url: "https://x" } },
    after: COMMENTED.replace('{ "command": "one" }', '{\n      "type": "http",\n      "url": "https://x"\n    }'),
  },
  {
    what: "tabs, Windows line ends and a trailing comma are kept",
    text: '{\r\n\t"servers": {\r\n\t\t"a": { "command": "x" },\r\n\t},\r\n}\r\n',
    edits: { op: "set", name: "b", entry: { command: "y" } },
    after:
      '{\r\n\t"servers": {\r\n\t\t"a": { "command": "x" },\r\n\t\t"b": {\r\n\t\t\t"command": "y"\r\n\t\t},\r\n\t},\r\n}\r\n',
  },
  {
    what: "the key of the servers is added beside other settings",
    name: "settings.json",
    text: '{\n  "theme": "dark" // mine\n}\n',
    edits: { op: "set", name: "b", entry: { command: "y" } },
    after: '{\n  "theme": "dark", // mine\n  "mcpServers": {\n    "b": {\n      "command": "y"\n    }\n  }\n}\n',
  },
  {
    what: "an empty object gets its first entry",
    text: '{ "servers": {} }',
    edits: { op: "set", name: "b", entry: { command: "y" } },
    after: '{ "servers": {\n  "b": {\n    "command": "y"\n  }\n} }',
  },
  {
    what: "an object with nothing but a comment keeps it",
    text: '{\n  "servers": {\n    // none yet\n  }\n}\n',
    edits: { op: "set", name: "b", entry: { command: "y" } },
    after: '{\n  "servers": {\n    // none yet\n    "b": {\n      "command": "y"\n    }\n  }\n}\n',
  },
  {
    what: "an entry among others on one line is removed",
    text: '{ "servers": { "a": { "command": "x" }, "b": { "command": "y" }, "c": {} } }',
    edits: [
      { op: "remove", name: "b" },
      { op: "remove", name: "c" },
    ],
    after: '{ "servers": { "a": { "command": "x" } } }',
  },
  {
    what: "a comment that ends right before the last entry stays a comment",
    text: '{ "servers": { "a": {}, // about b\n"b": {} } }',
    edits: { op: "remove", name: "b" },
    after: '{ "servers": { "a": {} // about b\n } }',
  },
  {
    what: "a byte order mark and a bad escape stay",
    text: '\uFEFF{\n  "servers": {\n    "a": { "command": "\\${X}" }\n  }\n}\n',
    edits: { op: "disable", name: "a" },
    after: '\uFEFF{\n  "servers": {\n    "a": { "command": "\\${X}",\n      "disabled": true\n    }\n  }\n}\n',
  },
  {
    what: "a name that looks like a path is only a name",
    text: '{\n  "servers": {}\n}\n',
    edits: { op: "set", name: 'io.x/"y"', entry: { command: "y" } },
    after: '{\n  "servers": {\n    "io.x/\\"y\\"": {\n      "command": "y"\n    }\n  }\n}\n',
  },
  {
    what: "YAML keeps its comments and its order",
    name: "mcp.yaml",
    text: '# shop\nservers:\n  # the first\n  first:\n    command: one # pinned\n  second:\n    command: "two"\n',
    edits: [
      { op: "set", name: "third", entry: ENTRY },
      { op: "disable", name: "first" },
    ],
    after:
      '# shop\nservers:\n  # the first\n  first:\n    command: one # pinned\n    disabled: true\n  second:\n    command: "two"\n  third:\n    command: npx\n    args:\n      - -y\n      - new\n',
  },
  {
    what: "YAML loses only the entry that is removed",
    name: "mcp.yml",
    text: "servers:\n  first:\n    command: one\n  # the second\n  second:\n    command: two\n",
    edits: { op: "remove", name: "first" },
    after: "servers:\n  # the second\n  second:\n    command: two\n",
  },
];

describe("editing a configuration file", () => {
  it.each(CASES)("$what", async ({ name, text, edits, after }) => {
    expect(await edited(text, edits, name)).toBe(after);
  });

  it("keeps every comment and stays valid through a series of changes", async () => {
    const text = await edited(COMMENTED, [
      { op: "set", name: "x", entry: ENTRY },
      { op: "disable", name: "x" },
      { op: "enable", name: "x" },
      { op: "remove", name: "x" },
    ]);
    // Only the comma that "x" needed before it is removed again.
    expect(text).toBe(COMMENTED);
  });

  it("finds an entry under any key", async () => {
    const text = '{\n  "servers": {\n    "a": {}\n  },\n  "mcpServers": {\n    "b": {}\n  }\n}\n';
    expect(await edited(text, { op: "remove", name: "b" })).toBe(text.replace('    "b": {}\n', ""));
  });

  it("writes ${NAME} as an environment variable in both dialects, and leaves the rest alone", async () => {
    const entry = {
      command: "x",
      env: { A: "${A}", B: "${env:B}", C: "\\${C}", D: "${D:-d}", W: "${workspaceFolder}" },
    };
    const set: ConfigEdit = { op: "set", name: "x", entry };
    expect(JSON.parse(await edited("", set, "settings.json")).mcpServers.x).toEqual(entry);
    expect(JSON.parse(await edited("", set, "mcp.json")).servers.x.env).toEqual({ ...entry.env, A: "${env:A}" });
  });

  it("adds missing input definitions next to the servers", async () => {
    const inputs = [
      { id: "token", type: "promptString" },
      { id: "other", type: "promptString" },
    ];
    const entry = { url: "https://x", headers: { A: "${input:token} ${input:other}" } };
    const text = await edited('{ "inputs": [{ "id": "token", "description": "mine" }], "servers": {} }', {
      op: "set",
      name: "x",
      entry,
      inputs,
    });
    expect(JSON.parse(text).inputs).toEqual([{ id: "token", description: "mine" }, inputs[1]]);
  });

  it("says which variable replaces an input if the dialect has no inputs", async () => {
    const path = join(folder, "settings.json");
    const entry = { url: "https://x", headers: { A: "${input:github-token}" } };
    const { notes } = await editConfigFile(path, [{ op: "set", name: "x", entry }]);
    expect(notes).toEqual(['"x" asked for "github-token"; here it uses the environment variable GITHUB_TOKEN']);
    expect(JSON.parse(readFileSync(path, "utf8")).mcpServers.x.headers.A).toBe("${env:GITHUB_TOKEN}");
  });
});

describe("writing a configuration file", () => {
  it.each([
    ["mcp.json", "servers"],
    ["settings.json", "mcpServers"],
    ["mcp.yaml", "servers"],
  ])("creates %s with the key %s, and its folder", async (name, key) => {
    const path = join(folder, "deep", ".trunkline", name);
    const outcome = await editConfigFile(path, [{ op: "set", name: "a", entry: { command: "x" } }], { mode: 0o600 });
    expect(outcome).toMatchObject({ created: true, changed: true });
    expect(readFileSync(path, "utf8")).toContain(key);
    expect(await readEditableConfig(path)).toMatchObject({ exists: true, dialect: key, names: ["a"] });
    if (process.platform !== "win32") expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it.skipIf(process.platform === "win32")(
    "keeps the mode, follows a symbolic link and leaves no files behind",
    async () => {
      const real = join(folder, "dotfiles.json");
      const link = join(folder, "mcp.json");
      writeFileSync(real, '{ "servers": {} }');
      chmodSync(real, 0o640);
      symlinkSync(real, link);
      await editConfigFile(link, [{ op: "set", name: "a", entry: { command: "x" } }]);
      expect(JSON.parse(readFileSync(real, "utf8")).servers.a).toEqual({ command: "x" });
      expect(statSync(real).mode & 0o777).toBe(0o640);
      expect(readdirSync(folder).sort()).toEqual(["dotfiles.json", "mcp.json"]);
    },
  );

  it("does not write if nothing changes", async () => {
    const path = join(folder, "mcp.json");
    writeFileSync(path, COMMENTED);
    const before = statSync(path);
    expect(await editConfigFile(path, [{ op: "enable", name: "first" }])).toMatchObject({ changed: false });
    expect(statSync(path).ino).toBe(before.ino);
  });

  it.each([
    ["mcp.json", '{ "servers": { "a": }', /mcp\.json:1:21 cannot be edited/],
    ["mcp.json", "[]", /contains a list, not an object/],
    ["mcp.json", '{ "servers": [] }', /"servers" is a list/],
    ["SKILL.md", "---\nmetadata:\n  mcp: {}\n---\n# Skill\n", /skill file/],
  ])("leaves %s alone if it contains %j", async (name, text, message) => {
    const path = join(folder, name);
    writeFileSync(path, text);
    const edit = editConfigFile(path, [{ op: "set", name: "b", entry: { command: "x" } }]);
    await expect(edit).rejects.toMatchObject({ code: "CONFIG_INVALID", message: expect.stringMatching(message) });
    expect(readFileSync(path, "utf8")).toBe(text);
  });

  it.each(["remove", "enable", "disable"] as const)("refuses to %s a missing entry, and writes nothing", async (op) => {
    const path = join(folder, "mcp.json");
    writeFileSync(path, COMMENTED);
    const edits: ConfigEdit[] = [
      { op: "remove", name: "first" },
      { op, name: "nobody" },
    ];
    await expect(editConfigFile(path, edits)).rejects.toMatchObject({ code: "SERVER_NOT_FOUND" });
    expect(readFileSync(path, "utf8")).toBe(COMMENTED);
  });
});
