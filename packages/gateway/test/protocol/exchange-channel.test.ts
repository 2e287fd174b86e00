import { META } from "@trunkline/protocol";
import { describe, expect, test } from "vitest";
import { createExchangeChannel } from "../../src/protocol/exchange-channel.js";

describe("exchange channel", () => {
  const asked: unknown[] = [];
  const answer = { action: "accept", content: { name: "Ada" }, _meta: { acme: 2 }, acme: ["kept"] };
  const later: unknown[] = [];
  const channelFor = (capabilities: Readonly<Record<string, unknown>>, principal = "local", revision = "2025-11-25") =>
    createExchangeChannel({
      name: "client",
      principal,
      capabilities,
      revision,
      ask: async (method, params) => {
        asked.push({ method, params });
        return answer;
      },
      logLevel: () => undefined,
      outlet: () => undefined,
      laterOutlet: () => ({ send: (message) => void later.push(message) }),
      onProgress: undefined,
    });
  const context = { server: "s", signal: new AbortController().signal };

  test("reports a completed visit if the client's revision has the notification", () => {
    channelFor({}).visited?.({ server: "s", elicitationId: "v1" });
    expect(later).toEqual([
      { jsonrpc: "2.0", method: "notifications/elicitation/complete", params: { elicitationId: "v1" } },
    ]);
    expect(channelFor({}, "local", "2025-06-18").visited).toBeUndefined();
    expect(channelFor({}, "local", "2026-07-28").visited).toBeUndefined();
  });

  test("forwards questions and answers unchanged, except for fields that belong to the other connection", async () => {
    const channel = channelFor({ elicitation: {} });
    const params = { message: "Who?", requestedSchema: {}, acme: { deep: 1 } };
    const _meta = { acme: 1, progressToken: 7, [META.relatedTask]: { taskId: "t" } };
    const question = { method: "elicitation/create", params: { ...params, _meta } };
    expect(await channel.ask?.(question, context)).toBe(answer);
    expect(asked).toEqual([{ method: "elicitation/create", params: { ...params, _meta: { acme: 1 } } }]);
  });

  test.each([
    [{}, {}],
    [{ elicitation: {} }, { elicitation: { form: {} } }],
    [
      { elicitation: { url: {} }, sampling: {} },
      { elicitation: { url: {} }, sampling: { tools: {} } },
    ],
    [{ roots: {} }, { roots: { listChanged: true } }],
  ])("for a client that declares %j offers %j", (capabilities, abilities) => {
    expect(channelFor(capabilities).abilities).toEqual(abilities);
  });
});
