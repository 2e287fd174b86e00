// Text from servers and stored documents must not control the terminal: no escape codes, no writing direction, no
// overwritten lines. In a pipe, text stays as it is, and JSON is escaped, which changes nothing for its reader.
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runProgram } from "../../packages/cli/src/program.js";
import { Place } from "../e2e/command.js";

const HOSTILE = [
  "red \u001b[31m",
  "clear \u001b[2J\u001b[H",
  "title \u001b]0;owned\u0007",
  "clipboard \u001b]52;c;cm0gLXJmIC8=\u0007",
  "link \u001b]8;;https://evil.example\u001b\\click\u001b]8;;\u001b\\",
  "c1 \u009b31m \u009d0;owned\u009c",
  "over\rwritten",
  "back\b\b\bspace",
  "bidi \u202eevil\u202c \u2066x\u2069 \u200f",
  "zero\u200bwidth \ufeff",
  "tags \u{e0041}\u{e007f}",
  "lines \u2028 \u2029",
].join("\n");
/** What none of the text above may leave on a screen. Line feeds, tabs and the joiners of emoji are fine. */
const RAW = /(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

/** A server whose every text is hostile. */
const SERVER = `
const text = ${JSON.stringify(HOSTILE)};
const results = {
  initialize: (params) => ({ protocolVersion: params.protocolVersion, serverInfo: { name: "x", version: "1" },
    capabilities: { tools: {}, resources: {}, prompts: {}, logging: {} } }),
  "tools/list": () => ({ tools: [{ name: "say", description: text, inputSchema: { type: "object" } },
    { name: "fail", description: text, inputSchema: { type: "object" } },
    { name: "crash", inputSchema: { type: "object" } }] }),
  "tools/call": ({ name }) => {
    send({ method: "notifications/message", params: { level: "error", logger: text, data: text } });
    if (name === "crash") throw new Error(text);
    return { content: [{ type: "text", text }, { type: "resource_link", uri: "x:" + text, name: text }],
      ...(name === "fail" ? { isError: true } : {}) };
  },
  "resources/list": () => ({ resources: [{ uri: "x://y", name: text, title: text }] }),
  "resources/templates/list": () => ({ resourceTemplates: [] }),
  "resources/read": () => ({ contents: [{ uri: "x://y", mimeType: "text/plain", text }] }),
  "prompts/list": () => ({ prompts: [{ name: "p", description: text }] }),
  "prompts/get": () => ({ description: text, messages: [{ role: "user", content: { type: "text", text } }] }),
  ping: () => ({}),
};
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
process.stderr.write(text + "\\n");
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  try {
    if (!results[method]) send({ id, error: { code: -32601, message: text } });
    else send({ id, result: results[method](params) });
  } catch (error) {
    send({ id, error: { code: -32000, message: error.message, data: { text } } });
  }
}).on("close", () => process.exit());
`;

let place: Place;
beforeAll(async () => {
  place = new Place({ "server.cjs": SERVER, "hostile.md": `# Notes\n\n${HOSTILE}\nneedle` });
  place.write("mcp.json", {
    mcpServers: { x: { command: process.execPath, args: ["server.cjs"], cwd: place.cwd, pin: "off" } },
  });
  await place.run(["store", "add", "hostile.md"]);
});
afterAll(() => place[Symbol.dispose]());

/** Runs a command whose stdout and stderr are a terminal, or a pipe. */
async function run(
  args: readonly string[],
  isTTY: boolean,
  more: Readonly<Record<string, string>> = { NO_COLOR: "1" },
): Promise<{ stdout: string; stderr: string }> {
  const stream = () => Object.assign(new PassThrough({ highWaterMark: 10_000_000 }), { isTTY });
  const [stdout, stderr, stdin] = [stream(), stream(), new PassThrough()];
  stdin.end();
  const env = { PATH: process.env.PATH ?? "", HOME: place.home, TRUNKLINE_LOG_LEVEL: "debug", ...more };
  await runProgram(args, { stdin, stdout, stderr, env, cwd: place.cwd, userHome: place.home });
  return { stdout: String(stdout.read() ?? ""), stderr: String(stderr.read() ?? "") };
}

const SERVED = ["--mcp", "mcp.json"];
const COMMANDS = [
  ["call", "x.say", ...SERVED],
  ["call", "x.say", "--raw", ...SERVED],
  ["call", "x.fail", ...SERVED],
  ["call", "x.crash", ...SERVED],
  ["query", "x.say", ...SERVED],
  ["query", "describe", "operation=x.say", ...SERVED],
  ["query", "get", "path=hostile.md", "include_content:=true"],
  ["query", "grep", "pattern=bidi"],
  ["query", "search", "query=needle"],
  ["execute", "x.say", ...SERVED],
  ["execute", "x.crash", ...SERVED],
  ["resources", ...SERVED],
  ["resources", "--json", ...SERVED],
  ["resources", "read", "x", "x://y", ...SERVED],
  ["resources", "read", "x", "x://y", "--raw", ...SERVED],
  ["prompts", ...SERVED],
  ["prompts", "get", "x.p", ...SERVED],
  ["prompts", "get", "x.p", "--raw", ...SERVED],
  ["tools", ...SERVED],
  ["tools", "--json", ...SERVED],
  ["doctor", ...SERVED],
  ["doctor", "--format", "json", ...SERVED],
  ["store", "get", "hostile.md"],
  ["store", "get", "hostile.md", "--lines", "1-40"],
  ["store", "get", "hostile.md", "--json"],
  ["store", "grep", "i"],
  ["store", "grep", "i", "--json"],
  ["store", "search", "needle"],
  ["store", "search", "needle", "--json"],
];

describe("at a terminal", () => {
  it.each(COMMANDS.map((args) => [args.join(" "), args] as const))(
    "%s shows no control characters",
    async (_, args) => {
      const { stdout, stderr } = await run(args, true);
      expect(`${stdout}${stderr}`.length).toBeGreaterThan(0);
      expect(RAW.exec(stdout)?.[0]).toBeUndefined();
      expect(RAW.exec(stderr)?.[0]).toBeUndefined();
    },
  );

  it.each(COMMANDS.map((args) => [args.join(" "), args] as const))("%s adds only its own colours", async (_, args) => {
    const { stdout, stderr } = await run(args, true, { TERM: "xterm" });
    for (const shown of [stdout, stderr]) {
      const own = shown.replaceAll(/\p{Cc}\[(?:1|2|3[1-6]|1;31|22|39|22;39)m|\r\p{Cc}\[K/gu, "");
      expect(RAW.exec(own)?.[0]).toBeUndefined();
      // The server's red must not be taken for ours.
      expect(shown).not.toContain("red \u001b[31m");
    }
  });

  it("shows what was escaped", async () => {
    const { stdout } = await run(["call", "x.say", ...SERVED], true);
    expect(stdout).toContain("clear \\u001b[2J");
    expect(stdout).toContain("over\\u000dwritten");
    expect(stdout).toContain("bidi \\u202eevil");
  });
});

describe("in a pipe", () => {
  it.each([
    ["call", "x.say", ...SERVED],
    ["resources", "read", "x", "x://y", ...SERVED],
    ["prompts", "get", "x.p", ...SERVED],
    ["store", "get", "hostile.md"],
  ])("%s %s is faithful", async (...args) => {
    expect((await run(args, false)).stdout).toContain(HOSTILE);
  });

  const JSON_COMMANDS = COMMANDS.filter(
    (args) =>
      ["query", "execute"].includes(args[0] ?? "") ||
      args.includes("--raw") ||
      args.includes("--json") ||
      args.includes("json"),
  );
  it.each(JSON_COMMANDS.map((args) => [args.join(" "), args] as const))(
    "%s prints JSON that hides nothing",
    async (_, args) => {
      const { stdout } = await run(args, false);
      expect(RAW.exec(stdout)?.[0]).toBeUndefined();
      for (const line of stdout.startsWith("{\n") || stdout.startsWith("[\n") ? [stdout] : stdout.trim().split("\n"))
        JSON.parse(line);
    },
  );

  it("a reader of the JSON gets the text unchanged", async () => {
    const { stdout } = await run(["call", "x.say", "--raw", ...SERVED], false);
    expect(JSON.parse(stdout).content[0].text).toBe(HOSTILE);
  });

  it("stderr shows no control characters either", async () => {
    for (const args of COMMANDS.slice(0, 4)) expect(RAW.exec((await run(args, false)).stderr)?.[0]).toBeUndefined();
  });
});
