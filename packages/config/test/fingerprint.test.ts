import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Place } from "./place.js";

const base = {
  a: { command: "node", args: ["x.js"], env: { A: "1", B: "2" }, cwd: "sub" },
  b: { type: "http", url: "https://x.example/${ID}", headers: { H: "1" } },
};

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place[Symbol.dispose]());
const load = async (text: unknown, { as = "mcp.json", env = {} } = {}) =>
  await place.load({ mcpPath: place.write(as, text), env });
const fileOf = async (mcpServers: unknown, env = {}) => (await load({ mcpServers }, { env })).files[0];
const fingerprintOf = async (mcpServers: unknown, env = {}) => (await fileOf(mcpServers, env))?.fingerprint;

describe("the fingerprint of what a file would run", () => {
  it.each([
    [
      "the order of servers and fields",
      { b: base.b, a: { env: { B: "2", A: "1" }, cwd: "sub", args: ["x.js"], command: "node" } },
    ],
    ["disabled, timeouts and the like", { a: { ...base.a, disabled: true, timeout: 5, idleStop: 60 }, b: base.b }],
    ["an entry that cannot be used", { ...base, c: { args: 1 } }],
  ])("does not depend on %s", async (_, changed) => {
    expect(await fingerprintOf(changed)).toBe(await fingerprintOf(base));
  });

  it("does not depend on formatting, notation or the environment", async () => {
    const yaml = `# same
mcpServers:
  b: { url: "https://x.example/\${ID}", headers: { H: 1 } }
  a:
    command: node
    args: [x.js]
    env: { A: 1, B: 2 }
    cwd: sub
`;
    const config = await load(yaml, { as: "m.yaml", env: { ID: "7" } });
    expect(config.files[0]?.fingerprint).toBe(await fingerprintOf(base));
  });

  it.each([
    ["a name", { c: base.a, b: base.b }],
    ["a command", { ...base, a: { ...base.a, command: "deno" } }],
    ["an argument", { ...base, a: { ...base.a, args: ["y.js"] } }],
    ["the order of arguments", { ...base, a: { ...base.a, args: ["x.js", ""] } }],
    ["a url", { ...base, b: { ...base.b, url: "https://y.example/${ID}" } }],
    ["the name of a variable", { ...base, a: { ...base.a, env: { A: "1", NODE_OPTIONS: "2" } } }],
    ["the value of a variable", { ...base, a: { ...base.a, env: { A: "1", B: "3" } } }],
    ["the value of a header", { ...base, b: { ...base.b, headers: { H: "2" } } }],
    ["the name of a header", { ...base, b: { ...base.b, headers: { I: "1" } } }],
    ["the folder it runs in", { ...base, a: { ...base.a, cwd: "other" } }],
    ["an env file", { ...base, a: { ...base.a, envFile: "x.env" } }],
    ["who shares the connection", { ...base, a: { ...base.a, share: "user" } }],
    ["a new server", { ...base, c: { command: "c", disabled: true } }],
  ])("changes with %s", async (_, changed) => {
    expect(await fingerprintOf(changed)).not.toBe(await fingerprintOf(base));
  });

  it("changes with the folder of the project", async () => {
    using other = new Place();
    const elsewhere = await other.load({ mcpPath: other.write("mcp.json", { mcpServers: base }) });
    expect(elsewhere.files[0]?.fingerprint).not.toBe(await fingerprintOf(base));
  });

  it("comes with one line per server, unexpanded", async () => {
    const file = await fileOf(
      { ...base, c: { command: "run me", args: ["\u001b[2J", "\u202E", "${ID}"], disabled: true } },
      { ID: "secret-id" },
    );
    expect(file?.wouldRun).toEqual([
      { name: "a", what: "node x.js (env: A=1, B=2; cwd: sub)" },
      { name: "b", what: "https://x.example/${ID} (headers: H=1)" },
      { name: "c", what: '"run me" "\\u001b[2J" "\\u202e" ${ID} (disabled)' },
    ]);
  });
});
