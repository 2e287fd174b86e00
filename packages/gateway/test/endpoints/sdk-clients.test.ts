// Tests third-party clients against both endpoints: the newest SDK client in both eras, and the previous version.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema, ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, onTestFinished, test } from "vitest";
import { until } from "../protocol/test-service.js";
import { type Message, startHttp } from "./http-client.js";

const capabilities = { elicitation: { form: {} } };
const answer = { action: "accept", content: { name: "Ada" } } as const;

describe.each(["auto", "legacy"] as const)("the SDK client in %s mode", (mode) => {
  async function connect(url: string, onToolsChanged?: () => void) {
    const client = new Client(
      { name: "sdk", version: "2" },
      {
        versionNegotiation: { mode },
        capabilities,
        ...(onToolsChanged === undefined ? {} : { listChanged: { tools: { onChanged: onToolsChanged } } }),
      },
    );
    client.setRequestHandler("elicitation/create", async () => answer);
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    onTestFinished(() => client.close());
    return client;
  }

  test("lists, calls, answers questions and sees progress", async () => {
    const { url } = await startHttp();
    const client = await connect(url);
    expect(client.getProtocolEra()).toBe(mode === "auto" ? "modern" : "legacy");
    expect(client.getServerVersion()).toMatchObject({ name: "test-service" });
    expect(client.getInstructions()).toBe("Be kind.");
    const { content } = (await client.callTool({ name: "ask", arguments: {} })) as Message;
    expect(JSON.parse(content[0].text)).toEqual(answer);
    const seen: number[] = [];
    await client.callTool(
      { name: "progress", arguments: { steps: 5 } },
      { onprogress: ({ progress }) => seen.push(progress) },
    );
    // A trap in the SDK: the last progress notification is dropped if it arrives together with the result.
    expect(seen.slice(0, 4)).toEqual([1, 2, 3, 4]);
  });

  test("cancels a call", async () => {
    const { url, service } = await startHttp();
    const client = await connect(url);
    const cancel = new AbortController();
    const call = client.callTool({ name: "hang", arguments: { tag: "h" } }, { signal: cancel.signal });
    call.catch(() => {});
    await until(() => service.started.includes("h"));
    cancel.abort();
    await expect(call).rejects.toThrow();
    await until(() => service.aborted.includes("h"));
  });

  test("is notified that the tools have changed", async () => {
    const { url, service } = await startHttp();
    let heard = 0;
    await connect(url, () => {
      heard += 1;
    });
    await until(() => service.listeners > 0);
    // The client waits until nothing has changed for a while, and its stream may open after the first notification.
    const announcing = setInterval(() => service.announce({ kind: "tools_list_changed" }), 700);
    onTestFinished(() => clearInterval(announcing));
    await until(() => heard > 0);
  });
});

describe("the version 1 SDK client", () => {
  test("lists, calls, answers questions, cancels and is notified of changes", async () => {
    const { url, service } = await startHttp();
    const client = new ClientV1({ name: "sdk", version: "1" }, { capabilities: { elicitation: {} } });
    client.setRequestHandler(ElicitRequestSchema, async () => answer);
    let heard = 0;
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
      heard += 1;
    });
    // The package's own types are inexact about optional properties.
    await client.connect(new TransportV1(new URL(url)) as Parameters<typeof client.connect>[0]);
    onTestFinished(() => client.close());
    const { content } = (await client.callTool({ name: "ask", arguments: {} })) as Message;
    expect(JSON.parse(content[0].text)).toEqual(answer);
    const cancel = new AbortController();
    const call = client.callTool({ name: "hang", arguments: { tag: "h" } }, undefined, { signal: cancel.signal });
    call.catch(() => {});
    await until(() => service.started.includes("h"));
    cancel.abort();
    await until(() => service.aborted.includes("h"));
    const announcing = setInterval(() => service.announce({ kind: "tools_list_changed" }), 50);
    onTestFinished(() => clearInterval(announcing));
    await until(() => heard > 0);
  });
});
