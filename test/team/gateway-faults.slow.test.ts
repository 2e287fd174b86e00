// Gateways while their database or their clock fails.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { bin } from "../e2e/command.js";
import { testServer } from "../e2e/server-entries.js";
import type { GatewayProcess } from "./gateway-process.js";
import { hasPostgres, needsPostgres, operation, startTeam, type Team } from "./team.js";
import { TeamClient } from "./team-client.js";

const args = ["--surface", "both"];
const LARGE = "a large result ".repeat(20_000);
const HOUR_MS = 3_600_000;

const get = (path: string) => ({ steps: [{ op: "get", params: { path, include_content: true } }] });

/** Stops the database's processes without ending them, as a machine does that hangs. */
function freeze({ cluster }: Team): () => void {
  const backends = cluster
    .run("SELECT pid FROM pg_stat_activity")
    .trim()
    .split("\n")
    .map(Number)
    .filter((pid) => pid > 0);
  const [parent = 0] = backends.flatMap((pid) => {
    try {
      return [Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1])];
    } catch {
      // The one that answered the question.
      return [];
    }
  });
  const pids = [parent, ...backends];
  const signal = (name: NodeJS.Signals) => {
    for (const pid of pids) {
      try {
        process.kill(pid, name);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
      }
    }
  };
  signal("SIGSTOP");
  return () => signal("SIGCONT");
}

/** Upstream tools go on, also with large results; what needs the store fails, and says so. */
async function expectWithoutStore(gateway: GatewayProcess): Promise<void> {
  const client = new TeamClient(gateway.url);
  const [hello, large, add, read] = await Promise.all([
    client.call("mcp__hello__hello", { name: "Ada" }),
    client.call("execute", operation("hello.repeat", { text: LARGE, count: 1 })),
    client.call("execute", operation("add", { content: "x", name: "while-down.md" })),
    client.call("query", get("a.md")),
  ]);
  expect(hello.text).toBe("Hello, Ada!");
  expect(large).toMatchObject({ ok: true, text: expect.stringContaining("a large result a large result") });
  for (const { ok, text } of [add, read]) {
    expect(ok).toBe(false);
    expect(text).toContain("STORE_UNAVAILABLE");
  }
  // Its answer is kept for a second.
  await expect.poll(async () => (await gateway.page("/readyz")).text).toBe("The store cannot be reached.\n");
  expect((await gateway.page("/healthz")).status).toBe(200);
  const { text } = await gateway.page("/metrics");
  expect(text).toContain("trunkline_ready 0\n");
  expect(text).toContain("trunkline_store_up 0\n");
}

async function expectRecovery(gateway: GatewayProcess): Promise<void> {
  const client = new TeamClient(gateway.url);
  await expect.poll(async () => (await gateway.page("/readyz")).status).toBe(200);
  expect((await client.call("query", get("a.md"), { attempts: 5 })).text).toContain("before");
  const { text } = await gateway.page("/metrics");
  expect(text).toContain("trunkline_store_up 1\n");
  expect(text).toMatch(/^trunkline_index_jobs \d+$/m);
  for (const state of ["used", "idle", "waiting"])
    expect(text).toMatch(new RegExp(`^trunkline_store_connections\\{state="${state}"\\} \\d+$`, "m"));
  expect(await client.call("execute", operation("add", { content: "y", name: "after.md" }))).toMatchObject({
    ok: true,
  });
}

describe.skipIf(!hasPostgres)(`a gateway whose database fails${needsPostgres}`, () => {
  async function startOne(): Promise<{ team: Team; gateway: GatewayProcess }> {
    const team = await startTeam({ gateways: [{ name: "gateway-1", args }], servers: { hello: testServer("hello") } });
    onTestFinished(() => team[Symbol.asyncDispose]());
    const gateway = team.gateways[0] as GatewayProcess;
    const added = await new TeamClient(gateway.url).call(
      "execute",
      operation("add", { content: "before", name: "a.md" }),
    );
    expect(added.ok).toBe(true);
    return { team, gateway };
  }

  it("goes on with upstream tools while the database is down, and recovers by itself", async () => {
    const { team, gateway } = await startOne();
    team.cluster.stop("immediate");
    await expectWithoutStore(gateway);
    team.cluster.start();
    await expectRecovery(gateway);
  });

  it("goes on with upstream tools while the database hangs, and recovers by itself", async () => {
    const { team, gateway } = await startOne();
    const thaw = freeze(team);
    try {
      await expectWithoutStore(gateway);
    } finally {
      thaw();
    }
    await expectRecovery(gateway);
  });

  it("starts without a database, and uses it when it is there", async () => {
    const { team, gateway } = await startOne();
    await gateway.end("SIGTERM");
    team.cluster.stop("immediate");
    await gateway.start({ ready: false });
    await expectWithoutStore(gateway);
    team.cluster.start();
    await expectRecovery(gateway);
  });
});

describe.skipIf(!hasPostgres)(`gateways with different clocks${needsPostgres}`, () => {
  it("agree on documents, versions, snapshots and what gc keeps", async () => {
    const skewed = (hours: number) => ({
      NODE_OPTIONS: `--require ${fileURLToPath(new URL("skewed-clock.cjs", import.meta.url))}`,
      TEST_SKEW_MS: String(hours * HOUR_MS),
    });
    await using team = await startTeam({
      servers: { hello: testServer("hello") },
      gateways: [
        { name: "early", args, env: skewed(-12) },
        { name: "late", args, env: skewed(12) },
      ],
    });
    const [early, late] = team.gateways.map(({ url }) => new TeamClient(url)) as [TeamClient, TeamClient];
    const add = async (client: TeamClient, content: string) =>
      expect(await client.call("execute", operation("add", { content, name: "a.md" }))).toMatchObject({ ok: true });
    await add(late, "first");
    await add(early, "second");
    await late.call("execute", operation("snapshot", { label: "between" }));
    await add(early, "third");
    await add(late, "fourth");
    for (const client of [early, late]) {
      expect((await client.call("query", get("a.md"))).text).toContain("fourth");
      const { text } = await client.call("query", {
        steps: [{ op: "list", params: { snapshot: "between" } }],
      });
      expect(text).toContain(`"hash":"${createHash("sha256").update("second").digest("hex")}"`);
    }
    // A large result that the early gateway has just stored must survive gc of the late one.
    const spilled = await early.call("execute", operation("hello.repeat", { text: LARGE, count: 1 }));
    const [, hash = ""] = /"hash":"([0-9a-f]+)"/.exec(spilled.text) ?? [];
    expect(hash).not.toBe("");
    expect(gcWith(team, skewed(12))).toBe(0);
    const part = { steps: [{ op: "get", params: { hash, include_content: true } }] };
    expect((await late.call("query", part)).text).toContain("a large result");
  });
});

/** Runs `store gc` with more in its environment, and returns its exit code. */
function gcWith({ place }: Team, env: Record<string, string>): number | null {
  const { cwd } = place;
  return spawnSync(process.execPath, [bin, "store", "gc"], { cwd, env: { ...place.env, ...env } }).status;
}
