// Every command that connects an HTTP server ends its session, however the command ends.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SessionServer } from "../support/session-server.js";
import { script } from "./agent-support.js";
import { outcomeOf, Place } from "./command.js";

let place: Place;
let server: SessionServer;

beforeAll(async () => {
  server = await new SessionServer().listen();
  const entry = { type: "http", url: server.url };
  place = new Place({ ".trunkline/mcp.json": { mcpServers: { far: entry } } }, { TRUNKLINE_TRUST: "all" });
  place.write("hello.jsonl", script({ tool: "far.hello", args: {} }, { text: "Done." }));
});

afterAll(async () => {
  place[Symbol.dispose]();
  await server[Symbol.asyncDispose]();
});

const model = ["--provider", "echo", "--model", "script:hello.jsonl"];
const step = (op: string) => JSON.stringify({ steps: [{ op, params: {} }] });

describe.each([
  ["call", ["call", "far.hello"], 0],
  ["call of an unknown tool", ["call", "far.nothing"], 2],
  ["tools", ["tools"], 0],
  ["doctor", ["doctor"], 0],
  ["resources", ["resources", "far"], 0],
  ["prompts", ["prompts"], 0],
  ["execute", ["execute", step("far.hello")], 0],
  ["ask", ["ask", ...model, "--tool", "far.*", "--yes", "Greet."], 0],
  ["agent", ["agent", ...model, "--tool", "far.*", "--yes", "Greet."], 0],
] as const)("trunkline %s", (_, args, code) => {
  it("ends the session it opened", async () => {
    const before = server.opened;
    const outcome = await place.run(args);
    expect(outcome).toMatchObject({ code });
    expect(server.opened - before).toBe(1);
    expect(server.open.size).toBe(0);
  });
});

describe("an interrupted call", () => {
  it("ends the session it opened", async () => {
    const running = place.start(["call", "far.wait"]);
    const outcome = outcomeOf(running);
    await server.waiting;
    running.kill("SIGINT");
    expect((await outcome).code).toBe(130);
    expect(server.open.size).toBe(0);
  });
});

describe("trunkline serve", () => {
  it("ends the sessions of its upstream servers when its input closes", async () => {
    const messages = [
      {
        id: 1,
        method: "initialize",
        params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
      },
      { method: "notifications/initialized" },
      { id: 2, method: "tools/call", params: { name: "mcp__far__hello", arguments: {} } },
    ];
    const before = server.opened;
    const running = place.start(["serve", "--surface", "direct"]);
    const outcome = outcomeOf(running);
    for (const message of messages) running.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    await new Promise<void>((resolve) => {
      running.stdout?.on("data", (text: string) => text.includes('"id":2') && resolve());
    });
    expect(server.opened - before).toBe(1);
    running.stdin?.end();
    const { code, stdout } = await outcome;
    expect({ code, greeted: stdout.includes("Hello!") }).toEqual({ code: 0, greeted: true });
    expect(server.open.size).toBe(0);
  });
});
