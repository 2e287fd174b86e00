// The servers written without an SDK, checked byte by byte where it matters.

import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { startServer } from "../servers/start.js";
import { initialize, open, openLines, post, textOf } from "./clients.js";

const call = (id: number, name: string, args = {}) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: args },
});

describe("silent", () => {
  test("never answers and exits with 0 when its input closes", async () => {
    await using lines = openLines("silent");
    lines.send(initialize);
    lines.child.stdin?.end();
    expect(await lines.exited).toBe(0);
    await expect(lines.next()).rejects.toThrow("nothing more to say");
  });

  test("accepts HTTP requests and leaves them open", async () => {
    await using server = await startServer("silent");
    const waiting = fetch(server.url, { method: "POST", body: "{}", signal: AbortSignal.timeout(200) });
    await expect(waiting).rejects.toThrow("timeout");
  });

  test("ignores SIGTERM and the end of its input when told to", async () => {
    await using lines = openLines("silent", ["--ignore-sigterm"]);
    await lines.stderrContains("reading stdin");
    lines.child.stdin?.end();
    await lines.stderrContains("ignoring the end of stdin");
    lines.child.kill("SIGTERM");
    await lines.stderrContains("ignoring SIGTERM");
    expect(lines.child.exitCode).toBeNull();
  });

  test("leaves a grandchild running after it exits", async () => {
    const folder = await mkdtemp(join(tmpdir(), "trunkline-silent-"));
    const pidFile = join(folder, "pid");
    const server = await startServer("silent", ["--grandchild", "--pid-file", pidFile]);
    const pid = Number(await readFile(pidFile, "utf8"));
    await server.close();
    expect(() => process.kill(pid, 0)).not.toThrow();
    process.kill(pid, "SIGKILL");
    await rm(folder, { recursive: true });
  });
});

describe("garbled", () => {
  test("puts noise and a notification between the messages on stdout", async () => {
    await using lines = openLines("garbled");
    lines.send(initialize);
    const read: string[] = [];
    while (!read.some((line) => line.includes('"id":1'))) read.push(await lines.next());
    expect(read).toContain("");
    expect(read).toContain("garbled server starting…");
    expect(read).toContain("\u001b[32mready\u001b[0m");
    expect(read).toContain('{"level":"info","msg":"ready"}');
    expect(read.findIndex((line) => line.includes("notifications/message"))).toBeGreaterThan(0);
  });

  test.each(["stdio", "http"] as const)("is understood by the SDK's client over %s", async (over) => {
    await using opened = await open("garbled", { over });
    expect(textOf(await opened.client.callTool({ name: "unicode" }))).toBe("Grüße, 世界 👋");
    expect(textOf(await opened.client.callTool({ name: "echo", arguments: { text: "äöü" } }))).toBe("äöü");
  });

  test("streams several messages with mixed line endings, comments, long data and split characters", async () => {
    await using server = await startServer("garbled");
    const response = await post(server.url, call(2, "unicode"));
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    let cut = false;
    let body = "";
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      cut ||= new TextDecoder().decode(chunk).includes("\ufffd");
      body += decoder.decode(chunk, { stream: true });
    }
    expect(cut).toBe(true);
    expect(body).toMatch(/^: a comment\r\n/);
    expect(body).toMatch(/[^\r]\n/);
    const messages = body
      .split(/(?:\r?\n){2,}/)
      .map((event) => [...event.matchAll(/^data: (.*?)\r?$/gm)].map(([, data]) => data))
      .filter((data) => data.length > 0)
      .map((data) => JSON.parse(data.join("\n")));
    expect(messages).toMatchObject([
      { method: "notifications/message" },
      { id: 2, result: { content: [{ text: "Grüße, 世界 👋" }] } },
      { method: "notifications/message" },
    ]);
  });

  test("answers with a JSON array when told to", async () => {
    const batch = [{ method: "notifications/message" }, { id: 2, result: { content: [{ text: "a" }] } }];
    await using server = await startServer("garbled", ["--json-array"]);
    expect(await (await post(server.url, call(2, "echo", { text: "a" }))).json()).toMatchObject(batch);

    await using lines = openLines("garbled", ["--json-array"]);
    lines.send(call(2, "echo", { text: "a" }));
    let line = await lines.next();
    while (!line.startsWith("[")) line = await lines.next();
    expect(JSON.parse(line)).toMatchObject(batch);
  });
});

describe("expiring", () => {
  test("answers 404 after a session has used up its calls, until a new initialize", async () => {
    await using server = await startServer("expiring", ["--after", "2"]);
    const begin = async () => {
      const response = await post(server.url, initialize);
      return { "mcp-session-id": response.headers.get("mcp-session-id") ?? "" };
    };
    const said = async (message: object, session: Record<string, string>) => {
      const answer = (await (await post(server.url, message, session)).json()) as { result: object };
      return textOf(answer.result);
    };
    const first = await begin();
    expect(await said(call(2, "count"), first)).toBe("1");
    expect(await said(call(3, "count"), first)).toBe("2");
    expect((await post(server.url, call(4, "count"), first)).status).toBe(404);

    const second = await begin();
    expect((await post(server.url, call(5, "count"), first)).status).toBe(404);
    expect(await said(call(6, "count"), second)).toBe("1");
    expect(await said(call(7, "sessions"), second)).toBe("2");
    expect((await post(server.url, call(8, "count"))).status).toBe(400);
  });

  test("is treated as a legacy server by a client that tries both eras", async () => {
    await using opened = await open("expiring", {
      over: "http",
      client: { versionNegotiation: { mode: "auto" } },
    });
    expect(opened.client.getProtocolEra()).toBe("legacy");
    expect(textOf(await opened.client.callTool({ name: "count" }))).toBe("1");
  });
});

describe("old", () => {
  test.each(["stdio", "sse"] as const)("speaks revision 2024-11-05 over %s", async (over) => {
    await using opened = await open("old", { over });
    const { client } = opened;
    expect(client.getNegotiatedProtocolVersion()).toBe("2024-11-05");
    await client.ping();
    expect(textOf(await client.callTool({ name: "hello", arguments: { name: "Ada" } }))).toBe("Hello, Ada!");
    expect(textOf(await client.callTool({ name: "echo", arguments: { text: "same" } }))).toBe("same");
  });

  test("lists the names of its environment variables", async () => {
    await using opened = await open("old", { env: { ONLY_THIS: "1", SECRET: "hidden" } });
    const result = textOf(await opened.client.callTool({ name: "env" }));
    expect(JSON.parse(result)).toEqual(expect.arrayContaining(["ONLY_THIS", "SECRET"]));
    expect(result).not.toContain("hidden");
  });

  test("rejects a modern probe, or exits on it when told to", async () => {
    const probe = { jsonrpc: "2.0", id: 1, method: "server/discover", params: {} };
    await using lines = openLines("old");
    lines.send(probe);
    expect(JSON.parse(await lines.next())).toMatchObject({ id: 1, error: { code: -32601 } });

    await using fragile = openLines("old", ["--exit-on-unknown"]);
    fragile.send(probe);
    expect(await fragile.exited).toBe(1);
  });

  test("answers initialize with any revision it is told to", async () => {
    await using lines = openLines("old", ["--version-answer", "1999-01-01"]);
    lines.send(initialize);
    expect(JSON.parse(await lines.next())).toMatchObject({ result: { protocolVersion: "1999-01-01" } });
  });
});
