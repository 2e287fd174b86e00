import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type AgentRequest,
  type AgentResult,
  findAgent,
  openReplay,
  openRunFile,
  recordApprover,
  recordModel,
  recordTool,
  textMessage,
} from "@trunkline/agent";
import { Redactor, TrunklineError } from "@trunkline/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { errorOf } from "../collect.js";
import { fakeTool, scripted } from "../tools.js";

const SECRET = "hunter2-hunter2";
let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "trunkline-record-"));
});
afterAll(async () => {
  await rm(home, { recursive: true, force: true });
});

const agent = findAgent("tools");

async function record(path: string): Promise<AgentResult> {
  const read = fakeTool("a.read", () => ({ text: `the password is ${SECRET}` }));
  const write = fakeTool("a.write", undefined, { readOnly: false });
  const broken = fakeTool("a.broken", () => {
    throw new TrunklineError("TIMEOUT", "Too slow.");
  });
  const request = scripted([
    { text: "Reading. ", calls: [{ tool: "a.read", args: { n: 1 } }, { tool: "a.broken" }] },
    {
      calls: [
        { tool: "a.write", args: { text: "$results[0].text" } },
        { tool: "a.write", args: { n: 2 } },
      ],
    },
    { text: `I wrote ${SECRET}.` },
  ]);
  await using sink = await openRunFile(path, { redactor: new Redactor().add(SECRET) });
  return await agent.run({
    ...request,
    model: recordModel(request.model, sink),
    tools: [read, write, broken].map((tool) => recordTool(tool, sink)),
    approve: recordApprover(
      async ({ args }) => (args.n === 2 ? { allowed: false, reason: "Not twice." } : { allowed: true }),
      sink,
    ),
  });
}

async function replayed(path: string, change: (request: AgentRequest) => AgentRequest = (request) => request) {
  const { model, tools, approve, prompt } = await openReplay(path);
  return await agent.run(change({ model, tools, approve, messages: prompt }));
}

describe("a recorded run", () => {
  it("replays without its model, tools and approver, with the same result", async () => {
    const path = join(home, "run.jsonl");
    const first = await record(path);
    expect(first.text).toContain(SECRET);
    const second = await replayed(path);
    expect(second.text).toBe("I wrote <redacted>.");
    expect(second).toMatchObject({ turns: first.turns, usage: first.usage, ended: first.ended });
    expect(second.messages).toHaveLength(first.messages.length);
    const shape = ({ messages }: AgentResult) =>
      messages.map(({ role, parts }) => [
        role,
        parts.map((part) => (part.type === "tool-result" ? part.isError : part.type)),
      ]);
    expect(shape(second)).toEqual(shape(first));
  });

  it("contains no secret, and is readable only by its owner", async () => {
    const path = join(home, "secret.jsonl");
    await record(path);
    const text = await readFile(path, "utf8");
    expect(text).not.toContain(SECRET);
    expect(text).toContain("<redacted>");
    if (process.platform !== "win32") expect((await stat(path)).mode & 0o777).toBe(0o600);
    const kinds = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).type);
    expect(kinds.filter((kind) => kind === "turn")).toHaveLength(3);
    expect(kinds.filter((kind) => kind === "approval")).toHaveLength(2);
  });

  it("reports the first difference when a run diverges", async () => {
    const path = join(home, "other.jsonl");
    await record(path);
    const error = await errorOf(
      replayed(path, (request) => ({ ...request, messages: [textMessage("user", "do it differently")] })),
    );
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT", data: { turn: 1, message: 2 } });
    expect(error.message).toMatch(/Recorded: .*do it".*Now: .*do it differently/);
  });

  it("reports a tool whose result changed, or that is called more often than recorded", async () => {
    const path = join(home, "tools.jsonl");
    await record(path);
    const error = await errorOf(
      replayed(path, (request) => ({
        ...request,
        tools: request.tools.map((tool) =>
          tool.title === "a.read" ? fakeTool("a.read", () => ({ text: "new" })) : tool,
        ),
      })),
    );
    expect(error.message).toMatch(/Turn 2 .*\(tool\) is different.*the password.*Now: .*new/);
    const { tools, model } = await openReplay(path);
    expect(await errorOf(tools[0]!.call({ n: 7 }, {}))).toMatchObject({
      message: expect.stringMatching(/Recorded: \{"n":1\}. Now: \{"n":7\}/),
    });
    expect(model).toMatchObject({ provider: "echo", id: "echo" });
  });

  it("records a model's failure", async () => {
    const path = join(home, "failure.jsonl");
    const request = scripted([{ text: "half", error: { code: "AUTH_REQUIRED", message: "no key" } }]);
    {
      await using sink = await openRunFile(path);
      await errorOf(agent.run({ ...request, model: recordModel(request.model, sink) }));
    }
    expect(await errorOf(replayed(path))).toMatchObject({ code: "AUTH_REQUIRED", message: "no key" });
  });

  it("can be read up to where a killed process stopped writing", async () => {
    const path = join(home, "torn.jsonl");
    await record(path);
    const text = await readFile(path, "utf8");
    await writeFile(path, text.slice(0, -20));
    const error = await errorOf(replayed(path));
    expect(error.message).toMatch(/has 2 turns/);
  });

  it("must have the right format and version", async () => {
    const path = join(home, "no-run.jsonl");
    await writeFile(path, '{"a":1}\n');
    expect(await errorOf(openReplay(path))).toMatchObject({ code: "CONFIG_INVALID" });
    await writeFile(path, '{"kind":"trunkline-run","version":99}\n');
    expect(await errorOf(openReplay(path))).toMatchObject({ message: expect.stringContaining("version 99") });
    expect(await errorOf(openReplay(join(home, "nowhere")))).toMatchObject({ code: "NOT_FOUND" });
  });
});
