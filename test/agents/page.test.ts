import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { type AgentResult, agentsPage } from "./results.js";

it("docs/agents.md shows the results; `npm run test:agents -- --write` writes both", async () => {
  const results = JSON.parse(readFileSync(new URL("results.json", import.meta.url), "utf8"));
  const list: AgentResult[] = Object.values(results);
  await expect(agentsPage(list)).toMatchFileSnapshot("../../docs/agents.md");
});
