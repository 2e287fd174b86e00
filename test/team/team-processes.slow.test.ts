// Several `trunkline serve --http` processes on one database: what is true in one process is true of real ones, and of one
// that is killed.
import type { ChildProcess } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import {
  envelope,
  type Message,
  modernHeaders,
  post,
  read,
  Session,
  StreamReader,
} from "../../packages/gateway/test/endpoints/http-client.js";
import { outcomeOf, Place, seen } from "../e2e/command.js";
import { testServer } from "../e2e/server-entries.js";
import { hasPostgres, needsPostgres } from "./team.js";
import { accept, call, capabilities, task, teamDatabase } from "./team-support.js";

describe.skipIf(!hasPostgres)(`trunkline serve --http, several times on one database${needsPostgres}`, () => {
  const database = teamDatabase();
  let place: Place;

  beforeAll(async () => {
    const mcpServers = { asking: testServer("asking"), tasking: testServer("tasking"), slow: testServer("slow") };
    place = new Place({ ".trunkline/mcp.json": { mcpServers } }, { TRUNKLINE_TRUST: "all" });
  });

  afterAll(() => {
    place?.[Symbol.dispose]();
  });

  async function serve(name: string, ...more: string[]) {
    const args = ["serve", "--http", "--port", "0", "--no-token", "--surface", "both", "--gateway", name];
    const child: ChildProcess = place.startProcess([...args, "--store", database.url, ...more]);
    const outcome = outcomeOf(child);
    onTestFinished(async () => {
      child.kill("SIGKILL");
      await outcome;
    });
    const [, url = ""] = await seen(child.stderr, /listening at (\S+)/);
    const kill = async (signal: NodeJS.Signals) => {
      child.kill(signal);
      return await outcome;
    };
    return { url, kill };
  }

  const ask = (url: string, more: object = {}): Promise<Message> =>
    call(url, "mcp__asking__ask_form", { tag: "t" }, more);
  const answers = ({ inputRequests }: Message) =>
    Object.fromEntries(Object.keys(inputRequests).map((key) => [key, accept("Ada")]));

  it("answers a question of one gateway at another, and reports a gateway that was killed in between", async () => {
    const [a, b] = await Promise.all([serve("a"), serve("b")]);
    const first = (await ask(a.url)).result;
    const more = { requestState: first.requestState, inputResponses: answers(first) };
    expect((await ask(b.url, more)).result.content[0].text).toContain("Ada");

    const second = (await ask(a.url)).result;
    await a.kill("SIGKILL");
    const gone = await ask(b.url, { requestState: second.requestState, inputResponses: answers(second) });
    expect(gone.error).toMatchObject({ message: expect.stringContaining("is gone"), data: { retryable: true } });
    const repeated = (await ask(b.url)).result;
    expect(repeated).toMatchObject({ resultType: "input_required" });
  });

  it("ends a call that a client waits for at another gateway when its own one is killed", async () => {
    const [a, b] = await Promise.all([serve("a"), serve("b")]);
    const operations = [
      { op: "asking.ask_form", params: {} },
      { op: "slow.wait", params: { ms: 600_000 } },
    ];
    const start = (url: string, more: object = {}) => {
      const meta = envelope(capabilities, { progressToken: 1 });
      const params = { name: "execute", arguments: { operations }, ...more, _meta: meta };
      const request = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
      return post(url, request, modernHeaders("tools/call", params));
    };
    const asked = (await read(await start(a.url))).last.result;
    const answered = { requestState: asked.requestState, inputResponses: answers(asked) };
    const stream = new StreamReader(await start(b.url, answered));
    expect(await stream.next()).toMatchObject({ method: "notifications/progress" });
    await a.kill("SIGKILL");
    let last: Message = await stream.next();
    while (last?.method === "notifications/progress") last = await stream.next();
    expect(last.error).toMatchObject({ data: { reason: "requestState", retryable: true } });
  });

  it("does not run a batch again whose gateway was killed", async () => {
    const [a, b] = await Promise.all([serve("a"), serve("b")]);
    const operations = [{ op: "slow.wait", params: { ms: 600_000 } }];
    const args = { operations, idempotency_key: "killed" };
    const params = { name: "execute", arguments: args, _meta: envelope(capabilities, { progressToken: 1 }) };
    const request = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
    const running = new StreamReader(await post(a.url, request, modernHeaders("tools/call", params)));
    expect(await running.next()).toMatchObject({ method: "notifications/progress" });
    const waiting = call(b.url, "execute", args);
    await a.kill("SIGKILL");
    expect(JSON.stringify((await waiting).result)).toContain("its outcome is unknown");
    await running.next().catch(() => undefined);
  });

  it("runs tasks that are polled and cancelled at another, and keeps their results over a restart", async () => {
    const [a, b] = await Promise.all([serve("a"), serve("b")]);
    const { taskId } = (await call(a.url, "mcp__tasking__work", { steps: 3 })).result;
    let polled = (await task(b.url, "get", taskId)).result;
    while (polled.status === "working") polled = (await task(b.url, "get", taskId)).result;
    expect(polled).toMatchObject({ status: "completed" });
    const forever = (await call(a.url, "mcp__tasking__forever")).result;
    await task(b.url, "cancel", forever.taskId);
    expect((await task(a.url, "get", forever.taskId)).result).toMatchObject({ status: "cancelled" });
    await a.kill("SIGKILL");
    const again = await serve("a");
    for (const { url } of [again, b]) {
      expect((await task(url, "get", taskId)).result).toMatchObject({ status: "completed", result: polled.result });
    }
  });

  it("runs a batch once if two gateways get it at once", async () => {
    const [a, b] = await Promise.all([serve("a"), serve("b")]);
    const operations = [
      { op: "slow.wait", params: { ms: 300 } },
      { op: "add", params: { content: "once", name: "once.md" } },
    ];
    const args = { operations, idempotency_key: "once" };
    const [one, two] = await Promise.all([a, b].map(({ url }) => call(url, "execute", args)));
    expect(two.result.structuredContent).toEqual(one.result.structuredContent);
    const versions = await call(b.url, "query", { steps: [{ op: "get", params: { path: "once.md" } }] });
    expect(JSON.stringify(versions.result)).not.toContain("NOT_FOUND");
  });

  it("notifies a subscriber of one gateway about a document that was added at another", async () => {
    const [a, b] = await Promise.all([serve("a"), serve("b")]);
    const add = (url: string, content: string) =>
      call(url, "execute", { operations: [{ op: "add", params: { content, name: "shared.md" } }] });
    await add(b.url, "one");
    const uri = "trunkline://document/shared.md";
    const params = { notifications: { resourceSubscriptions: [uri] }, _meta: envelope({}) };
    const request = { jsonrpc: "2.0", id: 1, method: "subscriptions/listen", params };
    const stream = new StreamReader(await post(a.url, request, modernHeaders("subscriptions/listen", params)));
    expect(await stream.next()).toMatchObject({ params: { notifications: { resourceSubscriptions: [uri] } } });
    const session = await Session.open(a.url);
    const legacy = new StreamReader(await session.get());
    await session.request("resources/subscribe", { uri });
    await add(b.url, "two");
    for (const notified of [stream, legacy]) {
      expect(await notified.next()).toMatchObject({ method: "notifications/resources/updated", params: { uri } });
      await notified.cancel();
    }
  });

  it("ends with 0 on SIGTERM while a call waits for an answer, which then gets an error that says so", async () => {
    const [a, b] = await Promise.all([serve("a"), serve("b")]);
    const waiting = (await ask(a.url)).result;
    expect(await a.kill("SIGTERM")).toMatchObject({ code: 0 });
    const late = await ask(b.url, { requestState: waiting.requestState, inputResponses: answers(waiting) });
    expect(late.error).toMatchObject({ message: expect.stringContaining("is gone"), data: { retryable: true } });
  });

  it("starts without its database, serves upstream tools, and joins the others when it is back", async () => {
    const b = await serve("b");
    database.cluster.stop();
    const a = await serve("a");
    expect((await call(a.url, "mcp__tasking__plain")).result).toMatchObject({ resultType: "complete" });
    expect((await fetch(new URL("/readyz", a.url))).status).toBe(503);
    const asked = (await ask(a.url)).result;
    database.cluster.start();
    const more = { requestState: asked.requestState, inputResponses: answers(asked) };
    // Both gateways need a moment to connect again.
    await expect.poll(async () => (await ask(b.url, more)).result?.resultType).toBe("complete");
    await expect.poll(async () => (await fetch(new URL("/readyz", a.url))).status).toBe(200);
  });

  it("refuses a name that a living gateway has, and a name for a store in a folder", async () => {
    await serve("a");
    const again = ["serve", "--http", "--port", "0", "--no-token", "--gateway", "a"];
    expect(await place.runProcess([...again, "--store", database.url])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('A gateway named "a" already uses this store.'),
    });
    expect(await place.runProcess(again)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--gateway needs a store in PostgreSQL"),
    });
  });
});
