import { describe, expect, it } from "vitest";
import { errorMessage, notificationMessage, readMessage, resultMessage } from "../src/messages.js";
import { methodNotFound, RPC_CODES } from "../src/rpc-errors.js";

const read = (message: object) => readMessage({ jsonrpc: "2.0", ...message });

describe("a message", () => {
  it.each([
    ["request", { id: 1, method: "ping" }],
    ["request", { id: "a", method: "ping", params: { x: 1 } }],
    ["notification", { method: "notifications/initialized" }],
    ["response", { id: 1, result: {} }],
    ["response", { id: null, error: { code: -1, message: "no" } }],
  ])("is recognized as a %s: %j", (kind, message) => {
    expect(read(message).kind).toBe(kind);
  });

  it.each([
    [null, RPC_CODES.invalidRequest, 7],
    [null, RPC_CODES.invalidRequest, []],
    [1, RPC_CODES.invalidRequest, { id: 1, method: "ping" }],
    [2, RPC_CODES.invalidRequest, { jsonrpc: "2.0", id: 2 }],
    [3, RPC_CODES.invalidRequest, { jsonrpc: "2.0", id: 3, method: 4 }],
    [null, RPC_CODES.invalidRequest, { jsonrpc: "2.0", id: 1.5, method: "ping" }],
    [null, RPC_CODES.invalidRequest, { jsonrpc: "2.0", id: null, method: "ping" }],
    [5, RPC_CODES.invalidParams, { jsonrpc: "2.0", id: 5, method: "ping", params: [] }],
  ])("is rejected for id %j with %d: %j", (id, code, message) => {
    expect(readMessage(message)).toMatchObject({ kind: "invalid", id, error: { code } });
  });

  it("is never rejected for invalid params if it is a notification", () => {
    expect(read({ method: "notifications/cancelled", params: [] })).toMatchObject({ kind: "notification", method: "" });
  });

  it("keeps unknown fields of its params", () => {
    expect(read({ id: 1, method: "tools/call", params: { acme: [1] } })).toMatchObject({ params: { acme: [1] } });
  });

  it("is built in the wire format", () => {
    expect(resultMessage(1, { ok: true })).toEqual({ jsonrpc: "2.0", id: 1, result: { ok: true } });
    expect(errorMessage(null, methodNotFound("x"))).toEqual({
      jsonrpc: "2.0",
      id: null,
      error: { code: RPC_CODES.methodNotFound, message: "Method not found: x" },
    });
    expect(notificationMessage("n")).toEqual({ jsonrpc: "2.0", method: "n" });
  });
});
