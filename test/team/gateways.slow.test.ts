// Two gateways on one database behind nginx, as deploy/ runs them.
import { request as httpRequest } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { callsOf, hasTeam, needsTeam, operation, startBalancedTeam } from "./team.js";
import { TeamClient } from "./team-client.js";

const HOST = "team.example";

describe.skipIf(!hasTeam)(`two gateways behind nginx${needsTeam}`, () => {
  let team: Awaited<ReturnType<typeof startBalancedTeam>>;
  let url: string;

  beforeAll(async () => {
    const args = ["--surface", "both", "--drain", "1", "--allow-host", HOST];
    team = await startBalancedTeam({
      gateways: [
        { name: "gateway-1", args },
        { name: "gateway-2", args },
      ],
      // Shorter than the call below, longer than a stream is silent.
      balancer: { change: (config) => config.replace("proxy_read_timeout 120s", "proxy_read_timeout 35s") },
    });
    url = team.balancer.url;
  });

  afterAll(async () => {
    await team?.[Symbol.asyncDispose]();
  });

  const counts = async (name: string) => await Promise.all(team.gateways.map((gateway) => callsOf(gateway, name)));

  it("share the requests that have no session, and what these store", async () => {
    const client = new TeamClient(url);
    for (let at = 0; at < 10; at += 1) {
      const added = await client.call("execute", operation("add", { content: `pelican ${at}`, name: `p${at}.md` }));
      expect(added).toMatchObject({ ok: true });
      const found = await client.call("execute", operation("get", { path: `p${at}.md`, include_content: true }));
      expect(found.text).toContain(`pelican ${at}`);
    }
    const [adds, gets] = await Promise.all([counts("add"), counts("get")]);
    for (const at of team.gateways.keys()) expect((adds[at] ?? 0) + (gets[at] ?? 0)).toBeGreaterThan(0);
    expect([...adds, ...gets].reduce((sum, count) => sum + count)).toBe(20);
  });

  it("keep a session at the gateway that opened it", async () => {
    const before = await counts("hello.hello");
    const client = new TeamClient(url, { modern: false });
    for (let call = 0; call < 10; call += 1) {
      const { text } = await client.call("mcp__hello__hello", { name: `Ada ${call}` });
      expect(text).toBe(`Hello, Ada ${call}!`);
    }
    expect(client.reopened).toBe(0);
    const owner = team.gateways.findIndex(({ name }) => client.session?.startsWith(`${name}.`));
    const after = await counts("hello.hello");
    expect(after.map((count, at) => count - (before[at] ?? 0))).toEqual(owner === 0 ? [10, 0] : [0, 10]);
    await client.close();
  });

  it("pass progress on while a call runs", async () => {
    const stop = new AbortController();
    const client = new TeamClient(url);
    const response = await client.stream(
      "tools/call",
      { name: "mcp__slow__wait", arguments: { ms: 600_000 } },
      stop.signal,
    );
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    while (!text.includes("notifications/progress")) text += (await reader?.read())?.value ?? "";
    stop.abort();
    await reader?.cancel().catch(() => {});
  });

  it("do not cut off a call that is silent for longer than nginx waits", async () => {
    const outcome = await new TeamClient(url).call("mcp__slow__wait", { ms: 45_000 });
    expect(outcome).toMatchObject({ ok: true, text: "waited 45000 ms" });
  });

  it("reject large bodies in JSON and foreign host names", async () => {
    const large = await new TeamClient(url).call("mcp__hello__hello", { name: "x".repeat(5 * 1024 * 1024) });
    expect(large).toMatchObject({ status: 413, error: { message: expect.stringContaining("4194304 bytes") } });
    const statusFor = (host: string) =>
      new Promise((resolve, reject) => {
        httpRequest(new URL("/readyz", url), { headers: { host } }, (response) => {
          response.resume().on("end", () => resolve(response.statusCode));
        })
          .on("error", reject)
          .end();
      });
    expect(await Promise.all([statusFor(HOST), statusFor("evil.example")])).toEqual([200, 403]);
  });

  it("replace the session of a gateway that is gone", async () => {
    const client = new TeamClient(url, { modern: false });
    await client.call("mcp__hello__hello", { name: "Ada" });
    const owner = team.gateways.find(({ name }) => client.session?.startsWith(`${name}.`));
    await owner?.end("SIGKILL");
    expect(await client.call("mcp__hello__hello", { name: "Ada" }, { attempts: 3 })).toMatchObject({
      ok: true,
      text: "Hello, Ada!",
    });
    expect(client.reopened).toBe(1);
    expect(client.session?.startsWith(`${owner?.name}.`)).toBe(false);
    await owner?.start();
  });
});
