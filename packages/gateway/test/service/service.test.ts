import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type Channel, createChannel, type Root } from "@trunkline/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ServiceEvent } from "../../src/interfaces/mcp-service.js";
import {
  callTool,
  http,
  nextEvent,
  refusalOf,
  stdio,
  testCaller,
  testExchange,
  testService,
  textOf,
  toolNames,
} from "./support.js";

describe("the service", () => {
  it("declares its capabilities in the form each revision expects", async () => {
    await using composite = testService([]);
    expect(composite.service.capabilities("2024-11-05")).not.toHaveProperty("completions");
    expect(composite.service.capabilities("2026-07-28")).toEqual({
      tools: {},
      prompts: { listChanged: true },
      resources: { listChanged: true, subscribe: true },
      completions: {},
      logging: {},
    });
    expect(await composite.service.instructions?.(testCaller())).toContain("describe");
    await using direct = testService([], { surface: "direct" });
    expect(direct.service.capabilities("2025-11-25")).toMatchObject({ tools: { listChanged: true } });
    expect(await direct.service.instructions?.(testCaller())).not.toContain("query");
  });

  it("serves the composite tools, the upstream tools, or both", async () => {
    const own = ["query", "execute", "session"];
    await using composite = testService([stdio("crashing")]);
    expect(await toolNames(composite)).toEqual(own);
    expect(await refusalOf(callTool(composite, "mcp__crashing__ok"))).toMatchObject({
      code: -32_602,
      message: expect.stringContaining("query"),
    });
    await using both = testService([stdio("crashing")], { surface: "both" });
    expect(await toolNames(both)).toEqual([...own, "mcp__crashing__ok", "mcp__crashing__crash"]);
    const step = { op: "crashing.ok" };
    const executed = await callTool(both, "execute", { operations: [step] });
    const direct = await callTool(both, "mcp__crashing__ok");
    expect(JSON.stringify(executed)).toContain(textOf(direct));
  });

  it("counts the tokens of the lists that clients read, not of those for a person", async () => {
    const spent: string[] = [];
    await using served = testService([], { account: { add: (use) => spent.push(use) } });
    await served.service.handle("tools/list", {}, testExchange({ caller: testCaller({ trusted: true }) }));
    expect(spent).toEqual([]);
    await toolNames(served);
    expect(spent).toEqual(["surface"]);
  });

  it.each(["composite", "direct", "both"] as const)(
    "lists mcp.echo on the %s surface only if asked to, and answers it either way",
    async (surface) => {
      await using quiet = testService([], { surface });
      expect(await toolNames(quiet)).not.toContain("mcp.echo");
      expect(textOf(await callTool(quiet, "mcp.echo", { message: "hi" }))).toBe("hi");
      await using listed = testService([], { surface, echo: true });
      expect(await toolNames(listed)).toContain("mcp.echo");
      expect(textOf(await callTool(listed, "mcp.echo", { message: "hi" }))).toBe("hi");
    },
  );

  it("never reports that the composite tools changed", async () => {
    await using under = testService([stdio("library")]);
    const kinds: ServiceEvent["kind"][] = [];
    under.service.onEvent(({ kind }) => kinds.push(kind));
    const prompts = nextEvent(under, "prompts_list_changed");
    const resources = nextEvent(under, "resources_list_changed");
    await callTool(under, "query", { steps: [{ op: "describe", params: { target: "library" } }] });
    await Promise.all([prompts, resources]);
    expect(kinds).not.toContain("tools_list_changed");
  });

  it("sets the lowest requested log level on upstream servers, and forgets clients that disconnect", async () => {
    await using under = testService([stdio("library", ["--legacy-only"])], { surface: "direct" });
    const logs: unknown[] = [];
    const channel: Channel = { log: ({ data }) => void logs.push(data) };
    const [one, two] = [testCaller(), testCaller()];
    // Before the server is connected, and after.
    await under.service.setLogLevel(one, "error");
    const log = (level: string) => callTool(under, "mcp__library__log", { level, message: level }, { channel });
    await log("info");
    await under.service.setLogLevel(two, "debug");
    await log("info");
    await log("debug");
    await under.service.release(two);
    await log("info");
    await log("error");
    expect(logs).toEqual(["info", "debug", "error"]);
    expect(await refusalOf(under.service.setLogLevel(one, "loud"))).toMatchObject({ code: -32_602 });
  });

  it("ends a client's session when the client disconnects", async () => {
    await using under = testService([]);
    const caller = testCaller();
    await callTool(under, "session", { action: "start" }, { caller });
    await under.service.release(caller);
    const stopped = await callTool(under, "session", { action: "stop" }, { caller });
    expect(stopped.isError).toBe(true);
    await under.service.release(caller);
  });

  it("keeps a separate connection for a client that can be asked, until it disconnects", async () => {
    await using under = testService([stdio("crashing", ["--legacy-only"])], {
      surface: "direct",
      hub: { askPolicy: "isolate" },
    });
    const caller = testCaller();
    const pid = async () => {
      const channel = createChannel({ party: caller, elicit: async () => ({ action: "decline" }) });
      return textOf(await callTool(under, "mcp__crashing__ok", {}, { caller, channel }));
    };
    await toolNames(under);
    const first = await pid();
    expect(await pid()).toBe(first);
    expect(textOf(await callTool(under, "mcp__crashing__ok"))).not.toBe(first);
    await under.service.release(caller);
    await expect
      .poll(() => {
        try {
          return process.kill(Number(first.slice(3)), 0);
        } catch {
          return false;
        }
      })
      .toBe(false);
  });

  it("passes the stdio client's roots to servers that ask for them outside a call", async () => {
    const roots: Root[] = [{ uri: "file:///one" }];
    await using under = testService([stdio("asking", ["--legacy-only"])], { surface: "direct" });
    await under.service.rootsChanged?.(testCaller({ endpoint: "http" }), [{ uri: "file:///not-this" }]);
    await under.service.rootsChanged?.(testCaller(), roots);
    // For a client without roots, the hub answers with its own.
    expect(textOf(await callTool(under, "mcp__asking__ask_roots", {}))).toContain("file:///one");
    const channel = createChannel({ roots: async () => [{ uri: "file:///two" }] });
    expect(textOf(await callTool(under, "mcp__asking__ask_roots", {}, { channel }))).toContain("file:///two");
  });

  it("reports the task support of upstream tools, and creates a task if a tool requires one", async () => {
    await using under = testService([stdio("tasking", ["--legacy-only"])], { surface: "direct" });
    const { tools } = await under.service.handle("tools/list", {}, testExchange());
    expect(tools).toContainEqual(
      expect.objectContaining({ name: "mcp__tasking__work", execution: { taskSupport: "optional" } }),
    );
    expect(under.service.taskSupport?.("mcp__tasking__work")).toBe("preferred");
    expect(under.service.taskSupport?.("mcp__tasking__optional")).toBe("optional");
    expect(under.service.inputSchema?.("mcp__tasking__plain")).toEqual({ type: "object" });
    expect(under.service.taskSupport?.("mcp__tasking__plain")).toBeUndefined();
    expect((await callTool(under, "mcp__tasking__work", { steps: 2 })).isError).not.toBe(true);
  });

  it("can be closed twice and leaves its backends open", async () => {
    await using under = testService([stdio("crashing")], { surface: "direct" });
    await toolNames(under);
    await under.service.close();
    await under.service.close();
    expect((await under.hub()).status()[0]?.state).toBe("connected");
  });
});

describe("a server that needs a sign-in", () => {
  let server: Server;
  let url: string;

  beforeAll(async () => {
    server = createServer((_, response) => response.writeHead(401, { "www-authenticate": "Bearer" }).end());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  });
  afterAll(() => {
    server.close();
  });

  it("has one tool, which explains how to sign in", async () => {
    await using under = testService([http("locked", url), stdio("crashing")], { surface: "direct" });
    const changed = nextEvent(under, "tools_list_changed");
    expect(await toolNames(under)).toContain("mcp__locked__authenticate");
    await changed;
    const result = await callTool(under, "mcp__locked__authenticate");
    expect(result.isError).toBe(true);
    expect(JSON.parse(textOf(result)).error).toMatchObject({ code: "AUTH_REQUIRED", hint: expect.any(String) });
  });
});
