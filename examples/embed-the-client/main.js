// Uses the client as a library: node examples/embed-the-client/main.js
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { loadConfig, openHub } from "@trunkline/client";
import { isTrunklineError } from "@trunkline/core";

const config = await loadConfig({
  cwd: fileURLToPath(new URL("../..", import.meta.url)),
  mcpPath: fileURLToPath(new URL("mcp.jsonc", import.meta.url)),
  // You decide what variables expand to. Only `openHub()` without a configuration reads the environment itself.
  env: process.env,
});

const hub = await openHub(config, { clientInfo: { name: "embed-the-client", version: "1.0.0" } });
hub.onCatalogChanged(() => console.log(`the catalogue has ${hub.tools().length} tools now`));

try {
  // Every server with its state; "slow" is lazy and waits for its first use.
  for (const { name, state, toolCount, revision } of hub.status()) console.log({ name, state, toolCount, revision });

  // Call a tool by any of its names.
  const greeting = await hub.call("hello.hello", { name: "Ada" });
  console.log(greeting.text);
  assert.equal(greeting.text, "Hello, Ada!");
  assert.equal((await hub.call("mcp__hello__repeat", { text: "hub", count: 2 })).text, "hub hub");

  // Sub-agents share the hub: thirty callers, one connection per server.
  const subAgent = async (/** @type {number} */ number) => (await hub.call("slow.wait", { ms: number })).text;
  const answers = await Promise.all(Array.from({ length: 30 }, (_, number) => subAgent(number)));
  assert.equal(answers.length, 30);
  assert.equal(hub.status().filter(({ state }) => state === "connected").length, 2);

  // Errors have codes. A typo gets the nearest name as a hint and runs nothing.
  await assert.rejects(hub.call("hello.helo"), (error) => isTrunklineError(error, "TOOL_NOT_FOUND"));

  // A call can be cancelled: the server is notified and the connection stays open.
  await assert.rejects(hub.call("slow.wait", { ms: 60_000 }, { signal: AbortSignal.timeout(100) }));
  assert.equal((await hub.call("slow.cancelled_count")).isError, false);
  console.log("done");
} finally {
  await hub.close();
}
