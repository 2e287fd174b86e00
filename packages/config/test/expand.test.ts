import { sep } from "node:path";
import { describe, expect, it } from "vitest";
import { expandEnv } from "../../client/src/index.js";
import { parseEnvFile } from "../src/dot-env.js";
import { loadText, Place, said, server } from "./place.js";

const env = { NAME: "value", EMPTY: "", NESTED: "${NAME}", "odd-name": "odd" };
const context = { NAME: "from-context", user: { name: "Ada", age: 36 }, list: ["x"] };

/** Expands one arg in each dialect. */
async function expandIn(dialect: "servers" | "mcpServers" | "metadata.mcp", text: string) {
  const entries = { s: { type: "stdio", command: "c", args: [text] } };
  const content = dialect === "metadata.mcp" ? { metadata: { mcp: entries } } : { [dialect]: entries };
  const config = await loadText(content, { env, context });
  const definition = server(config, "s");
  return {
    text: definition.type === "stdio" ? definition.args[0] : undefined,
    said: config.diagnostics.map(({ severity, field, message }) => `${severity} ${field} ${message}`),
    definition,
  };
}

describe("the substitution table", () => {
  // dialect, text, result, and the diagnostic (severity and a word of it)
  it.each([
    ["servers", "${NAME}", "${NAME}", "note env:NAME"],
    ["servers", "${UNSET}", "${UNSET}", undefined],
    ["servers", "${NAME:-default}", "value", "note extension"],
    ["servers", "${UNSET:-default}", "default", "note extension"],
    ["servers", "\\${NAME}", "${NAME}", undefined],
    ["servers", "${env:NAME}", "value", undefined],
    ["servers", "a${env:UNSET}b", "ab", "warning UNSET"],
    ["servers", "${env:EMPTY}", "", undefined],
    ["mcpServers", "${NAME}", "value", undefined],
    ["mcpServers", "${UNSET}", "${UNSET}", "warning UNSET"],
    ["mcpServers", "${EMPTY}", "", undefined],
    ["mcpServers", "${NAME:-default}", "value", undefined],
    ["mcpServers", "${UNSET:-default}", "default", undefined],
    ["mcpServers", "${EMPTY:-default}", "", undefined],
    ["mcpServers", "${UNSET:-}", "", undefined],
    ["mcpServers", "\\${NAME}", "${NAME}", undefined],
    ["mcpServers", "${env:NAME}", "value", undefined],
    ["mcpServers", "a${env:UNSET}b", "ab", "warning UNSET"],
    ["servers", "C:\\dir\\${env:NAME}\\x", "C:\\dir\\value\\x", undefined],
    ["mcpServers", "C:\\dir\\${env:NAME}\\x", "C:\\dir\\value\\x", undefined],
    ["mcpServers", "${input:id}", "${input:id}", "warning input:id"],
    ["metadata.mcp", "${NAME}", "from-context", undefined],
    ["metadata.mcp", "${user.name} is ${user.age}", "Ada is 36", undefined],
    ["metadata.mcp", "${list.0}", "x", undefined],
    ["metadata.mcp", "${user.toString}", "${user.toString}", "warning user.toString"],
    ["metadata.mcp", "${UNSET}", "${UNSET}", "warning UNSET"],
    ["metadata.mcp", "${UNSET:-default}", "default", undefined],
    ["metadata.mcp", "${NAME:-default}", "from-context", undefined],
    ["metadata.mcp", "\\${NAME}", "${NAME}", undefined],
    ["metadata.mcp", "${env:NAME}", "value", undefined],
    ["metadata.mcp", "a${env:UNSET}b", "ab", "warning UNSET"],
    ["metadata.mcp", "${input:id}", "${input:id}", "warning input:id"],
  ] as const)("%s: %s is %s", async (dialect, text, expected, remark) => {
    const outcome = await expandIn(dialect, text);
    expect(outcome.text).toBe(expected);
    expect(outcome.said).toHaveLength(remark === undefined ? 0 : 1);
    if (remark !== undefined) {
      const [severity = "", word = ""] = remark.split(" ");
      expect(outcome.said[0]).toMatch(new RegExp(`^${severity} args\\.0 `));
      expect(outcome.said[0]).toContain(word);
    }
  });

  describe.each(["servers", "mcpServers", "metadata.mcp"] as const)("in every dialect: %s", (dialect) => {
    it.each([
      ["${env:NESTED}", "${NAME}"],
      ["${env:NAME}${env:NAME}", "valuevalue"],
      ["${pathSeparator}${/}", sep + sep],
      ["${userHome}/x", "/home/ada/x"],
      ["$NAME $ {NAME} ${NAME", "$NAME $ {NAME} ${NAME"],
    ])("%s is %s", async (text, expected) => {
      const entries = { s: { type: "stdio", command: "c", args: [text] } };
      const content = dialect === "metadata.mcp" ? { metadata: { mcp: entries } } : { [dialect]: entries };
      const config = await loadText(content, { env: { ...env, HOME: "/home/ada" }, context });
      expect(server(config, "s")).toMatchObject({ args: [expected] });
      expect(said(config)).toEqual([]);
    });

    it("knows the workspace folder and its base name", async () => {
      using place = new Place();
      const entries = {
        s: { type: "stdio", command: "c", args: ["${workspaceFolder}", "${workspaceFolderBasename}"] },
      };
      const content = dialect === "metadata.mcp" ? { metadata: { mcp: entries } } : { [dialect]: entries };
      const config = await place.load({ mcpPath: place.write("x.json", content) });
      expect(server(config, "s")).toMatchObject({ args: [place.cwd.replaceAll("\\", "/"), "project"] });
    });

    it("leaves unknown variables as they are, with a warning", async () => {
      const { text, said } = await expandIn(dialect, "${command:pick} ${config:x}");
      expect(text).toBe("${command:pick} ${config:x}");
      expect(said).toEqual([
        expect.stringMatching(/^warning args\.0 .*command:pick/),
        expect.stringMatching(/^warning args\.0 .*config:x/),
      ]);
    });
  });

  it("covers every string of an entry exactly once", async () => {
    const config = await loadText(
      {
        mcpServers: {
          local: {
            command: "${NAME}",
            args: ["${NESTED}"],
            cwd: "/${NAME}",
            envFile: "/no/${NAME}",
            env: { A: "${NAME}", "${NAME}": "key" },
          },
          net: { url: "https://${NAME}.example/${UNSET}", headers: { H: "x ${NAME}" } },
        },
      },
      { env },
    );
    expect(server(config, "local")).toMatchObject({
      command: "value",
      args: ["${NAME}"],
      cwd: "/value",
      envFile: "/no/value",
      env: { A: "value", "${NAME}": "key" },
    });
    expect(server(config, "net")).toMatchObject({
      url: "https://value.example/${UNSET}",
      headers: { H: "x value" },
    });
    expect(said(config)).toEqual([
      expect.stringContaining("warning | local | envFile | "),
      expect.stringMatching(/warning \| net \| url \| .*UNSET/),
    ]);
  });

  it("reads .env, but prefers the process environment, even if a value there is empty", async () => {
    using place = new Place({
      ".env": "FROM_FILE=file\nBOTH=file\nEMPTY=file",
      ".trunkline/mcp.json": { mcpServers: { s: { command: "c", args: ["${FROM_FILE}", "${BOTH}", "${EMPTY}"] } } },
    });
    const config = await place.load({ env: { BOTH: "process", EMPTY: "" } });
    expect(server(config, "s")).toMatchObject({ args: ["file", "process", ""] });
  });

  it("reports missing variables of a disabled server only as a note", async () => {
    const config = await loadText({ mcpServers: { s: { command: "${UNSET}", disabled: true } } });
    expect(config.diagnostics.map(({ severity }) => severity)).toEqual(["note"]);
  });
});

describe("a variable looked up at launch", () => {
  const skill = `
metadata:
  mcp:
    t: { command: run, args: ["\\\${FLAG:-off}"], env: { KEY: "Key \\\${KEY}", GONE: '\\\${GONE}', PLAIN: "\${NAME}" } }
    u: { url: "\\\${BASE}/mcp", headers: { Authorization: "Bearer \\\${KEY}" } }
`;
  it("is filled in at launch, with missing names and secrets reported", async () => {
    const live: Record<string, string> = {};
    const config = await loadText(skill, { as: "skill.yaml", env: live, context: { NAME: "${KEY}" } });
    const t = server(config, "t");
    expect(said(config)).toEqual([]);
    expect(t).toMatchObject({
      args: ["${FLAG:-off}"],
      env: { KEY: "Key ${KEY}", GONE: "${GONE}", PLAIN: "${KEY}" },
    });
    live.KEY = "s3cret-key";
    const launched = t.atLaunch?.();
    expect(launched?.definition).toMatchObject({
      name: "t",
      args: ["off"],
      env: { KEY: "Key s3cret-key", GONE: "${GONE}", PLAIN: "${KEY}" },
    });
    expect(launched?.definition.atLaunch).toBeUndefined();
    expect(launched?.missing).toEqual(["GONE"]);
    expect(launched?.secrets).toEqual(expect.arrayContaining(["s3cret-key", "Key s3cret-key"]));
  });

  it("makes a url unusable only if it is invalid at launch", async () => {
    const live: Record<string, string> = { KEY: "s3cret-key" };
    const u = server(await loadText(skill, { as: "skill.yaml", env: live }), "u");
    expect(u.unusable).toBeUndefined();
    expect(u.atLaunch?.().definition.unusable?.message).toContain("url");
    live.BASE = "https://x.example";
    const launched = u.atLaunch?.();
    expect(launched).toMatchObject({
      definition: { url: "https://x.example/mcp", headers: { Authorization: "Bearer s3cret-key" } },
      missing: [],
      secrets: expect.arrayContaining(["s3cret-key"]),
    });
    // The host stays visible.
    expect(launched?.secrets).not.toContain("https://x.example");
    expect(u.atLaunch?.().definition.unusable).toBeUndefined();
  });

  it("is absent if nothing is deferred", async () => {
    const config = await loadText({ mcpServers: { s: { command: "c", args: ["\\${X}"] } } });
    expect(server(config, "s")).not.toHaveProperty("atLaunch");
  });
});

describe("expandEnv", () => {
  it.each([
    ["plain", "plain", []],
    ["${NAME}/${NAME}", "value/value", []],
    ["${A} ${B} ${A}", "${A} ${B} ${A}", ["A", "B"]],
    ["${A:-x}", "x", []],
    ['${A:-{"x":1}}', '{"x":1}', []],
    ['${NAME:-{"x":1}}', "value", []],
    ["${A:-${NAME}}", "${NAME}", []],
    ["${env:A}", "", ["A"]],
    ["\\${NAME}", "${NAME}", []],
    ["${EMPTY}", "", []],
    ["${odd-name}", "odd", []],
    ["${NESTED}", "${NAME}", []],
    ["${constructor}", "${constructor}", ["constructor"]],
    ["${}", "${}", []],
    ["${workspaceFolder}", "${workspaceFolder}", ["workspaceFolder"]],
  ])("turns %s into %s, missing %j", (text, expanded, missing) => {
    expect(expandEnv(text, env)).toEqual({ expanded, missing });
  });

  it("has an empty environment unless given one", () => {
    expect(expandEnv("${PATH} ${env:PATH} ${PATH:-none}")).toEqual({ expanded: "${PATH}  none", missing: ["PATH"] });
    expect(expandEnv("plain")).toEqual({ expanded: "plain", missing: [] });
    expect(expandEnv("${PATH}", undefined)).toEqual({ expanded: "${PATH}", missing: ["PATH"] });
  });
});

describe("parseEnvFile", () => {
  it("reads line by line and skips what is not a variable", () => {
    expect(
      parseEnvFile(
        [
          "\uFEFF# comment",
          "A=1",
          "  B = two words  ",
          "export C=3 # not part of it",
          "D='single # ${A} \\n'",
          'E="double \\"quoted\\"\\n\\q" # comment',
          "F=",
          "G=a#b=c",
          "H='unterminated",
          "=no name",
          "no equals",
          "two words=1",
          "A=last",
          "I= # nothing",
          "__proto__=x",
        ].join("\r\n"),
      ),
    ).toEqual(
      Object.fromEntries([
        ["A", "last"],
        ["B", "two words"],
        ["C", "3"],
        ["D", "single # ${A} \\n"],
        ["E", 'double "quoted"\n\\q'],
        ["F", ""],
        ["G", "a#b=c"],
        ["H", "'unterminated"],
        ["I", ""],
        ["__proto__", "x"],
      ]),
    );
  });
});
