// Everyone who uses a gateway uses the accounts it is signed in to. A colleague must not be able to sign it in to
// theirs.
import { expect, it } from "vitest";
import { createExchangeChannel } from "../../packages/gateway/src/protocol/exchange-channel.js";

it.each([
  ["local", { url: {} }, true],
  ["default", { url: {} }, true],
  ["local", { form: {} }, false],
  ["colleague", { url: {} }, false],
  ["Default", { url: {} }, false],
  ["", { url: {} }, false],
])("the principal %j with %j can start a sign-in: %s", (principal, elicitation, expected) => {
  const channel = createExchangeChannel({
    name: "client",
    principal,
    capabilities: { elicitation },
    revision: "2025-11-25",
    ask: () => Promise.reject(new Error("Nothing is asked here.")),
    logLevel: () => undefined,
    outlet: () => undefined,
    laterOutlet: () => ({ send: () => {} }),
    onProgress: undefined,
  });
  expect(channel.signIn !== undefined).toBe(expected);
});
