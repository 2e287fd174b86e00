// Counts the source files that a flow passes through in the built command: `node scripts/walk.js [--files] [flow …]`.
//
// A flow passes through a file if it calls one of the file's functions, synchronous or not. A file that is only loaded
// does not count. The result is the files a reader meets on the way. Files that only some runs pass through, because a
// timer fired or a thread was slow, are left out: each flow is walked twice. test/ratchet/flows.slow.test.ts compares
// the counts with the limits in test/ratchet/limits.json.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath, pathToFileURL } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const COMMAND = join(ROOT, "scripts/walk/entry.js");
const PROBE = new URL("./walk/probe.js", import.meta.url).href;

/** @param {string} name @param {string[]} args */
const server = (name, ...args) => ({
  command: process.execPath,
  args: [join(ROOT, `test/servers/${name}.js`), ...args],
});

/**
 * @typedef {{ folder: string, start: (args: string[], window?: { from: string, to?: string }) => import("node:child_process").ChildProcess }} Place
 * @type {Record<string, (place: Place) => Promise<void>>}
 */
export const FLOWS = {
  call: async ({ start }) => ended(start(["call", "hello.hello", "name=Ada"])),
  warmCall: callThroughDaemon,
  query: queryOverHttp,
  add: async ({ start, folder }) => {
    writeFileSync(join(folder, "note.md"), "# A note\nRetry with backoff.\n");
    await ended(start(["store", "add", "note.md"]));
  },
  elicitation: elicit,
  ask: async ({ start, folder }) => {
    const turns = [{ tool: "hello.hello", args: { name: "Ada" } }, { text: "Done." }];
    writeFileSync(join(folder, "turns.jsonl"), turns.map((turn) => JSON.stringify(turn)).join("\n"));
    await ended(
      start(["ask", "--provider", "echo", "--script", "turns.jsonl", "--tool", "hello.*", "--yes", "Greet Ada."]),
    );
  },
};

/**
 * Calls a tool in the daemon, whose server is connected by an earlier call. Counts the whole second command, and the
 * daemon from the arrival of the request to the answer.
 * @param {Place} place
 */
async function callThroughDaemon({ start }) {
  const daemon = start(["broker", "run"], { from: "name=Counted", to: "Hello, Counted" });
  await lineWith(daemon.stderr, / listening /);
  await ended(start(["call", "hello.hello", "name=opening"], { from: "never" }));
  await ended(start(["call", "hello.hello", "name=Counted"]));
  daemon.kill("SIGTERM");
  await new Promise((resolve) => daemon.once("exit", resolve));
}

/**
 * Runs a `query` with a search, measured from the arrival of its POST to the answer. An earlier query has already
 * opened the store, so this is the path every request takes. The store's threads are not followed.
 * @param {Place} place
 */
async function queryOverHttp({ start }) {
  const gateway = start(["serve", "--http", "--no-token", "--port", "0"], { from: "counted", to: '"content"' });
  const url = await lineWith(gateway.stderr, /http:\/\/\S+\/mcp/);
  for (const query of ["opening", "counted"]) {
    const answer = await fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "query",
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: {
          name: "query",
          arguments: { steps: [{ op: "search", params: { query } }] },
          _meta: {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { name: "walk", version: "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
          },
        },
      }),
    });
    const text = await answer.text();
    if (!answer.ok || text.includes('"isError":true')) throw new Error(`query failed: ${answer.status} ${text}`);
  }
  gateway.kill("SIGTERM");
  await ended(gateway);
}

/**
 * Answers a question from an upstream server, measured from its arrival at the gateway until the answer is sent back.
 * @param {Place} place
 */
async function elicit({ start }) {
  const gateway = start(["serve"], { from: "elicitation/create", to: '"action"' });
  const { stdin, stdout } = gateway;
  if (stdin === null || stdout === null) throw new Error("The gateway has no pipes.");
  /** @param {object} message */
  const send = (message) => stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const clientInfo = { name: "walk", version: "1" };
  const capabilities = { elicitation: { form: {} } };
  send({ id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities, clientInfo } });
  for await (const line of createInterface({ input: stdout })) {
    const message = JSON.parse(line);
    if (message.id === 1 && message.result !== undefined) {
      send({ method: "notifications/initialized" });
      const operations = [{ op: "asking.ask_form", params: {} }];
      send({ id: 2, method: "tools/call", params: { name: "execute", arguments: { operations } } });
    } else if (message.method === "elicitation/create") {
      send({ id: message.id, result: { action: "accept", content: { name: "Ada", agreed: true } } });
    } else if (message.id === 2) {
      if (JSON.stringify(message).includes('"isError":true')) throw new Error(`The call failed: ${line}`);
      break;
    }
  }
  stdin.end();
  await ended(gateway);
}

/** @param {import("node:child_process").ChildProcess} child */
async function ended(child) {
  const code = child.exitCode ?? (await new Promise((resolve) => child.once("exit", resolve)));
  if (code !== 0 && code !== null) throw new Error(`${child.spawnargs.join(" ")} exited with ${code}.`);
}

/** @param {import("node:stream").Readable | null} stream @param {RegExp} wanted */
async function lineWith(stream, wanted) {
  if (stream === null) throw new Error("The command has no stderr.");
  for await (const line of createInterface({ input: stream })) {
    const match = wanted.exec(line);
    if (match !== null) return match[0];
  }
  throw new Error(`No line matches ${wanted}.`);
}

/** The files that one walk passes through. @param {string} flow */
async function walkOnce(flow) {
  const folder = mkdtempSync(join(tmpdir(), "trunkline-walk-"));
  const home = join(folder, "home");
  const names = join(home, "names.txt");
  mkdirSync(join(folder, ".trunkline/store"), { recursive: true });
  mkdirSync(join(home, ".trunkline"), { recursive: true, mode: 0o700 });
  writeFileSync(names, "");
  const servers = { hello: server("hello"), asking: server("asking", "--legacy-only") };
  writeFileSync(join(home, ".trunkline/settings.json"), JSON.stringify({ mcpServers: servers }));
  try {
    await FLOWS[flow]?.({
      folder,
      start: (args, window = undefined) =>
        spawn(process.execPath, [COMMAND, ...args], {
          cwd: folder,
          env: {
            PATH: process.env.PATH,
            HOME: home,
            ...(flow !== "warmCall" && { TRUNKLINE_BROKER: "off" }),
            NODE_OPTIONS: `--import ${PROBE}`,
            WALK_FILE: names,
            WALK_WINDOW: JSON.stringify(window ?? {}),
          },
          stdio: [args[0] === "serve" ? "pipe" : "ignore", "pipe", "pipe"],
        }),
    });
    return [...new Set(readFileSync(names, "utf8").split("\n").filter(Boolean))].sort();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The files that both of two walks pass through. @param {string} flow */
export async function walk(flow) {
  const second = new Set(await walkOnce(flow));
  return (await walkOnce(flow)).filter((file) => second.has(file));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const args = process.argv.slice(2);
  const wanted = args.filter((arg) => !arg.startsWith("-"));
  for (const flow of wanted.length > 0 ? wanted : Object.keys(FLOWS)) {
    if (FLOWS[flow] === undefined) {
      console.error(`Unknown flow "${flow}". Use one of ${Object.keys(FLOWS).join(", ")}.`);
      process.exit(2);
    }
    const files = await walk(flow);
    console.log(`${flow}: ${files.length} files`);
    if (args.includes("--files")) for (const file of files) console.log(`  ${file}`);
  }
}
