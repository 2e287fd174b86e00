// Every gateway restarted in turn, with SIGTERM, while clients of both eras call.
import { describe, expect, it } from "vitest";
import { callsOf, hasTeam, needsTeam, operation, startBalancedTeam } from "./team.js";
import { TeamClient } from "./team-client.js";

const CLIENTS = 6;
const args = ["--surface", "both", "--drain", "1"];

describe.skipIf(!hasTeam)(`a rolling restart behind nginx${needsTeam}`, () => {
  it("loses no call", async () => {
    await using team = await startBalancedTeam({
      gateways: [
        { name: "gateway-1", args },
        { name: "gateway-2", args },
      ],
    });
    let isDone = false;
    const failures: unknown[] = [];
    const stored: string[] = [];
    /** Calls until the end. `attempts` says whether a client may repeat calls of a session that is gone. */
    const work = async (client: TeamClient, who: string, attempts: number) => {
      for (let call = 0; !isDone; call += 1) {
        const name = `${who}-${call}.md`;
        const calls: [string, Record<string, unknown>, string][] = [
          ["execute", operation("add", { content: `${name} is here`, name }), name],
          ["query", { steps: [{ op: "get", params: { path: name, include_content: true } }] }, `${name} is here`],
          ["mcp__hello__hello", { name }, `Hello, ${name}!`],
          ["mcp__slow__wait", { ms: 300 }, "waited 300 ms"],
        ];
        for (const [tool, params, expected] of calls) {
          const outcome = await client.call(tool, params, { attempts });
          if (!outcome.ok || !outcome.text.includes(expected)) failures.push({ who, tool, ...outcome });
          else if (tool === "execute") stored.push(name);
        }
      }
    };
    const modern = Array.from({ length: CLIENTS }, () => new TeamClient(team.balancer.url));
    const legacy = Array.from({ length: CLIENTS }, () => new TeamClient(team.balancer.url, { modern: false }));
    const working = [
      ...modern.map((client, at) => work(client, `modern-${at}`, 1)),
      ...legacy.map((client, at) => work(client, `legacy-${at}`, 3)),
    ];
    const exits: (number | null)[] = [];
    for (const gateway of [...team.gateways, ...team.gateways]) {
      await expect.poll(() => callsOf(gateway, "hello.hello"), { interval: 200 }).toBeGreaterThan(10);
      exits.push(await gateway.end("SIGTERM"));
      await gateway.start();
      // Until nginx uses it again, the other one must stay.
      await expect.poll(() => callsOf(gateway, "hello.hello"), { interval: 200 }).toBeGreaterThan(0);
    }
    isDone = true;
    await Promise.all(working);
    expect(failures, team.balancer.log()).toEqual([]);
    expect(exits).toEqual([0, 0, 0, 0]);
    // Sessions of a gateway that stops are opened again at another one; nothing else is repeated.
    expect(legacy.reduce((sum, { reopened }) => sum + reopened, 0)).toBeGreaterThan(0);
    for (const { repeated, reopened } of legacy) expect(repeated).toBe(reopened);
    const listed = await new TeamClient(team.balancer.url).call("query", {
      steps: [{ op: "status", params: {} }],
    });
    expect(listed.text).toContain(`"total_objects":${stored.length}`);
  });
});
