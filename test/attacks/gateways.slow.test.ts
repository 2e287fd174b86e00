// Several gateways on one store: an id that a client sends back names the gateway that made it. It must not open the way to
// other principals' calls, to the database, or to gateways that the client makes up.
import { describe, expect, it } from "vitest";
import { callModern, type Message, modern } from "../../packages/gateway/test/endpoints/http-client.js";
import { createTestService } from "../../packages/gateway/test/protocol/test-service.js";
import { hasPostgres, needsPostgres } from "../team/team.js";
import { accept, capabilities, startGateway, teamDatabase } from "../team/team-support.js";

/** A token names its principal. */
const principals = { identify: (token: string) => token };
const as = (principal: string) => ({ headers: { authorization: `Bearer ${principal}` }, capabilities });

describe.skipIf(!hasPostgres)(`several gateways on one store${needsPostgres}`, () => {
  const database = teamDatabase();
  const start = (name: string) =>
    startGateway(database.url, name, { principals, service: createTestService({ hang: "required" }) });

  const sql = (text: string) => database.run(text).trim();
  const messages = () => sql("SELECT count(*) FROM trunkline.gateway_messages");

  it("do not let a principal resume another's call through another gateway", async () => {
    const [a, b] = await Promise.all([start("a"), start("b")]);
    const { requestState } = (await callModern(a.url, "ask", { key: "who" }, as("ada"))).last.result;
    const more = { requestState, inputResponses: { who: accept("Eve") } };
    const stolen = await callModern(b.url, "ask", {}, { ...as("eve"), more });
    expect(stolen.last.error).toMatchObject({ code: -32602, data: { reason: "requestState" } });
    // The call goes on waiting for its own client.
    const own = { requestState, inputResponses: { who: accept("Ada") } };
    const { last } = await callModern(b.url, "ask", {}, { ...as("ada"), more: own });
    expect(last.result.content[0].text).toContain("Ada");
  });

  it("do not let a principal see or cancel another's task through another gateway, nor after it has ended", async () => {
    const [a, b] = await Promise.all([start("a"), start("b")]);
    const { taskId } = (await callModern(a.url, "hang", { tag: "t" }, as("ada"))).last.result;
    const ask = async (method: string, principal: string): Promise<Message> =>
      (await modern(b.url, `tasks/${method}`, { taskId }, as(principal))).last;
    for (const method of ["get", "cancel"]) {
      expect((await ask(method, "eve")).error, method).toMatchObject({ code: -32602 });
    }
    expect(a.service.aborted).toEqual([]);
    await a.close();
    expect((await ask("get", "eve")).error).toMatchObject({ code: -32602 });
    expect((await ask("get", "ada")).result).toMatchObject({ status: "cancelled" });
  });

  it("treat a state that no gateway made like an unknown one, without asking other gateways", async () => {
    const [a, b] = await Promise.all([start("a"), start("b")]);
    const { requestState } = (await callModern(a.url, "ask", {}, as("ada"))).last.result;
    const states: readonly unknown[] = [
      `a.${"x".repeat(1_000_000)}`,
      `${"a".repeat(1_000_000)}.x`,
      "a.",
      ".x",
      "a.\0\u{1F980}\uD800",
      "a.'; DROP TABLE trunkline.gateways; --",
      "a'; NOTIFY trunkline_team; --.x",
      "*.x",
      "unheard.AAAA",
      "b.AAAA",
      "a.AAAA",
      `b.${String(requestState).slice(2)}`,
      { a: "x" },
      ["a.x"],
      12,
      null,
      "",
    ];
    for (const state of states) {
      const { last } = await callModern(b.url, "ask", {}, { ...as("ada"), more: { requestState: state } });
      expect(last.error, String(state).slice(0, 40)).toMatchObject({ code: -32602, data: { reason: "requestState" } });
      expect(last.error.data.retryable).toBeUndefined();
    }
    expect(sql("SELECT count(*) FROM trunkline.gateways WHERE gone IS NULL")).not.toBe("0");
    await expect.poll(messages).toBe("0");
  });

  it("ignore an answer that another gateway than the asked one gives", async () => {
    const [a, b] = await Promise.all([start("a"), start("b")]);
    let exchange = "";
    let finish = () => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    // Instead of the endpoint's own handler.
    a.gateway.serve(async ({ send }) => {
      send(Buffer.from("part"));
      await finished;
      return Buffer.from("right");
    });
    sql(`CREATE TABLE seen (exchange text);
      CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN INSERT INTO public.seen VALUES (NEW.exchange); RETURN NEW; END $$;
      CREATE TRIGGER note AFTER INSERT ON trunkline.gateway_messages FOR EACH ROW EXECUTE FUNCTION note()`);
    const { signal } = new AbortController();
    const parts: string[] = [];
    const asked = b.gateway.ask("a", Buffer.from("question"), { signal, onPart: (part) => parts.push(String(part)) });
    await expect.poll(() => parts).toEqual(["part"]);
    exchange = sql("SELECT DISTINCT exchange FROM seen");
    sql(`DROP TRIGGER note ON trunkline.gateway_messages;
      INSERT INTO trunkline.gateway_messages (recipient, sender, exchange, number, kind, body)
      SELECT 'b', 'c', '${exchange}', 9, kind, 'forged' FROM unnest(ARRAY['part', 'end', 'cancel', 'none']) AS kind;
      INSERT INTO trunkline.gateway_messages (recipient, sender, exchange, number, kind, body)
      VALUES ('a', 'c', '${exchange}', 1, 'cancel', ''); NOTIFY trunkline_team, 'to b'; NOTIFY trunkline_team, 'to a'`);
    await expect.poll(messages).toBe("0");
    finish();
    expect(String(((await asked) as Message).body)).toBe("right");
    expect(parts).toEqual(["part"]);
  });

  it("answer a legacy session of another gateway like an unknown one, for every principal", async () => {
    const [a, b] = await Promise.all([start("a"), start("b")]);
    const open = await fetch(a.url, {
      method: "POST",
      headers: {
        authorization: "Bearer ada",
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "initialize",
        params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "old", version: "1" } },
      }),
    });
    const id = open.headers.get("mcp-session-id") ?? "";
    expect(id).toMatch(/^a\./);
    for (const [url, principal] of [
      [b.url, "ada"],
      [a.url, "eve"],
      [b.url, "eve"],
    ] as const) {
      const headers = { authorization: `Bearer ${principal}`, "mcp-session-id": id };
      expect((await fetch(url, { method: "DELETE", headers })).status).toBe(404);
    }
  });

  it.each(["", "-a", "a-", "a.b", "a b", "a'b", "ä", "a".repeat(33), "a\nb"])("refuse the name %j", async (name) => {
    const { store } = await start("a");
    await expect(store.team.join(name)).rejects.toMatchObject({ code: "USAGE" });
  });
});
