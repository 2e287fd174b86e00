import { RPC_CODES, RpcError } from "@trunkline/protocol";
import { describe, expect, it } from "vitest";
import { requestError } from "../../src/connection/connection-errors.js";
import { WireClosedError } from "../../src/wire/message-wire.js";

const failure = {
  server: { name: "one", type: "http", url: "http://127.0.0.1:9/mcp" } as never,
  what: 'tools/call on "one"',
  exit: undefined,
  lines: () => [],
};

describe("a request that failed", () => {
  it.each(["ECONNREFUSED", "ENOTFOUND", "UND_ERR_CONNECT_TIMEOUT"])(
    "can be tried again if nothing was sent: %s",
    (code) => {
      const error = requestError(Object.assign(new Error("x"), { code }), failure);
      expect(error).toMatchObject({
        code: "CONNECTION_FAILED",
        retryable: true,
        hint: expect.stringMatching(/Try again/),
      });
    },
  );

  it.each(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"])("is not retryable if it may have run: %s", (code) => {
    const error = requestError(Object.assign(new Error("x"), { code }), failure);
    expect(error).toMatchObject({
      code: "CONNECTION_FAILED",
      retryable: false,
      hint: expect.stringMatching(/may or may/),
    });
  });

  it("because the client lacks a capability says what the user can do", () => {
    const lacking = new RpcError(RPC_CODES.missingCapability, "elicitation is required");
    expect(requestError(lacking, failure).hint).toContain("trunkline call");
    expect(requestError(new RpcError(RPC_CODES.invalidParams, "x"), failure).hint).toBeUndefined();
  });

  it("is not retryable if the server exited", () => {
    expect(requestError(new WireClosedError(), failure)).toMatchObject({
      code: "SERVER_EXITED",
      retryable: false,
      hint: "It may or may not have taken effect.",
    });
  });
});
