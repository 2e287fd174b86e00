// Calls several servers in parallel; a failing call does not affect the others:
//   npx trunkline --mcp examples/fan-out/mcp.jsonc run examples/fan-out/main.ts
import assert from "node:assert/strict";
import { hub, isTrunklineError } from "trunkline";

interface Errand {
  tool: string;
  args: Record<string, unknown>;
}

const errands: Errand[] = [
  { tool: "hello.hello", args: { name: "Ada" } },
  { tool: "everything.get-sum", args: { a: 2, b: 3 } },
  { tool: "github.search_issues", args: { q: "timeout" } },
  // A tool that reports a failure returns a result and does not throw.
  { tool: "github.fail", args: { message: "not today" } },
  // A tool that does not exist throws.
  { tool: "hello.helo", args: {} },
];

// The first call that needs a server connects it; all other calls share the connection.
const outcomes = await Promise.all(
  errands.map(async ({ tool, args }) => {
    try {
      const { text, isError } = await hub.call(tool, args);
      return { tool, outcome: isError ? "failed" : "ok", text: text.split("\n")[0] ?? "" };
    } catch (error) {
      if (!isTrunklineError(error)) throw error;
      return { tool, outcome: error.code, text: error.hint ?? "" };
    }
  }),
);
for (const { tool, outcome, text } of outcomes)
  console.log(`${tool.padEnd(22)} ${outcome.padEnd(15)} ${text.slice(0, 60)}`);

assert.deepEqual(
  outcomes.map(({ outcome }) => outcome),
  ["ok", "ok", "ok", "failed", "TOOL_NOT_FOUND"],
);
const tools = await hub.tools();
console.log(`${tools.length} tools on ${new Set(tools.map(({ server }) => server)).size} servers`);
assert.equal((await hub.status()).filter(({ state }) => state === "connected").length, 3);
console.log("done");
