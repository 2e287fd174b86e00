// A server that dies during a call: its exit code and its last lines on stderr reach the caller.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { outcomeOf, Place } from "./command.js";
import { testServer } from "./server-entries.js";

let place: Place;

beforeAll(() => {
  const crashing = { ...testServer("crashing"), env: { API_KEY: "s3cret-of-crashing" } };
  place = new Place({ ".trunkline/mcp.json": { mcpServers: { crashing } } }, { TRUNKLINE_TRUST: "all" });
});

afterAll(() => place[Symbol.dispose]());

const stderr = "cannot open \u001b[31mdata.db\nthe key was s3cret-of-crashing";
const report = [
  'tools/call on "crashing" failed: the server exited (exit code 7). Its last lines on stderr:',
  "  cannot open \\u001b[31mdata.db",
  "  the key was <redacted>",
  "  Error: crashing in mid-call with exit code 7",
].join("\n");

describe("a server that dies during", () => {
  it("trunkline call", async () => {
    const outcome = await place.run(["call", "crashing.crash", "code=7", `stderr=${stderr}`]);
    expect(outcome).toEqual({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining(`trunkline: ${report}\n  It may or may not have taken effect.\n`),
    });
    expect(outcome.stderr).not.toContain("s3cret");
    expect(outcome.stderr).not.toContain("\u001b[31m");
  });

  it.each(["direct", "composite"])("a call through trunkline serve (%s)", async (surface) => {
    const params =
      surface === "direct"
        ? { name: "mcp__crashing__crash", arguments: { code: 7, stderr } }
        : { name: "execute", arguments: { steps: [{ op: "crashing.crash", params: { code: 7, stderr } }] } };
    const initialize = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
    const serving = place.start(["serve", "--surface", surface], { env: { TRUNKLINE_LOG_LEVEL: "warn" } });
    const ended = outcomeOf(serving);
    for (const message of [
      { id: 1, method: "initialize", params: initialize },
      { method: "notifications/initialized" },
      { id: 2, method: "tools/call", params },
    ]) {
      serving.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    }
    await new Promise<void>((resolve) => {
      serving.stdout?.on("data", (text: string) => text.includes('"id":2') && resolve());
    });
    serving.stdin?.end();
    const { stdout, stderr: log } = await ended;
    const answer = JSON.parse(stdout.split("\n").find((line) => line.includes('"id":2')) ?? "");
    const texts: string[] = [];
    JSON.stringify(answer, (_, value: unknown) => {
      if (typeof value === "string") texts.push(value.startsWith("{") ? JSON.stringify(JSON.parse(value)) : value);
      return value;
    });
    const said = texts.join("\n");
    expect(said).toContain("the server exited (exit code 7)");
    expect(said).toContain("the key was <redacted>");
    // The log says it too.
    expect(log).toContain('Server \\"crashing\\" exited (exit code 7).');
    expect(log).toContain("the key was <redacted>");
    expect(stdout + log).not.toContain("s3cret");
    expect(stdout + log).not.toContain("\u001b[31m");
  });
});
