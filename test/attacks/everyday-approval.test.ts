// Everyday use asks nothing new: agents that work as before see no new question and no new error.
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Channel, openHub } from "../../packages/client/src/index.js";
import { configOf, stdio } from "../../packages/client/test/hub/fixtures.js";
import { script } from "../e2e/agent-support.js";
import { Place } from "../e2e/command.js";

let place: Place;

beforeEach(() => {
  place = new Place({ "note.md": "# Note\n", ".trunkline/mcp.json": { mcpServers: {} } }, { TRUNKLINE_TRUST: "all" });
});

afterEach(() => place[Symbol.dispose]());

describe("everyday use asks nothing", () => {
  it.each([
    ["a list", { operations: [{ op: "add", params: { path: "note.md" } }] }],
    ["parameters next to op", { operations: [{ op: "add", path: "note.md" }] }],
    ["nulls for omitted fields", { operations: [{ op: "add", params: { path: "note.md" }, as: null }], atomic: null }],
    ["text", { operations: '[{"op":"add","params":{"path":"note.md"}}]' }],
    [
      "references",
      {
        operations: [
          { op: "add", params: { path: "note.md" }, as: "a" },
          { op: "add", params: { content: "$a.hash", name: "b.md" } },
        ],
      },
    ],
  ])("of an agent that may add and writes its batch as %s", async (_, args) => {
    place.write("script.jsonl", script({ tool: "execute", args }, { text: "Done." }));
    const flags = ["--surface", "composite", "--store", join(place.base, "store"), "--allow", "add"];
    const { code, stdout, stderr } = await place.run([
      ...["ask", "--provider", "echo", "--script", "script.jsonl", ...flags, "Go."],
    ]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "Done.\n" });
    expect(stderr).toContain('"success":true');
    expect(stderr).not.toMatch(/did not run|wrong/);
  });

  it("of several clients that share a legacy server which never asks: their calls run side by side", async () => {
    const abilities = { elicitation: { form: {}, url: {} } };
    await using hub = await openHub(configOf(stdio("hello", ["--legacy-only"])), { answers: abilities, askWaitMs: 1 });
    const channels = Array.from(
      { length: 8 },
      (): Channel => ({ abilities, ask: async () => ({ action: "decline" }) }),
    );
    const results = await Promise.all(
      channels.flatMap((channel) => [1, 2, 3].map(() => hub.call("hello.hello", { name: "Ada" }, { channel }))),
    );
    expect(results.map(({ text }) => text)).toEqual(Array(24).fill("Hello, Ada!"));
  });

  it("of a client that answers the questions of its own calls, one after the other", async () => {
    const abilities = { elicitation: { form: {}, url: {} } };
    const channel: Channel = { abilities, ask: async () => ({ action: "accept", content: { name: "Ada" } }) };
    await using hub = await openHub(configOf(stdio("asking", ["--legacy-only"])), { answers: abilities });
    for (const tag of ["one", "two"]) {
      const { text } = await hub.call("asking.ask_form", { tag }, { channel });
      expect(JSON.parse(text)).toMatchObject({ answer: { action: "accept", content: { name: "Ada" } } });
    }
  });
});
