import { describe, expect, it } from "vitest";
import { killsUnderLoad } from "../../bench/team/kills.js";
import { startPostgres } from "../../packages/store-postgres/test/support/postgres-cluster.js";
import { binaries, hasTeam, needsTeam } from "./team.js";

describe.skipIf(!hasTeam)(`gateways that are killed with -9 under load${needsTeam}`, () => {
  it("lose no acknowledged write, give no wrong answer, and hardly any client notices", async () => {
    await using cluster = await startPostgres(binaries ?? "");
    const outcome = await killsUnderLoad({ url: cluster.createDatabase(), seconds: 30, everyMs: 5_000, clients: 6 });
    expect(outcome).toMatchObject({ lost: 0, wrong: 0, isSound: true });
    expect(outcome.errorRate, outcome.problems.join("\n")).toBeLessThan(0.01);
    expect(outcome.kills).toBeGreaterThan(1);
    expect(outcome.acknowledged).toBeGreaterThan(0);
  });
});
