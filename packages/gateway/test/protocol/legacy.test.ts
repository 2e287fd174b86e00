import { silentLogger } from "@trunkline/core";
import type { OutgoingMessage, RpcRequest } from "@trunkline/protocol";
import { describe, expect, test } from "vitest";
import { Protocol } from "../../src/protocol/endpoint-protocol.js";
import { createTestService } from "./test-service.js";

function start(service = createTestService()) {
  const sent: OutgoingMessage[] = [];
  const outlet = { send: (message: OutgoingMessage) => void sent.push(message) };
  const protocol = new Protocol({ service, logger: silentLogger, endpoint: "stdio" });
  const connection = protocol.connectLegacy(outlet, "local");
  const call = (id: number, name: string, args: object = {}, more: object = {}): RpcRequest => ({
    kind: "request",
    id,
    method: "tools/call",
    params: { name, arguments: args, ...more },
  });
  const request = (...asked: Parameters<typeof call>) => connection.request(call(...asked), outlet);
  const cancel = (requestId: number) =>
    connection.notification({ kind: "notification", method: "notifications/cancelled", params: { requestId } });
  return { service, connection, sent, request, cancel };
}

describe("a legacy connection", () => {
  test("ends a cancelled request at once, even if its work goes on, and frees its id", async () => {
    const { service, connection, request, cancel } = start();
    const first = request(1, "gate");
    cancel(1);
    expect(connection.inFlight).toBe(0);
    const second = request(1, "echo", { text: "again" });
    expect(await first).toBeUndefined();
    expect(await second).toMatchObject({ id: 1, result: { content: [{ text: "again" }] } });
    service.openGate();
    await connection.drained();
  });

  test("sends nothing for a request after it was cancelled or answered", async () => {
    const { service, sent, request, cancel } = start();
    const cancelled = request(1, "hang", {}, { _meta: { progressToken: "a" } });
    const [exchange] = service.exchanges;
    exchange?.signal.addEventListener("abort", () => exchange.onProgress?.({ progress: 1 }));
    cancel(1);
    await cancelled;
    await request(2, "echo", {}, { _meta: { progressToken: "b" } });
    service.exchanges[1]?.onProgress?.({ progress: 1 });
    expect(sent).toEqual([]);
  });

  test("has a signal that says why, also for work that asks for it late", async () => {
    const { service, request, cancel } = start();
    const call = request(1, "gate");
    cancel(1);
    await call;
    expect(service.exchanges[0]?.signal).toMatchObject({ aborted: true, reason: { code: "ABORTED" } });
  });

  test("answers what is in flight when it closes, and refuses what comes later", async () => {
    const { connection, request } = start();
    const call = request(1, "gate");
    const closing = connection.close();
    expect(await call).toMatchObject({ id: 1, error: { data: { code: "CLOSED" } } });
    expect(await request(2, "echo")).toMatchObject({ id: 2, error: { data: { code: "CLOSED" } } });
    await closing;
  });

  test("answers with an error if the service throws instead of rejecting", async () => {
    const service = createTestService();
    service.handle = () => {
      throw new Error("thrown");
    };
    const { connection, request } = start(service);
    expect(await request(1, "echo")).toMatchObject({ id: 1, error: { message: "Internal error." } });
    expect(connection.inFlight).toBe(0);
  });
});
