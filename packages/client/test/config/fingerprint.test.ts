import { describe, expect, it } from "vitest";
import { loadText } from "./place.js";

const base = {
  a: { command: "node", args: ["x.js"], env: { A: "1", B: "2" }, cwd: "sub" },
  b: { type: "http", url: "https://x.example/${ID}", headers: { H: "1" } },
};
const fileOf = async (mcpServers: unknown, env = {}) => (await loadText({ mcpServers }, { env })).files[0];
const fingerprintOf = async (mcpServers: unknown, env = {}) => (await fileOf(mcpServers, env))?.fingerprint;

describe("the fingerprint of what a file would run", () => {
  it.each([
    [
      "the order of servers and fields",
      { b: base.b, a: { env: { B: "2", A: "1" }, cwd: "sub", args: ["x.js"], command: "node" } },
    ],
    [
      "the values of env and headers",
      { a: { ...base.a, env: { A: "x", B: "y" } }, b: { ...base.b, headers: { H: "z" } } },
    ],
    ["disabled, timeouts and the like", { a: { ...base.a, disabled: true, timeout: 5 }, b: base.b }],
    ["an entry that cannot be used", { ...base, c: { args: 1 } }],
  ])("does not depend on %s", async (_, changed) => {
    expect(await fingerprintOf(changed)).toBe(await fingerprintOf(base));
  });

  it("does not depend on formatting, notation or the environment", async () => {
    const yaml = `# same
mcpServers:
  b: { url: "https://x.example/\${ID}", headers: { H: one } }
  a:
    command: node
    args: [x.js]
    env: { A: 1, B: 2 }
    cwd: sub
`;
    const config = await loadText(yaml, { as: "m.yaml", env: { ID: "7" } });
    expect(config.files[0]?.fingerprint).toBe(await fingerprintOf(base));
  });

  it.each([
    ["a name", { c: base.a, b: base.b }],
    ["a command", { ...base, a: { ...base.a, command: "deno" } }],
    ["an argument", { ...base, a: { ...base.a, args: ["y.js"] } }],
    ["the order of arguments", { ...base, a: { ...base.a, args: ["x.js", ""] } }],
    ["a url", { ...base, b: { ...base.b, url: "https://y.example/${ID}" } }],
    ["the name of a variable", { ...base, a: { ...base.a, env: { A: "1", NODE_OPTIONS: "2" } } }],
    ["the name of a header", { ...base, b: { ...base.b, headers: { I: "1" } } }],
    ["the folder it runs in", { ...base, a: { ...base.a, cwd: "other" } }],
    ["an env file", { ...base, a: { ...base.a, envFile: "x.env" } }],
    ["a new server", { ...base, c: { command: "c", disabled: true } }],
  ])("changes with %s", async (_, changed) => {
    expect(await fingerprintOf(changed)).not.toBe(await fingerprintOf(base));
  });

  it("comes with one line per server, unexpanded and without values", async () => {
    const file = await fileOf(
      { ...base, c: { command: "run me", args: ["\u001b[2J", "\u202E", "${ID}"], disabled: true } },
      { ID: "secret-id" },
    );
    expect(file?.wouldRun).toEqual([
      { name: "a", what: "node x.js (env: A, B; cwd: sub)" },
      { name: "b", what: "https://x.example/${ID} (headers: H)" },
      { name: "c", what: '"run me" "\\u001b[2J" "\\u202e" ${ID} (disabled)' },
    ]);
  });
});
