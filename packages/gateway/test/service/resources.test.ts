import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  callTool,
  configOf,
  nextEvent,
  refusalOf,
  stdio,
  type TestService,
  testCaller,
  testExchange,
  testService,
  textOf,
} from "./support.js";

type Raw = Readonly<Record<string, unknown>>;

const legacy = testCaller();
const modern = testCaller({ era: "modern", revision: "2026-07-28", lasting: false });

const read = async ({ service }: TestService, uri: string, caller = legacy) =>
  ((await service.handle("resources/read", { uri }, testExchange({ caller }))).contents as Raw[])[0];

const list = async ({ service }: TestService, cursor?: string) =>
  (await service.handle("resources/list", cursor === undefined ? {} : { cursor }, testExchange())) as {
    resources: { uri: string }[];
    nextCursor?: string;
  };

describe("our own resources", () => {
  it("are listed without opening the store", async () => {
    await using under = testService([]);
    expect((await list(under)).resources.map(({ uri }) => uri)).toEqual(["trunkline://status"]);
    const { resourceTemplates } = await under.service.handle("resources/templates/list", {}, testExchange());
    expect((resourceTemplates as { uriTemplate: string }[]).map(({ uriTemplate }) => uriTemplate)).toEqual([
      "trunkline://document/{path}",
      "trunkline://blob/{hash}",
      "trunkline://snapshot/{id}",
    ]);
    expect(under.storeIsOpen).toBe(false);
  });

  it("serve documents by path, as text or binary", async () => {
    await using under = testService([]);
    const store = await under.store();
    mkdirSync(join(under.folder, "src"));
    const path = join(under.folder, "src", "größe [1].md");
    writeFileSync(path, "# Größe\n");
    writeFileSync(join(under.folder, "pixel.png"), Buffer.from([137, 80, 78, 71, 0, 255, 0, 1]));
    await store.run("add", { path: "src" });
    await store.run("add", { path: "pixel.png" });
    const text = { mimeType: "text/markdown", text: "# Größe\n" };
    const encoded = `trunkline://document/${encodeURIComponent(path)}`;
    expect(await read(under, encoded)).toEqual({ uri: encoded, ...text });
    expect(await read(under, `trunkline://document/${path}`)).toMatchObject(text);
    expect(await read(under, "trunkline://document/pixel.png")).toMatchObject({
      mimeType: "image/png",
      blob: Buffer.from([137, 80, 78, 71, 0, 255, 0, 1]).toString("base64"),
    });
  });

  it("serve content by hash, and snapshots", async () => {
    await using under = testService([]);
    const store = await under.store();
    const { hash } = await store.run("add", { content: '{"a":1}', name: "data.json" });
    const loose = await store.put(new TextEncoder().encode("loose"));
    expect(await read(under, `trunkline://blob/${hash}`)).toMatchObject({
      mimeType: "application/json",
      text: '{"a":1}',
    });
    expect(await read(under, `trunkline://blob/${loose.slice(0, 12)}`)).toMatchObject({
      mimeType: "text/plain",
      text: "loose",
    });
    const { id } = await store.run("snapshot", { label: "first" });
    for (const name of [id, "first"]) {
      const { text } = (await read(under, `trunkline://snapshot/${name}`)) as { text: string };
      expect(JSON.parse(text)).toMatchObject({ id, label: "first", listed: [{ path: "data.json", hash, size: 7 }] });
    }
  });

  it("include the status", async () => {
    await using under = testService([stdio("crashing")]);
    const { text } = (await read(under, "trunkline://status")) as { text: string };
    expect(JSON.parse(text)).toMatchObject({
      server: { name: "trunkline" },
      servers: [{ name: "crashing", state: "pending" }],
      store: { total_objects: 0 },
    });
  });

  it.each([
    "trunkline://document/nothing.md",
    "trunkline://blob/0123456789abcdef",
    "trunkline://snapshot/none",
    "trunkline://other",
    "trunkline://document/",
    "unknown://thing",
  ])("that do not exist, such as %s, are rejected with the error code of each era", async (uri) => {
    await using under = testService([]);
    expect(await refusalOf(read(under, uri))).toMatchObject({ code: -32_002, data: { uri } });
    expect(await refusalOf(read(under, uri, modern))).toMatchObject({ code: -32_602, data: { uri } });
  });

  it("notify when a watched document changes, but not after unsubscribing", async () => {
    await using under = testService([]);
    const file = join(under.folder, "watched", "a.md");
    mkdirSync(join(under.folder, "watched"));
    writeFileSync(file, "one");
    await (await under.store()).run("add", { path: "watched" });
    const caller = testCaller();
    await callTool(under, "session", { action: "start" }, { caller });
    await callTool(under, "session", { action: "watch", params: { paths: ["watched"] } }, { caller });
    let told = 0;
    let onTold: (() => void) | undefined;
    const listener = () => {
      told++;
      onTold?.();
    };
    const stop = await under.service.subscribe("trunkline://document/watched/a.md", listener, { principal: "local" });
    const first = new Promise<void>((resolve) => {
      onTold = resolve;
    });
    writeFileSync(join(under.folder, "watched", "other.md"), "not this one");
    writeFileSync(file, "two, longer");
    await first;
    expect(await read(under, "trunkline://document/watched/a.md")).toMatchObject({ text: "two, longer" });
    await stop();
    const before = told;
    const other = new Promise<void>((resolve) => {
      void under.service.subscribe("trunkline://document/watched/a.md", resolve, { principal: "local" });
    });
    writeFileSync(file, "three, longer still");
    await other;
    expect(told).toBe(before);
    await under.service.release(caller);
    expect(
      await refusalOf(under.service.subscribe("trunkline://document/none", () => {}, { principal: "local" })),
    ).toMatchObject({
      code: -32_002,
    });
  });

  it("notify when a server's state changes", async () => {
    await using under = testService([stdio("crashing")]);
    const told = new Promise<void>((resolve) => {
      void under.service.subscribe("trunkline://status", resolve, { principal: "local" });
    });
    await under.service.handle("prompts/list", {}, testExchange());
    await told;
  });
});

/** Waits for every server, however slow the machine is. A lookup alone only waits briefly. */
async function connected(under: TestService): Promise<void> {
  const hub = await under.hub();
  await hub.connect();
}

describe("resources of servers", () => {
  it("keep their URIs and are read from their servers", async () => {
    await using under = testService([stdio("library"), stdio("strange")]);
    const { resources } = await list(under);
    expect(resources).toEqual([
      expect.objectContaining({ uri: "trunkline://status" }),
      expect.objectContaining({ uri: "test://notes/today", size: 17 }),
      expect.objectContaining({ uri: "test://picture" }),
      { uri: "strange://thing", name: "thing", smell: "pine" },
    ]);
    expect(await read(under, "strange://thing")).toEqual({ uri: "strange://thing", text: "x", smell: "pine" });
    // Matches a template, but is not listed.
    expect(await read(under, "test://notes/seven")).toMatchObject({ text: "note seven" });
    expect(await read(under, "test://picture")).toMatchObject({ mimeType: "image/png", blob: expect.any(String) });
  });

  it("that do not exist are rejected with the error code of the client's era, whatever the server's", async () => {
    await using under = testService([stdio("library"), stdio("strange")]);
    await connected(under);
    expect(await refusalOf(read(under, "test://notes/missing"))).toMatchObject({ code: -32_002 });
    expect(await refusalOf(read(under, "test://notes/missing", modern))).toMatchObject({ code: -32_602 });
    const near = await refusalOf(read(under, "strange://things"));
    expect(near).toMatchObject({ code: -32_002, message: expect.stringContaining("strange://thing") });
  });

  it("with the same URI on two servers come from the first", async () => {
    const one = stdio("library", [], { name: "one" });
    const two = stdio("library", [], { name: "two" });
    await using under = testService([two, one], { surface: "direct" });
    const { resources } = await list(under);
    expect(resources.filter(({ uri }) => uri === "test://notes/today")).toHaveLength(1);
    await callTool(under, "mcp__one__touch");
    expect(await read(under, "test://notes/today")).toMatchObject({ text: "changed 1 times" });
    const changed = nextEvent(under, "resources_list_changed");
    await (await under.hub()).reload(configOf(two));
    await changed;
    expect(await read(under, "test://notes/today")).toMatchObject({ text: "changed 0 times" });
  });

  it("are paged if there are many", async () => {
    await using under = testService([stdio("paging", ["--pages", "30", "--per-page", "50"])]);
    const first = await list(under);
    expect(first.resources).toHaveLength(1_000);
    const second = await list(under, first.nextCursor);
    expect(second.resources).toHaveLength(501);
    expect(second.nextCursor).toBeUndefined();
    expect(await refusalOf(list(under, "nonsense"))).toMatchObject({ code: -32_602 });
  });

  it("notify their subscribers, even after their server restarts", async () => {
    await using under = testService([stdio("library")], { surface: "direct" });
    await connected(under);
    let onTold: () => void = () => {};
    const stop = await under.service.subscribe("test://notes/today", () => onTold(), { principal: "local" });
    const told = () =>
      new Promise<void>((resolve) => {
        onTold = resolve;
      });
    const first = told();
    await callTool(under, "mcp__library__touch");
    await first;
    const again = told();
    await callTool(under, "mcp__library__crash");
    await again;
    const after = told();
    await callTool(under, "mcp__library__touch");
    await after;
    await stop();
    expect(textOf(await callTool(under, "mcp__library__subscribed"))).toBe("[]");
  });

  it("cannot be subscribed to if the server does not support it", async () => {
    await using under = testService([stdio("library", ["--no-subscribe"])]);
    await connected(under);
    expect(
      await refusalOf(under.service.subscribe("test://notes/today", () => {}, { principal: "local" })),
    ).toMatchObject({
      code: -32_602,
    });
  });
});
