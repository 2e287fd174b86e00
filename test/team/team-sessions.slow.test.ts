import { describe, expect, it } from "vitest";
import { post, read, Session } from "../../packages/gateway/test/endpoints/http-client.js";
import { asContentStore } from "../../packages/store/src/index.js";
import { hasPostgres, needsPostgres } from "./team.js";
import { accept, call, startGateway, teamDatabase } from "./team-support.js";

describe.skipIf(!hasPostgres)(`several gateways on one store${needsPostgres}`, () => {
  const database = teamDatabase();

  it("name themselves in legacy sessions, and answer 404 to those of others", async () => {
    const [a, b] = await Promise.all([startGateway(database.url, "a"), startGateway(database.url, "b")]);
    const session = await Session.open(a.url);
    expect(session.id).toMatch(/^a\.[0-9a-f-]{36}$/);
    const request = { jsonrpc: "2.0", id: 2, method: "tools/list", params: {} };
    const elsewhere = await read(await post(b.url, request, session.headers));
    expect(elsewhere).toMatchObject({ status: 404, last: { error: { code: -32001 } } });
    expect((await session.call("echo", { text: "hi" })).last.result).toBeDefined();
    expect((await Session.open(b.url)).id).toMatch(/^b\./);
  });

  it("report the changes of documents that others make, but not those of results", async () => {
    const [a, b] = await Promise.all([startGateway(database.url, "a"), startGateway(database.url, "b")]);
    const told: string[] = [];
    const stop = await asContentStore(a.store).onDocumentChanged?.((path) => told.push(path));
    await b.store.add({ content: "one", name: "result.json", collection: "results" });
    await b.store.add({ content: "one", name: "notes.md" });
    await expect.poll(() => told).toEqual(["notes.md"]);
    await b.store.update({ name: "notes.md", tags: ["x"] });
    await expect.poll(() => told).toEqual(["notes.md", "notes.md"]);
    database.cluster.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'");
    await b.store.delete({ name: "notes.md" });
    await expect.poll(() => told).toEqual(["notes.md", "notes.md", "notes.md"]);
    stop?.();
    await b.store.add({ content: "two", name: "more.md" });
    await expect.poll(async () => (await a.store.list({ pathsOnly: true })).total).toBe(1);
    expect(told).toHaveLength(3);
  });

  it("continue each other's cursors, and know each other's hashes", async () => {
    const [a, b] = await Promise.all([startGateway(database.url, "a"), startGateway(database.url, "b")]);
    for (const name of ["p1.md", "p2.md", "p3.md"]) {
      await a.store.add({ content: `pelicans of ${name}`, name, collection: "birds" });
    }
    const birds = { collection: "birds", limit: 2 };
    const listed = await a.store.list({ ...birds, sortBy: "name" });
    const [cursor = ""] = [listed.cursor];
    expect(await b.store.list({ ...birds, sortBy: "name", cursor })).toMatchObject({ documents: [{ path: "p3.md" }] });
    const query = { ...birds, query: "pelicans", type: "keyword" } as const;
    const found = await a.store.search(query);
    const rest = await b.store.search({ ...query, cursor: found.cursor ?? "" });
    expect([...found.results, ...rest.results].map(({ path }) => path).sort()).toEqual(["p1.md", "p2.md", "p3.md"]);
    const hash = await a.store.put(new TextEncoder().encode("by hash"));
    expect(await b.store.has(hash)).toBe(true);
  });

  it("let a call that waits for an answer end at another gateway while they stop", async () => {
    const stopping = { graceMs: 60_000 };
    const [a, b] = await Promise.all([startGateway(database.url, "a", stopping), startGateway(database.url, "b")]);
    const { requestState } = (await call(a.url, "ask", { key: "who" })).result;
    const closed = a.close();
    const more = { requestState, inputResponses: { who: accept("Ada") } };
    expect((await call(b.url, "ask", {}, more)).result).toMatchObject({ resultType: "complete" });
    await closed;
    expect((await call(b.url, "ask", {}, more)).error).toMatchObject({ data: { retryable: true } });
  });

  it("remove what a gateway that was killed left behind", async () => {
    const a = await startGateway(database.url, "a");
    const run = (sql: string) => database.run(sql).trim();
    run(`INSERT INTO trunkline.gateways (name, run, lock, seen) VALUES ('dead', 'x', 1, now() - interval '2 days');
      INSERT INTO trunkline.gateway_messages (recipient, sender, exchange, number, kind, body, sent)
      VALUES ('dead', 'a', 'e', 0, 'request', '', now() - interval '1 hour')`);
    await a.close();
    await startGateway(database.url, "b");
    expect(run("SELECT count(*) FROM trunkline.gateway_messages")).toBe("0");
    expect(run("SELECT count(*) FROM trunkline.gateways WHERE name = 'dead'")).toBe("0");
  });
});
