import { silentLogger, TrunklineError } from "@trunkline/core";
import { JsonBytes, type OutgoingMessage, type RpcParams } from "@trunkline/protocol";
import { describe, expect, test } from "vitest";
import { DEFAULT_LIMITS } from "../../src/protocol/limits.js";
import { ModernProtocol } from "../../src/protocol/modern.js";
import { RequestContext } from "../../src/protocol/request-context.js";
import { envelope, type Message } from "../endpoints/http-client.js";
import { MemoryTeam } from "./memory-team.js";
import { createTestService, type TestService, until } from "./test-service.js";

const capabilities = { elicitation: {}, extensions: { "io.modelcontextprotocol/tasks": {} } };
const accept = { action: "accept", content: { name: "Ada" } };

interface Started {
  readonly context: RequestContext;
  readonly answer: Promise<Message>;
  readonly messages: OutgoingMessage[];
}

/** A gateway of a team, and a function that sends it requests. */
function open(team: MemoryTeam, name: string, service: TestService = createTestService()) {
  const gateway = team.join(name);
  const protocol = new ModernProtocol(service, { logger: silentLogger, limits: DEFAULT_LIMITS, gateway });
  const send = (method: string, given: RpcParams, principal = "ada"): Started => {
    const messages: OutgoingMessage[] = [];
    const facts = { id: "1", principal, endpoint: "http", lasting: false } as const;
    const context = new RequestContext(facts, { send: (message) => void messages.push(message) });
    const params = { ...given, _meta: envelope(capabilities, { progressToken: 7 }) };
    const answer = protocol.handle({ kind: "request", id: 5, method, params }, context);
    return { context, messages, answer: answer.then((reply) => reply?.message) };
  };
  const call = (tool: string, more: RpcParams = {}, principal = "ada") =>
    send("tools/call", { name: tool, arguments: {}, ...more }, principal);
  return { gateway, protocol, service, send, call };
}

const answersOf = ({ inputRequests, requestState }: Message) => ({
  requestState,
  inputResponses: Object.fromEntries(Object.keys(inputRequests).map((key) => [key, accept])),
});

describe("a request about a call of another gateway", () => {
  test("is handled there, with its messages, and answered here", async () => {
    const team = new MemoryTeam();
    const [a, b] = [open(team, "a"), open(team, "b")];
    const { result } = await a.call("ask_then_report").answer;
    expect(result.requestState).toMatch(/^a\.[\w-]{32}$/);
    const { answer, messages } = b.call("ask_then_report", answersOf(result));
    expect(await answer).toMatchObject({ id: 5, result: { resultType: "complete" } });
    expect(messages.map(({ method }) => method)).toEqual(["notifications/progress", "notifications/progress"]);
    expect(b.service.exchanges).toEqual([]);
  });

  test("passes a large result on without parsing it", async () => {
    const team = new MemoryTeam();
    const service = createTestService();
    const json = Buffer.from(JSON.stringify([{ type: "text", text: "large ".repeat(1_000) }]));
    const { handle } = service;
    const large = new JsonBytes(json);
    large.toJSON = () => {
      throw new Error("parsed");
    };
    service.handle = async (...given) => ({ ...(await handle(...given)), content: large, structuredContent: { n: 1 } });
    const [a, b] = [open(team, "a", service), open(team, "b")];
    const { result } = await a.call("ask").answer;
    const { result: relayed } = await b.call("ask", answersOf(result)).answer;
    expect(relayed.content).toBeInstanceOf(JsonBytes);
    expect(Buffer.from(relayed.content.bytes).equals(json)).toBe(true);
    expect(relayed).toMatchObject({ structuredContent: { n: 1 }, resultType: "complete" });
  });

  test("is cancelled there when it is cancelled here", async () => {
    const team = new MemoryTeam();
    const [a, b] = [open(team, "a"), open(team, "b")];
    const { result } = await a.call("ask_then_gate").answer;
    const { context, answer } = b.call("ask_then_gate", answersOf(result));
    await until(() => a.service.answered === 1);
    context.cancel(new TrunklineError("ABORTED", "gone"));
    expect(await answer).toBeUndefined();
    expect(a.service.exchanges[0]?.signal.aborted).toBe(true);
  });

  test("is not passed on if the state is ours, is none, or has no name that a gateway can have", async () => {
    const team = new MemoryTeam();
    const [a] = [open(team, "a"), open(team, "b")];
    for (const state of ["a.x", "x", "", ".x", "b.", "b.x y", `b.${"x".repeat(100)}`, `${"b".repeat(40)}.x`, 3, {}]) {
      const { error } = await a.call("ask", { requestState: state }).answer;
      expect(error, String(state)).toMatchObject({ code: -32602, data: { reason: "requestState" } });
    }
    expect(team.sent).toEqual([]);
  });

  test("tells a gateway that is gone from one that never was", async () => {
    const team = new MemoryTeam();
    const [a, b] = [open(team, "a"), open(team, "b")];
    await a.gateway.leave();
    const gone = await b.call("ask", { requestState: "a.x" }).answer;
    expect(gone.error).toMatchObject({ code: -32602, data: { reason: "requestState", retryable: true } });
    const unknown = await b.call("ask", { requestState: "c.x" }).answer;
    expect(unknown.error.data).toEqual({ reason: "requestState" });
  });

  test("gets the error that says so if that gateway stops before the call ends", async () => {
    const team = new MemoryTeam();
    const [a, b] = [open(team, "a"), open(team, "b")];
    const { result } = await a.call("ask_then_gate").answer;
    const { answer } = b.call("ask_then_gate", answersOf(result));
    await until(() => a.service.answered === 1);
    await a.protocol.close();
    expect((await answer).error).toMatchObject({ data: { reason: "requestState", retryable: true } });
  });

  test("is an error if the other gateway sends nonsense", async () => {
    const team = new MemoryTeam();
    const b = open(team, "b");
    const a = team.join("a");
    for (const nonsense of ["", "{}", "\0\0\0\u0001x", "\u00ff\u00ff\u00ff\u00ff"]) {
      a.serve(async () => Buffer.from(nonsense, "latin1"));
      const { error } = await b.call("ask", { requestState: "a.x" }).answer;
      expect(error).toMatchObject({ code: -32603, data: { code: "PROTOCOL" } });
    }
  });

  test("cannot be forged into a request of a connection that lasts", async () => {
    const team = new MemoryTeam();
    const a = open(team, "a");
    const { signal } = new AbortController();
    const client = { id: "1", principal: "ada", endpoint: "stdio", lasting: true };
    const params = { name: "whoami", arguments: {}, _meta: envelope({}) };
    const body = Buffer.from(JSON.stringify({ id: 1, method: "tools/call", params, client }));
    const answer = await team.join("b").ask("a", body, { signal, onPart: () => {} });
    expect(answer.kind).toBe("answer");
    expect(a.service.exchanges[0]?.caller).toMatchObject({ endpoint: "http", lasting: false, principal: "ada" });
    for (const broken of ["", "[]", "{}", JSON.stringify({ id: 1, method: "tools/call", params })]) {
      const asked = team.join("c").ask("a", Buffer.from(broken), { signal, onPart: () => {} });
      await expect(asked).rejects.toMatchObject({ code: "PROTOCOL" });
    }
  });
});

describe("a task of another gateway", () => {
  test("is only visible to its principal, while it runs and after its gateway has ended", async () => {
    const team = new MemoryTeam();
    const a = open(team, "a", createTestService({ gate: "required" }));
    const b = open(team, "b");
    const { taskId } = (await a.call("gate").answer).result;
    const get = (principal: string) => b.send("tasks/get", { taskId }, principal).answer;
    expect((await get("eve")).error).toMatchObject({ code: -32602 });
    expect((await get("ada")).result).toMatchObject({ status: "working" });
    a.service.openGate();
    await until(() => team.tasks.size === 1);
    await a.protocol.close();
    await a.gateway.leave();
    expect((await get("eve")).error).toMatchObject({ code: -32602 });
    expect((await get("ada")).result).toMatchObject({ status: "completed" });
    b.protocol.endPrincipal("ada");
    await until(() => team.tasks.size === 0);
    expect((await get("ada")).error).toMatchObject({ data: { retryable: true } });
  });

  test("needs the extension, wherever it is asked for", async () => {
    const team = new MemoryTeam();
    const [, b] = [open(team, "a"), open(team, "b")];
    expect((await b.send("tasks/list", { taskId: "a.x" }).answer).error).toMatchObject({ code: -32601 });
    expect((await b.send("tasks/update", { taskId: "c.x" }).answer).error).toMatchObject({ code: -32602 });
  });
});
