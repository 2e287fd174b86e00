import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  callTool,
  configOf,
  nextEvent,
  refusalOf,
  stdio,
  testExchange,
  testService,
  textOf,
  toolNames,
} from "./support.js";

describe("the direct surface", () => {
  it("lists every tool under its prefixed name, as its server describes it", async () => {
    await using under = testService([stdio("strange"), stdio("crashing")], { surface: "direct" });
    const { tools } = await under.service.handle("tools/list", {}, testExchange());
    expect(tools).toEqual([
      expect.objectContaining({ name: "mcp__crashing__ok", description: "Answers with the process id." }),
      expect.objectContaining({ name: "mcp__crashing__crash" }),
      { name: "mcp__strange__show", inputSchema: { type: "object" }, colour: "green" },
    ]);
    expect(
      await under.service.handle("tools/call", { name: "mcp.echo", arguments: { message: "hi" } }, testExchange()),
    ).toEqual({
      content: [{ type: "text", text: "hi" }],
    });
    expect(under.storeIsOpen).toBe(false);
  });

  it.each([
    ["modern", []],
    ["legacy", ["--legacy-only"]],
  ])("returns the results of a %s server unchanged", async (_, args) => {
    await using under = testService([stdio("strange", args)], { surface: "direct" });
    expect(await callTool(under, "mcp__strange__show", {})).toEqual({
      content: [
        { type: "text", text: "seen", weight: 7 },
        { type: "hologram", depth: 3, nested: { kept: true } },
      ],
      structuredContent: { a: 1 },
      temperature: 21,
      _meta: { "acme/trace": "t-1" },
    });
  });

  it("calls a tool that was never listed, connecting only to its server", async () => {
    await using under = testService([stdio("crashing"), stdio("silent")], { surface: "direct" });
    expect(textOf(await callTool(under, "mcp__crashing__ok"))).toMatch(/^ok \d+$/);
    const states = (await under.hub()).status().map(({ name, state }) => [name, state]);
    expect(states).toEqual([
      ["crashing", "connected"],
      ["silent", "pending"],
    ]);
  });

  it("rejects an unknown tool with a protocol error, and suggests a similar one", async () => {
    await using under = testService([stdio("crashing")], { surface: "direct" });
    const refusal = await refusalOf(callTool(under, "mcp__crashing__okay"));
    expect(refusal).toMatchObject({
      code: -32_602,
      message: expect.stringContaining("Did you mean mcp__crashing__ok"),
    });
    expect(await refusalOf(callTool(under, "nothing"))).toMatchObject({ code: -32_602 });
    expect(await refusalOf(under.service.handle("tools/call", {}, testExchange()))).toMatchObject({ code: -32_602 });
    expect(await refusalOf(under.service.handle("tools/play", {}, testExchange()))).toMatchObject({ code: -32_601 });
  });

  it("returns our own failures as results that do not violate the output schema", async () => {
    await using under = testService([stdio("crashing", ["--crash-on-start"])], { surface: "direct" });
    expect(await toolNames(under)).toEqual([]);
    await using slow = testService([stdio("slow", [], { callTimeoutMs: 200 })], { surface: "direct" });
    const late = await callTool(slow, "mcp__slow__wait", { ms: 60_000, progress_every_ms: 60_000 });
    expect(Object.keys(late)).toEqual(["content", "isError"]);
    expect(JSON.parse(textOf(late))).toEqual({
      error: { code: "TIMEOUT", message: expect.any(String), hint: expect.any(String) },
    });
    await expect.poll(async () => textOf(await callTool(slow, "mcp__slow__cancelled_count"))).toBe("1");
  });

  it("answers without waiting again for a slow server, and lists its tools once it is ready", async () => {
    const folder = mkdtempSync(join(tmpdir(), "trunkline-direct-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const start = join(folder, "start");
    await using under = testService([stdio("crashing"), stdio("slow", ["--start-file", start])], {
      surface: "direct",
    });
    expect(await toolNames(under)).toEqual(["mcp__crashing__ok", "mcp__crashing__crash"]);
    const changed = nextEvent(under, "tools_list_changed");
    const again = toolNames(under);
    writeFileSync(start, "");
    // If this call waited too, it would list the server's tool.
    expect(await again).not.toContain("mcp__slow__wait");
    await changed;
    expect(await toolNames(under)).toContain("mcp__slow__wait");
  });

  it("recovers after a server is killed: the list changes, and the next call waits for the new process", async () => {
    await using under = testService([stdio("crashing")], { surface: "direct" });
    const listed = nextEvent(under, "tools_list_changed");
    const before = await callTool(under, "mcp__crashing__ok");
    await listed;
    const pid = Number(textOf(before).slice(3));
    const changed = nextEvent(under, "tools_list_changed");
    process.kill(pid, "SIGKILL");
    await changed;
    const after = textOf(await callTool(under, "mcp__crashing__ok"));
    expect(after).toMatch(/^ok \d+$/);
    expect(after).not.toBe(textOf(before));
    expect(await toolNames(under)).toContain("mcp__crashing__ok");
  });

  it("reports SERVER_EXITED if a call crashes its server", async () => {
    await using under = testService([stdio("crashing")], { surface: "direct" });
    const crashed = await callTool(under, "mcp__crashing__crash");
    expect(JSON.parse(textOf(crashed)).error).toMatchObject({ code: "SERVER_EXITED" });
  });

  it.each([
    ["modern", []],
    ["legacy", ["--legacy-only"]],
  ])("forwards the caller's request to a %s server without mentioning the gateway", async (_, args) => {
    await using under = testService([stdio("mirror", args)], { surface: "direct" });
    const meta = { "acme/trace": "t-1" };
    const result = await callTool(under, "mcp__mirror__show", { a: [1, null], "": {} }, { meta });
    expect(result).toEqual({
      content: [],
      structuredContent: {
        name: "show",
        arguments: { a: [1, null], "": {} },
        _meta: expect.objectContaining(meta),
      },
      _meta: { "acme/kept": true },
    });
    const { service } = under;
    const exchange = testExchange({ meta });
    const read = await service.handle("resources/read", { uri: "mirror://show" }, exchange);
    expect(JSON.parse((read.contents as { text: string }[])[0]?.text ?? "")).toMatchObject({ _meta: meta });
    const got = await service.handle("prompts/get", { name: "mirror.show", arguments: { x: "1" } }, exchange);
    expect(JSON.parse((got.messages as { content: { text: string } }[])[0]?.content.text ?? "")).toMatchObject({
      name: "show",
      arguments: { x: "1" },
      _meta: meta,
    });
    for (const answered of [read, got]) expect(JSON.stringify(answered)).not.toContain('"version":"1.0.0"');
  });

  it.each([
    ["modern", []],
    ["legacy", ["--legacy-only"]],
  ])("forwards the protocol errors of a %s server unchanged", async (_, args) => {
    await using under = testService([stdio("mirror", args)], { surface: "direct" });
    const error = { code: -32_050, message: "look there", data: { places: [], acme: 1 } };
    expect(await refusalOf(callTool(under, "mcp__mirror__refuse", error))).toMatchObject(error);
    const other = { code: 7, message: "own code" };
    expect(await refusalOf(callTool(under, "mcp__mirror__refuse", other))).toMatchObject(other);
    // Errors about the connection between us and the server are reported as our own.
    const hop = await callTool(under, "mcp__mirror__refuse", { code: -32_022, message: "which revision?" });
    expect(hop.isError).toBe(true);
    expect(JSON.parse(textOf(hop)).error.code).toBe("UPSTREAM");
  });

  it("forwards progress and cancellation", async () => {
    await using under = testService([stdio("slow")], { surface: "direct" });
    const seen: number[] = [];
    await callTool(
      under,
      "mcp__slow__wait",
      { ms: 300, progress_every_ms: 50 },
      { onProgress: ({ progress }) => seen.push(progress) },
    );
    expect(seen.length).toBeGreaterThan(2);
    const controller = new AbortController();
    const progressed = new Promise<void>((resolve) => {
      void callTool(
        under,
        "mcp__slow__wait",
        { ms: 60_000, progress_every_ms: 20 },
        { signal: controller.signal, onProgress: () => resolve() },
      ).finally(() => {});
    });
    await progressed;
    controller.abort();
    await expect.poll(async () => textOf(await callTool(under, "mcp__slow__cancelled_count"))).toBe("1");
  });

  it("enforces the policy and logs each call in the journal", async () => {
    const calls: string[] = [];
    const journal = {
      record: ({ operation, outcome, code }: { operation: string; outcome: string; code?: string | undefined }) =>
        void calls.push(`${operation} ${outcome} ${code ?? ""}`),
    };
    await using under = testService([stdio("crashing"), stdio("strange")], {
      surface: "direct",
      policies: [{ "strange.*": "deny" }],
      journal,
    });
    const denied = await callTool(under, "mcp__strange__show");
    expect(denied.isError).toBe(true);
    expect(JSON.parse(textOf(denied)).error).toMatchObject({ code: "DENIED" });
    await callTool(under, "mcp__crashing__ok");
    expect(calls).toEqual(["strange.show error DENIED", "crashing.ok ok "]);
  });
});

describe("plain names", () => {
  it("keep the original names of tools and prompts", async () => {
    await using under = testService([stdio("strange")], { surface: "direct", names: "plain" });
    await under.service.start();
    expect(await toolNames(under)).toEqual(["show"]);
    expect(textOf(await callTool(under, "show"))).toBe("seen");
    const { prompts } = await under.service.handle("prompts/list", {}, testExchange());
    expect(prompts).toEqual([{ name: "riddle", mood: "dark" }]);
    expect(await under.service.handle("prompts/get", { name: "riddle" }, testExchange())).toEqual({
      messages: [{ role: "user", content: { type: "hologram", depth: 3, nested: { kept: true } } }],
      mood: "dark",
    });
  });

  it("that collide later stay with the server that has them, and the log has a warning", async () => {
    const [one, two] = [stdio("crashing", [], { name: "one" }), stdio("crashing", [], { name: "two" })];
    await using under = testService([two], { surface: "direct", names: "plain" });
    await under.service.start();
    const alone = textOf(await callTool(under, "ok"));
    const changed = nextEvent(under, "tools_list_changed");
    await (await under.hub()).reload(configOf(one, two));
    await (await under.hub()).connect();
    await changed;
    expect(await toolNames(under)).toEqual(["ok", "crash"]);
    expect(textOf(await callTool(under, "ok"))).toBe(alone);
    expect(under.log.join("")).toMatch(/its name is already taken.*ok.*two, one/);
  });

  it("shared by two servers are detected even while a third one hangs", async () => {
    const [one, two] = [stdio("crashing", [], { name: "one" }), stdio("crashing", [], { name: "two" })];
    await using under = testService([one, stdio("silent", [], { connectTimeoutMs: 60_000 }), two], {
      surface: "direct",
      names: "plain",
    });
    await expect(under.service.start()).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  });

  it("shared by two servers are a startup error that names both", async () => {
    await using under = testService([stdio("crashing", [], { name: "one" }), stdio("crashing", [], { name: "two" })], {
      surface: "direct",
      names: "plain",
    });
    await expect(under.service.start()).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringMatching(/"ok" \(one and two\), "crash" \(one and two\)/),
    });
    // Without the startup check, the first server gets the name.
    expect(await toolNames(under)).toEqual(["ok", "crash"]);
    expect(under.log.join("")).toContain("its name is already taken");
  });
});
