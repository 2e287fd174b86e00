// `trunkline agent`: kinds of agent, sub-agents, budgets, and a long run.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { placeWithServers, script } from "./agent-support.js";
import { Place } from "./command.js";
import { testServer } from "./server-entries.js";

let place: Place;

beforeAll(() => {
  place = placeWithServers();
});

afterAll(() => place[Symbol.dispose]());

const echo = ["--provider", "echo"];

async function agent(turns: readonly object[], ...args: string[]) {
  place.write("script.jsonl", script(...turns));
  return await place.run(["agent", ...echo, "--script", "script.jsonl", ...args, "Work."]);
}

const sum = (a: number, b: number) => ({ tool: "everything.get-sum", args: { a, b } });

describe("trunkline agent", () => {
  it("uses native tool calls by default", async () => {
    const { code, stdout, stderr } = await agent([sum(1, 2), { text: "Three." }], "--tool", "everything.get-sum");
    expect({ code, stdout }).toEqual({ code: 0, stdout: "Three.\n" });
    expect(stderr).toBe('tool: everything.get-sum {"a":1,"b":2}\nobservation: The sum of 1 and 2 is 3.\n');
  });

  it("thinks, acts and observes in react mode", async () => {
    const step = (value: object) => ({ text: JSON.stringify(value) });
    const { code, stdout, stderr } = await agent(
      [
        step({ thought: "I have to add.", action: { tool: "everything_get-sum", args: { a: 1, b: 2 } } }),
        step({ thought: "That is it.", answer: "Three." }),
      ],
      ...["--name", "react", "--tool", "everything.get-sum"],
    );
    expect({ code, stdout }).toEqual({ code: 0, stdout: "Three.\n" });
    expect(stderr.split("\n")).toEqual([
      "thought: I have to add.",
      'tool: everything.get-sum {"a":1,"b":2}',
      "observation: The sum of 1 and 2 is 3.",
      "thought: That is it.",
      "",
    ]);
  });

  it("can start sub-agents, which share its servers and budget", async () => {
    const turns = [{ tool: "delegate", args: { task: "Add." } }, sum(1, 2), { text: "3" }, { text: "It is 3." }];
    const args = ["--tool", "everything.get-sum", "--usage"];
    const { stdout, stderr } = await agent(turns, ...args);
    expect(stdout).toBe("It is 3.\n");
    expect(stderr).toContain('\n  tool: everything.get-sum {"a":1,"b":2}\n');
    expect(stderr).toContain("4 turns");
    const limited = await agent(turns, ...args, "--max-turns", "2");
    expect(limited.code).toBe(1);
    expect(limited.stderr).toContain("the limit of 2 turns was reached");
  });

  it("starts no sub-agents with --no-delegate", async () => {
    const turns = [{ tool: "delegate", args: { task: "Add." } }, { text: "Alone." }];
    const { stderr } = await agent(turns, "--no-delegate");
    expect(stderr).toContain('There is no tool "delegate"');
  });

  it("shows no half of a secret where it shortens a call or its result", async () => {
    const secret = "hush-5d1f80c2b7";
    const hello = { ...testServer("hello"), env: { KEY: secret } };
    using own = new Place({ ".trunkline/mcp.json": { mcpServers: { hello } } }, { TRUNKLINE_TRUST: "all" });
    const repeat = (chars: number) => ({ tool: "hello.repeat", args: { text: `${"x".repeat(chars)} ${secret}` } });
    own.write("script.jsonl", script(repeat(1_980), repeat(1_991), { text: "Done." }));
    const args = [...echo, "--script", "script.jsonl", "--tool", "hello.repeat"];
    const { stdout, stderr } = await own.run(["agent", ...args, "Work."]);
    expect(stdout).toBe("Done.\n");
    expect(stderr.match(/characters\)/g)?.length).toBeGreaterThanOrEqual(2);
    expect(stderr).not.toContain("hush");
  });

  it("respects its token and time limits", async () => {
    const turn = { ...sum(1, 2), usage: { inputTokens: 900, outputTokens: 200 } };
    const tokens = await agent([turn, { text: "Enough." }], "--tool", "everything.get-sum", "--max-tokens", "1000");
    expect(tokens).toMatchObject({ code: 1, stdout: "Enough.\n" });
    expect(tokens.stderr).toContain("the limit of 1000 tokens was reached");
    const time = await agent([{ text: "Late.", delayMs: 60_000 }, { text: "In time." }], "--max-time", "0.5");
    expect(time).toMatchObject({ code: 1, stdout: "In time.\n" });
  });

  it("works for 30 turns with a server and the store, and finally finds what it stored earlier", async () => {
    mkdirSync(join(place.cwd, "notes"), { recursive: true });
    for (let number = 1; number <= 9; number++) {
      place.write(`notes/${number}.md`, `# Note ${number}\n\nThe answer of round ${number} is kept here.\n`);
    }
    const rounds = Array.from({ length: 9 }, (_, index) => index + 1).flatMap((number) => [
      { tool: "query", args: { steps: [{ op: "everything.echo", params: { message: `round ${number}` } }] } },
      { tool: "execute", args: { operations: [{ op: "add", params: { path: `notes/${number}.md` } }] } },
      {
        tool: "query",
        args: { steps: [{ op: "get", params: { hash: "$last.json.results[0].hash", include_content: true } }] },
      },
    ]);
    const turns = [
      { tool: "session", args: { action: "start", params: { label: "long" } } },
      ...rounds,
      { tool: "query", args: { steps: [{ op: "grep", params: { pattern: "round \\d is kept" } }] } },
      { text: "Nine notes." },
    ];
    expect(turns).toHaveLength(30);
    const { code, stdout, stderr } = await agent(
      turns,
      ...["--surface", "composite", "--store", join(place.base, "long-store"), "--yes", "--max-turns", "30", "--usage"],
    );
    expect(stderr).not.toContain("observation: error");
    expect({ code, stdout }).toEqual({ code: 0, stdout: "Nine notes.\n" });
    for (let number = 1; number <= 9; number++) {
      expect(stderr).toContain(`Echo: round ${number}`);
      expect(stderr).toContain(`The answer of round ${number} is kept here.`);
    }
    expect(stderr).toContain("30 turns");
  }, 60_000);
});
