// Progress sent just before the result passes the gateway, in every call.
import { describe, expect, it } from "vitest";
import { openHub } from "../../packages/client/src/index.js";
import { configOf, http } from "../../packages/client/test/hub/fixtures.js";
import { outcomeOf, Place, seen } from "./command.js";
import { testServer } from "./server-entries.js";

const CALLS = 200;
const EACH = 3;
const ALL = Array.from({ length: CALLS }, () => "1,2,3");

const upstreams = [
  ["modern", []],
  ["legacy", ["--legacy-only"]],
] as const;

const place = (args: readonly string[]) =>
  new Place(
    { ".trunkline/mcp.json": { mcpServers: { slow: testServer("slow", ...args) } } },
    { TRUNKLINE_TRUST: "all" },
  );

describe("progress through trunkline serve", () => {
  it.each(upstreams)("reaches a legacy client over stdio (%s upstream)", async (_, args) => {
    using files = place(args);
    const serving = files.start(["serve", "--surface", "direct"]);
    const ended = outcomeOf(serving);
    const progress = new Map<unknown, number[]>();
    const before: string[] = [];
    let rest = "";
    const finished = new Promise<void>((resolve) => {
      serving.stdout?.on("data", (text: string) => {
        const lines = (rest + text).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) {
          const { id, method, params } = JSON.parse(line);
          if (method === "notifications/progress") {
            const own = progress.get(params.progressToken) ?? [];
            own.push(params.progress);
            progress.set(params.progressToken, own);
          } else if (id > 0) before.push((progress.get(`call-${id}`) ?? []).join());
        }
        if (before.length === CALLS) resolve();
      });
    });
    const send = (message: object) => serving.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    const clientInfo = { name: "test", version: "1" };
    send({ id: 0, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo } });
    send({ method: "notifications/initialized" });
    for (let id = 1; id <= CALLS; id++) {
      const params = { name: "mcp__slow__burst", arguments: { count: EACH }, _meta: { progressToken: `call-${id}` } };
      send({ id, method: "tools/call", params });
    }
    await finished;
    expect(before).toEqual(ALL);
    serving.stdin?.end();
    await ended;
  });

  it.each(upstreams)("reaches a modern client over HTTP (%s upstream)", async (_, args) => {
    using files = place(args);
    const serving = files.start(["serve", "--http", "--port", "0", "--no-token", "--surface", "direct"]);
    const ended = outcomeOf(serving);
    const [url] = await seen(serving.stderr, /http:\/\/[\d.]+:\d+\/mcp/);
    {
      await using hub = await openHub(configOf(http("gateway", url)));
      expect(hub.status()[0]?.revision).toBe("2026-07-28");
      const received: string[] = [];
      for (let made = 0; made < CALLS; made += 20) {
        const batch = Array.from({ length: 20 }, async () => {
          const own: number[] = [];
          const onProgress = ({ progress }: { progress: number }) => own.push(progress);
          await hub.callTool("gateway", "mcp__slow__burst", { count: EACH }, { onProgress });
          received.push(own.join());
        });
        await Promise.all(batch);
      }
      expect(received).toEqual(ALL);
    }
    serving.kill("SIGTERM");
    await ended;
  });
});
