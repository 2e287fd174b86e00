// Records a run with a model and tools, then replays it without either, as you would in a test of your own agent.
//   npx trunkline --mcp examples/record-and-replay/mcp.jsonc run examples/record-and-replay/main.ts
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agent, isTrunklineError } from "trunkline";

const folder = await mkdtemp(join(tmpdir(), "record-and-replay-"));
const file = join(folder, "run.jsonl");
const prompt = "Greet Ada, and tell me what you said.";

// A scripted model, so that the example runs without one; leave `model` out to use yours.
const script = `{"tool": "hello.hello", "args": {"name": "Ada"}}\n{"text": "I said it."}`;
const calls: string[] = [];
const first = await agent("tools", prompt, {
  tools: ["hello.*"],
  // The server does not mark its tools as read-only, so they need approval. Here the script gives it.
  allow: ["hello.hello"],
  model: { provider: "echo", echo: { script } },
  record: file,
  onEvent: (event) => {
    if (event.type === "tool-result") calls.push(`${event.title}: ${event.text}`);
  },
});
console.log(calls.join("\n"));
console.log(first.text);

// Replay needs no tools and no model: the file has everything.
const again = await agent("tools", prompt, { replay: file });
console.log(`repeated: ${again.text}`);
assert.equal(again.text, first.text);
assert.equal(again.turns, first.turns);

// A run that differs from the recorded one reports where.
const other = agent("tools", "Greet Bob.", { replay: file });
await assert.rejects(other, (error) => isTrunklineError(error, "INVALID_ARGUMENT"));

assert.match(calls[0] ?? "", /Hello, Ada!/);
await rm(folder, { recursive: true });
console.log("done");
