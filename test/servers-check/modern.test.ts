// The server of revision 2026-07-28, and lists that change at run time in both eras.

import { describe, expect, test } from "vitest";
import { startServer } from "../servers/start.js";
import { initialize, open, pending, post, textOf } from "./clients.js";

describe("modern", () => {
  test.each(["stdio", "http"] as const)(
    "serves revision 2026-07-28, and logs only if the call asks for a level, over %s",
    async (over) => {
      const asked: string[] = [];
      const logs: unknown[] = [];
      await using opened = await open("modern", {
        over,
        era: "modern",
        client: { capabilities: { elicitation: { form: {} } } },
        prepare: (client) => {
          client.setNotificationHandler("notifications/message", ({ params }) => void logs.push(params.data));
          client.setRequestHandler("elicitation/create", ({ params }) => {
            asked.push(params.message);
            return { action: "accept", content: { name: "Ada" } };
          });
        },
      });
      const { client } = opened;
      expect(client.getNegotiatedProtocolVersion()).toBe("2026-07-28");
      expect(textOf(await client.callTool({ name: "hello" }))).toBe("Hello, world!");
      expect(textOf(await client.callTool({ name: "echo", arguments: { text: "same" } }))).toBe("same");
      expect(textOf(await client.callTool({ name: "ask" }))).toBe("Hello, Ada!");
      expect(asked).toEqual(["What is your name?"]);

      await client.callTool({ name: "log", arguments: { message: "unasked" } });
      const level = { _meta: { "io.modelcontextprotocol/logLevel": "info" } };
      await client.callTool({ name: "log", arguments: { message: "asked" }, ...level });
      expect(logs).toEqual(["asked"]);
    },
  );

  test("rejects a legacy client", async () => {
    await expect(open("modern")).rejects.toMatchObject({ code: -32022 });

    await using server = await startServer("modern");
    const response = await post(server.url, initialize);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: -32022, data: { supported: ["2026-07-28"] } } });
  });

  const growing = [
    { over: "stdio", era: "modern", args: [] },
    { over: "http", era: "modern", args: [] },
    { over: "stdio", era: "legacy", args: ["--accept-legacy"] },
    { over: "http", era: "legacy", args: ["--accept-legacy"] },
  ] as const;
  test.each(growing)("announces a tool added at run time over $over in the $era era", async ({ over, era, args }) => {
    const changed = pending<string[]>();
    await using opened = await open("modern", {
      over,
      era,
      args: [...args],
      client: {
        listChanged: {
          tools: {
            debounceMs: 0,
            onChanged: (error, tools) =>
              error ? changed.reject(error) : changed.resolve((tools ?? []).map(({ name }) => name)),
          },
        },
      },
    });
    expect(textOf(await opened.client.callTool({ name: "grow" }))).toBe("grown_1");
    expect(await changed.promise).toContain("grown_1");
    expect(textOf(await opened.client.callTool({ name: "grown_1" }))).toBe("grown_1");
  });
});
