// The tests of one agent: a test for each check.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { needs } from "../support/needs.js";
import { AGENTS, type AgentId, isInstalled, versionOf } from "./agents.js";
import { CHECKS, type CheckId, tokensAtStart } from "./checks.js";
import { KNOWN_FAILURES } from "./known-failures.js";
import { type Observed, observe } from "./observe.js";
import type { AgentResult } from "./results.js";

/** A folder for the results of each agent, if they are to be kept. */
const { TRUNKLINE_AGENTS_RESULTS: folder } = process.env;

export function describeAgent(id: AgentId): void {
  const agent = AGENTS[id];
  const isThere = isInstalled(agent);
  describe.skipIf(!isThere)(
    `${agent.title}${needs(`${agent.folder}: node scripts/install-agents.js`, isThere)}`,
    () => {
      let observed: Observed;
      const failures: Partial<Record<CheckId, string>> = {};
      beforeAll(async () => {
        observed = await observe(agent);
      });
      for (const [name, check] of Object.entries(CHECKS)) {
        const checkId = name as CheckId;
        const known = KNOWN_FAILURES[id][checkId];
        it(`${check.title}${known === undefined ? "" : ` (known to fail: ${known.because})`}`, () => {
          const problem = check.problem(observed, agent);
          const reason = problem && (known?.because ?? problem);
          if (reason !== undefined) failures[checkId] = reason;
          if (known === undefined) expect(problem).toBeUndefined();
          else if (!known.isRace) expect(problem, "This passes now. Remove it from known-failures.ts.").toBeDefined();
        });
      }
      afterAll(() => {
        if (folder === undefined || observed === undefined) return;
        const tokens = { direct: tokensAtStart(observed.direct, agent), through: tokensAtStart(observed.warm, agent) };
        const date = new Date().toISOString().slice(0, 10);
        const result: AgentResult = { title: agent.title, version: versionOf(agent), date, tokens, failures };
        writeFileSync(join(folder, `${id}.json`), JSON.stringify(result));
      });
    },
  );
}
