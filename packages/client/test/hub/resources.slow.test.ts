import { describe, expect, it } from "vitest";
import { startServer } from "../../../../test/servers/start.js";
import { openHub, type ResourceUpdate, resourceTools, type ServerDefinition } from "../../src/index.js";
import { configOf, http, stdio, until } from "./fixtures.js";
import { Told } from "./told.js";

const eras: [string, string[]][] = [
  ["modern", []],
  ["legacy", ["--legacy-only"]],
];

describe.each(eras)("the resources of a %s server", (_, args) => {
  const library = (more: readonly string[] = []) => stdio("library", [...args, ...more]);

  it("are listed, with their templates, for one server and for all", async () => {
    await using hub = await openHub(configOf(library(), stdio("hello")), { lazy: true });
    const all = await hub.resources();
    expect(all.map(({ server, uri, name }) => [server, uri, name])).toEqual([
      ["library", "test://notes/today", "today"],
      ["library", "test://picture", "picture"],
    ]);
    expect(all[0]).toMatchObject({ title: "Today's note", mimeType: "text/plain", sizeBytes: 17 });
    expect(await hub.resources({ server: "hello" })).toEqual([]);
    expect(await hub.resourceTemplates({ server: "library" })).toMatchObject([
      { server: "library", uriTemplate: "test://notes/{id}", name: "note", description: "Any note." },
    ]);
  });

  it("are read, whether listed or not", async () => {
    await using hub = await openHub(configOf(library()));
    const { contents, raw } = await hub.readResource("library", "test://notes/today");
    expect(contents).toMatchObject([{ uri: "test://notes/today", mimeType: "text/plain", text: "changed 0 times" }]);
    expect(raw.contents).toEqual(contents);
    expect((await hub.readResource("library", "test://notes/other")).contents).toMatchObject([{ text: "note other" }]);
  });

  it("fail with NOT_FOUND and the nearest matches if they do not exist", async () => {
    await using hub = await openHub(configOf(library()));
    await expect(hub.readResource("library", "test://pictures")).rejects.toMatchObject({
      code: "NOT_FOUND",
      hint: "Did you mean test://picture?",
    });
    await expect(hub.readResource("libary", "test://picture")).rejects.toMatchObject({
      code: "SERVER_NOT_FOUND",
      hint: "Did you mean library?",
    });
  });

  it("notify subscribers of changes until they unsubscribe", async () => {
    await using hub = await openHub(configOf(library()));
    const first = new Told<ResourceUpdate>();
    const second = new Told<ResourceUpdate>();
    const stopFirst = await hub.subscribe("library", "test://notes/today", first.tell);
    const stopSecond = await hub.subscribe("library", "test://notes/today", second.tell);
    await hub.call("library.touch");
    const update = { server: "library", uri: "test://notes/today", restored: false };
    expect([await first.next(), await second.next()]).toEqual([update, update]);

    await stopFirst();
    await hub.call("library.touch");
    expect(await second.next()).toEqual(update);
    await stopSecond();
    const other = new Told<ResourceUpdate>();
    await hub.subscribe("library", "test://picture", other.tell);
    await hub.call("library.touch");
    await hub.call("library.touch", { uri: "test://picture" });
    await other.next();
    expect([first.count, second.count]).toEqual([1, 2]);
  });

  it("are subscribed to again after the server crashes", async () => {
    await using hub = await openHub(configOf(library()));
    const told = new Told<ResourceUpdate>();
    await hub.subscribe("library", "test://notes/today", told.tell);
    await expect(hub.call("library.crash")).rejects.toMatchObject({ code: "SERVER_EXITED" });
    expect(await told.next()).toMatchObject({ uri: "test://notes/today", restored: true });
    await hub.call("library.touch");
    expect(await told.next()).toMatchObject({ uri: "test://notes/today", restored: false });
  });

  it("are subscribed to again after the server's entry changes", async () => {
    await using hub = await openHub(configOf(library()));
    const told = new Told<ResourceUpdate>();
    await hub.subscribe("library", "test://notes/today", told.tell);
    await hub.reload(configOf({ ...library(), env: { CHANGED: "yes" } }));
    expect(await told.next()).toMatchObject({ restored: true });
    await hub.call("library.touch");
    expect(await told.next()).toMatchObject({ uri: "test://notes/today", restored: false });
  });

  it("cannot be subscribed to if the server does not support it", async () => {
    await using hub = await openHub(configOf(library(["--no-subscribe"])));
    await expect(hub.subscribe("library", "test://picture", () => {})).rejects.toMatchObject({
      code: "PROTOCOL",
      message: 'Server "library" does not support resource subscriptions.',
    });
  });

  it("can be subscribed to over HTTP as well", async () => {
    await using server = await startServer("library", args);
    await using hub = await openHub(configOf(http("library", server.url)));
    const told = new Told<ResourceUpdate>();
    const stop = await hub.subscribe("library", "test://notes/today", told.tell);
    await hub.call("library.touch");
    expect(await told.next()).toMatchObject({ uri: "test://notes/today", restored: false });
    await stop();
  });
});

describe("a subscription over HTTP", () => {
  const watch = async (definition: ServerDefinition) => {
    const hub = await openHub(configOf(definition));
    const told = new Told<ResourceUpdate>();
    await hub.subscribe(definition.name, "test://watched", told.tell);
    return { hub, told };
  };

  it("is restored when the session has expired, even without any request", async () => {
    await using server = await startServer("resuming");
    const { hub, told } = await watch(http("resuming", server.url));
    await using _closing = hub;
    await hub.call("resuming.touch");
    expect(await told.next()).toMatchObject({ uri: "test://watched", restored: false });
    await hub.call("resuming.forget");
    // The dropped stream cannot be reopened in a session that is gone.
    expect(await told.next()).toMatchObject({ restored: true });
    expect((await hub.call("resuming.touch")).text).toBe("1");
    expect(await told.next()).toMatchObject({ restored: false });
  });

  it("to a modern server is restored when the server is back", async () => {
    const server = await startServer("library");
    await using hub = await openHub(configOf(http("library", server.url)));
    const told = new Told<ResourceUpdate>();
    await hub.subscribe("library", "test://notes/today", told.tell);
    await server.close();
    await using _again = await startServer("library", ["--port", String(server.port)]);
    expect(await told.next()).toMatchObject({ restored: true });
    await hub.call("library.touch");
    expect(await told.next()).toMatchObject({ restored: false });
  });
});

describe("the tools for agents", () => {
  const [list, read] = ["list_mcp_resources", "read_mcp_resource"];
  const textOf = ({ blocks }: { blocks: readonly unknown[] }) => (blocks[0] as { text: string }).text;

  it("list and read resources, and tell the model what went wrong", async () => {
    await using hub = await openHub(configOf(stdio("library")));
    const tools = new Map(resourceTools(hub).map((tool) => [tool.name, tool]));
    const listed = JSON.parse(textOf((await tools.get(list)?.run({})) ?? { blocks: [] }));
    expect(listed.resources).toMatchObject([{ server: "library", uri: "test://notes/today" }, { name: "picture" }]);
    expect(listed.templates).toMatchObject([{ uriTemplate: "test://notes/{id}" }]);
    expect(await tools.get(list)?.run({ server: "nowhere" })).toMatchObject({ isError: true });

    const note = await tools.get(read)?.run({ server: "library", uri: "test://notes/today" });
    expect(note).toMatchObject({ isError: false, blocks: [{ type: "text", text: "changed 0 times" }] });
    const picture = await tools.get(read)?.run({ server: "library", uri: "test://picture" });
    expect(textOf(picture ?? { blocks: [] })).toContain("[binary received and not saved: image/png");
    const missing = await tools.get(read)?.run({ server: "library", uri: "test://pictur" });
    expect(missing).toMatchObject({ isError: true });
    expect(textOf(missing ?? { blocks: [] })).toContain("Did you mean test://picture?");
    expect(await tools.get(read)?.run({ uri: "test://picture" })).toMatchObject({ isError: true });
  });

  describe("with a server that does not know templates", () => {
    const plain = (resources: string) => `
      const results = {
        initialize: { protocolVersion: "2025-06-18", serverInfo: { name: "x", version: "1" }, capabilities: { resources: {} } },
        "resources/list": ${resources},
      };
      require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
        const { id, method } = JSON.parse(line);
        if (id === undefined) return;
        const answer = results[method] ? { result: results[method] } : { error: { code: -32601, message: "Unknown." } };
        console.log(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
      });`;
    const listed = async (resources: string, options: { servers?: string[] }, args: { server?: string }) => {
      const server = stdio("library", [], { name: "plain", args: ["-e", plain(resources)] });
      await using hub = await openHub(configOf(server));
      expect(await hub.resourceTemplates({ server: "plain" })).toEqual([]);
      const [tool] = resourceTools(hub, options);
      return (await tool?.run(args)) ?? { blocks: [], isError: undefined };
    };

    it.each([
      [{}, {}],
      [{ servers: ["plain"] }, {}],
      [{}, { server: "plain" }],
    ])("list its resources (%j, %j)", async (options, args) => {
      const result = await listed('{ resources: [{ uri: "test://one", name: "one" }] }', options, args);
      expect(JSON.parse(textOf(result))).toEqual({ resources: [{ server: "plain", uri: "test://one", name: "one" }] });
    });

    it("say why the resources could not be listed", async () => {
      const result = await listed("undefined", { servers: ["plain"] }, {});
      expect(result.isError).toBe(true);
      expect(textOf(result)).toContain('resources/list on "plain" failed');
    });
  });

  it("are limited to some servers, and connect no others", async () => {
    await using hub = await openHub(configOf(stdio("library"), stdio("paging")), { lazy: true });
    const tools = new Map(resourceTools(hub, { servers: ["library"] }).map((tool) => [tool.name, tool]));
    const listed = JSON.parse(textOf((await tools.get(list)?.run({})) ?? { blocks: [] }));
    expect(new Set(listed.resources.map(({ server }: { server: string }) => server))).toEqual(new Set(["library"]));
    for (const [name, args] of [
      [list, { server: "paging" }],
      [read, { server: "paging", uri: "test://1" }],
    ] as const) {
      const refused = await tools.get(name)?.run(args);
      expect(refused).toMatchObject({ isError: true });
      expect(textOf(refused ?? { blocks: [] })).toBe(
        'The resources of "paging" are not available here. Available servers: library.',
      );
    }
    expect(hub.status().find(({ name }) => name === "paging")?.state).toBe("pending");
  });

  it("say clearly that there is no hub", async () => {
    for (const tool of resourceTools(undefined)) {
      const result = await tool.run({ server: "x", uri: "y" });
      expect(result.isError).toBe(true);
      expect(textOf(result)).toContain("No MCP servers are available");
    }
  });
});

describe("a catalogue of resources", () => {
  it("is read again on request", async () => {
    await using hub = await openHub(configOf(stdio("paging")));
    expect(await hub.resources()).toHaveLength(6);
    expect(await hub.resources({ refresh: true })).toHaveLength(6);
    await until(
      () => hub.status()[0]?.resourceCount === 6,
      (listener) => hub.onStatusChanged(listener),
    );
  });
});
