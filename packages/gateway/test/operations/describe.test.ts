import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { Embedder } from "@trunkline/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Bench, exchangeOf, openBench, shapes, stdio } from "./support.js";

interface Overview {
  operations: { name: string; kind: string; summary: string }[];
  session_actions: { name: string; kind: string; summary: string }[];
  servers: { name: string; tools?: number; state: string; note?: string }[];
}

interface Listing {
  tools: { name: string; kind: string; summary: string }[];
  total: number;
  cursor?: string;
}

interface Found {
  operations: { name: string; signature?: string }[];
  method: string;
  cursor?: string;
  notice?: string;
  not_connected?: string[];
}

let cacheFolder: string;

beforeAll(async () => {
  cacheFolder = await mkdtemp(join(tmpdir(), "trunkline-catalogue-"));
});

afterAll(async () => {
  await rm(cacheFolder, { recursive: true, force: true });
});

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await setImmediate();
}

const states = async (bench: Bench) =>
  Object.fromEntries((await bench.hub()).status().map(({ name, state }) => [name, state]));

describe("describe", () => {
  it("lists every operation with its summary, and all servers without connecting them", async () => {
    await using bench = await openBench({ servers: [shapes(), stdio("hello")] });
    const overview = (await bench.run("describe")) as Overview;
    expect(overview.operations.map(({ name }) => name)).toEqual(bench.registry.builtin.map(({ name }) => name));
    expect(overview.operations[0]).toEqual({
      name: "search",
      kind: "read",
      summary: "Find documents by words and by meaning.",
    });
    expect(overview.session_actions.map(({ name }) => name)).toEqual(["start", "stop", "pin", "unpin", "watch"]);
    expect(overview.session_actions[0]).toEqual({
      name: "start",
      kind: "session",
      summary: "Start a session: documents added from now on belong to it.",
    });
    expect(overview.servers).toEqual([
      { name: "hello", state: "pending", note: "Never connected. Describe it to connect it." },
      { name: "shapes", state: "pending", note: "Never connected. Describe it to connect it." },
    ]);
    expect(await states(bench)).toEqual({ hello: "pending", shapes: "pending" });
  });

  it("returns the schema, kind and example of an operation or session action", async () => {
    await using bench = await openBench();
    expect(await bench.run("describe", { target: "search" })).toMatchObject({
      name: "search",
      kind: "read",
      schema: { required: ["query"], properties: { limit: { default: 10 } } },
      example: { query: "retry with backoff", limit: 5 },
    });
    expect(await bench.run("describe", { target: "watch" })).toMatchObject({ kind: "session" });
  });

  it("lists a server's tools, connecting only that server", async () => {
    await using bench = await openBench({ servers: [shapes({ readOnly: ["get_*"] }), stdio("hello")] });
    const listing = (await bench.run("describe", { target: "shapes", limit: 2 })) as Listing;
    expect(listing).toMatchObject({ server: "shapes", state: "connected", total: 14, cursor: expect.any(String) });
    expect(listing.tools[0]).toEqual({
      name: "shapes.structured",
      kind: "read",
      summary: "Answers with structured content.",
    });
    const next = (await bench.run("describe", { target: "shapes", limit: 50, cursor: listing.cursor })) as Listing;
    expect(next.tools).toHaveLength(12);
    expect(next.cursor).toBeUndefined();
    expect(await states(bench)).toEqual({ hello: "pending", shapes: "connected" });
  });

  it.each(["shapes.strict", "mcp__shapes__strict", "shapes-strict", "mcp__trunkline__shapes_strict"])(
    "returns the schemas of the tool %s",
    async (target) => {
      await using bench = await openBench({ servers: [shapes()] });
      expect(await bench.run("describe", { target })).toEqual({
        name: "shapes.strict",
        kind: "write",
        schema: { type: "object", properties: { title: { type: "string" } }, additionalProperties: false },
        output_schema: { type: "object" },
      });
    },
  );

  it("suggests the nearest names for an unknown target", async () => {
    await using bench = await openBench({ servers: [shapes()] });
    await expect(bench.run("describe", { target: "serach" })).rejects.toMatchObject({
      code: "NOT_FOUND",
      hint: "Did you mean search?",
    });
    await expect(bench.run("describe", { target: "shape" })).rejects.toMatchObject({ hint: "Did you mean shapes?" });
    await expect(bench.run("describe", { target: "shapes.get_thin" })).rejects.toMatchObject({
      hint: "Did you mean shapes.get_thing?",
    });
    await expect(bench.run("describe", { target: "get_thing" })).rejects.toMatchObject({
      hint: "Did you mean shapes.get_thing?",
    });
    await expect(bench.run("describe", { target: "a", find: "b" })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await expect(bench.run("describe", { find: " " })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await expect(bench.run("describe", { cursor: "nonsense" })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it("knows a server's tools from an earlier run, until its definition changes", async () => {
    const folder = join(cacheFolder, "between-runs");
    {
      await using bench = await openBench({ servers: [shapes()], cacheFolder: folder });
      await bench.run("describe", { target: "shapes" });
    }
    {
      await using bench = await openBench({ servers: [shapes()], cacheFolder: folder });
      const { servers } = (await bench.run("describe")) as Overview;
      expect(servers).toEqual([
        { name: "shapes", tools: 14, state: "pending", note: "Not connected yet. Tools are from the last connection." },
      ]);
      expect(await bench.run("describe", { target: "shapes.strict" })).toMatchObject({ name: "shapes.strict" });
      expect(((await bench.run("describe", { find: "structured content" })) as Found).operations[0]?.name).toBe(
        "shapes.structured",
      );
      expect(await states(bench)).toEqual({ shapes: "pending" });
    }
    await using changed = await openBench({ servers: [shapes({ tools: { deny: ["two"] } })], cacheFolder: folder });
    const { servers } = (await changed.run("describe")) as Overview;
    expect(servers[0]).not.toHaveProperty("tools");
    expect((await readdir(folder)).every((name) => /^tools-shapes-[0-9a-f]{12}\.json$/.test(name))).toBe(true);
  });

  it("ignores a damaged file from an earlier run", async () => {
    const folder = join(cacheFolder, "damaged");
    {
      await using bench = await openBench({ servers: [shapes()], cacheFolder: folder });
      await bench.run("describe", { target: "shapes" });
    }
    for (const name of await readdir(folder)) await writeFile(join(folder, name), '{"format": 1, "key"');
    await using bench = await openBench({ servers: [shapes()], cacheFolder: folder });
    expect(((await bench.run("describe")) as Overview).servers[0]).not.toHaveProperty("tools");
    expect(await bench.run("describe", { target: "shapes" })).toMatchObject({ total: 14 });
  });
});

const TOOLS = [
  {
    name: "create_pull_request",
    description: "Propose changes of a branch for review.",
    inputSchema: { type: "object" },
  },
  { name: "delete_branch", description: "Remove a branch.", inputSchema: { type: "object" } },
  {
    name: "forecast",
    description: "Weather of the coming days.",
    inputSchema: { type: "object", properties: { city: { type: "string" } } },
    outputSchema: { type: "object", properties: { degrees: { type: "number" } }, required: ["degrees"] },
  },
];

describe("describe {target} of our own tools", () => {
  it.each(["query", "execute"])("shows what the definition of %s leaves out", async (target) => {
    await using bench = await openBench();
    const card = JSON.stringify(await bench.run("describe", { target }));
    for (const part of ["{{$x.title}}", "$steps[0]", "[0:3]", "for_each", "$hash:"]) expect(card).toContain(part);
    expect(card.length).toBeLessThan(1_200);
  });
});

describe("describe {find}", () => {
  let servers: Parameters<typeof openBench>[0];

  beforeAll(async () => {
    const file = join(cacheFolder, "tools.json");
    await writeFile(file, JSON.stringify(TOOLS));
    servers = { servers: [shapes({ name: "forge" }, file)] };
  });

  it("ranks our own operations and those of all servers, connecting servers it has never seen", async () => {
    await using bench = await openBench(servers);
    const found = (await bench.run("describe", { find: "pull requests", limit: 2 })) as Found;
    expect(found.method).toBe("keyword");
    expect(found.operations[0]).toEqual({
      name: "forge.create_pull_request",
      kind: "write",
      summary: "Propose changes of a branch for review.",
      signature: "()",
    });
    const own = (await bench.run("describe", { find: "bring deleted documents back from the trash" })) as Found;
    expect(own.operations.slice(0, 2).map(({ name }) => name)).toContain("undelete");
    const folder = (await bench.run("describe", { find: "erase the branch" })) as Found;
    expect(folder.operations[0]?.name).toBe("forge.delete_branch");
  });

  it.each([
    ["remember a fact for later", "add"],
    ["save a note", "add"],
    ["recall a saved note", "search"],
    ["who calls this function", "graph"],
    ["read an earlier version of a file", "get"],
  ])("finds our own operation for: %s", async (find, expected) => {
    await using bench = await openBench();
    const { operations } = (await bench.run("describe", { find })) as Found;
    expect(operations.slice(0, 2).map(({ name }) => name)).toContain(expected);
  });

  it("prefers the tool of a server that says it does that", async () => {
    const file = join(cacheFolder, "memory.json");
    await writeFile(file, JSON.stringify([{ name: "remember_fact", description: "Remembers a fact." }]));
    await using bench = await openBench({ servers: [shapes({ name: "mind" }, file)] });
    const { operations } = (await bench.run("describe", { find: "remember a fact" })) as Found;
    expect(operations[0]?.name).toBe("mind.remember_fact");
  });

  it("says what to do if nothing fits", async () => {
    await using bench = await openBench();
    expect(await bench.run("describe", { find: "qwertyuiop" })).toMatchObject({
      operations: [],
      hint: expect.stringContaining("describe {}"),
    });
  });

  it("shows up to five results with their signatures, so that they can be called", async () => {
    await using bench = await openBench(servers);
    const { operations } = (await bench.run("describe", { find: "weather forecast for a city" })) as Found;
    expect(operations[0]).toMatchObject({ name: "forge.forecast", signature: "(city?: string) => {degrees: number}" });
    const task = "Search the documents, compare two of them, then list the snapshots and delete the oldest document";
    const found = ((await bench.run("describe", { find: task })) as Found).operations;
    expect(found.map(({ signature }) => typeof signature)).toEqual(Array(5).fill("string"));
    const many = ((await bench.run("describe", { find: "documents", limit: 100 })) as Found).operations;
    expect(many.length).toBeGreaterThan(5);
    expect(many.every(({ signature }) => typeof signature === "string")).toBe(true);
  });

  it("leaves out what is far behind, unless more is asked for", async () => {
    await using bench = await openBench(servers);
    const find = "remove branch of the changes";
    const { operations, cursor } = (await bench.run("describe", { find })) as Found;
    const all = ((await bench.run("describe", { find, limit: 100 })) as Found).operations.map(({ name }) => name);
    expect(operations.map(({ name }) => name)).toEqual(all.slice(0, operations.length));
    expect(operations[0]?.name).toBe("forge.delete_branch");
    expect(operations.length).toBeLessThan(Math.min(5, all.length));
    const rest = (await bench.run("describe", { find, cursor })) as Found;
    expect(rest.operations[0]?.name).toBe(all[operations.length]);
  });

  it("has a cursor for further results", async () => {
    await using bench = await openBench(servers);
    const all = (await bench.run("describe", { find: "documents", limit: 100 })) as Found;
    const first = (await bench.run("describe", { find: "documents", limit: 2 })) as Found;
    const second = (await bench.run("describe", { find: "documents", limit: 2, cursor: first.cursor })) as Found;
    expect([...first.operations, ...second.operations]).toEqual(all.operations.slice(0, 4));
  });

  it("names the servers it could not ask", async () => {
    const broken = stdio("hello", { name: "broken", command: "/nowhere/at-all" } as object);
    await using bench = await openBench({ servers: [shapes(), broken] });
    const found = (await bench.run("describe", { find: "structured" })) as Found;
    expect(found.operations[0]?.name).toBe("shapes.structured");
    expect(found.not_connected).toEqual(["broken"]);
  });

  it("does not wait for a slow server, either to answer or to close", async () => {
    const slow = stdio("slow", {}, ["--start-delay-ms", "60000"]);
    await using bench = await openBench({ servers: [shapes(), slow] });
    const stop = new AbortController();
    const exchange = exchangeOf();
    const operation = await bench.registry.find("describe");
    const work = operation.run({ find: "structured" }, { exchange, signal: stop.signal });
    await until(async () => (await states(bench)).shapes === "connected");
    stop.abort();
    await expect(work).rejects.toMatchObject({ code: "ABORTED" });
    await bench.registry.close();
  });

  it("ranks by meaning if there is a model and embeds every text only once", async () => {
    const folder = join(cacheFolder, "vectors");
    const texts: string[] = [];
    // The vectors have two directions: weather and everything else.
    const embedder: Embedder = {
      model: "test/model",
      dimensions: 2,
      embed: async (batch) => {
        texts.push(...batch);
        return batch.map((text) => (/weather|umbrella/i.test(text) ? Float32Array.of(1, 0) : Float32Array.of(0, 1)));
      },
      async [Symbol.asyncDispose]() {},
    };
    const find = "will I need an umbrella";
    {
      await using bench = await openBench({ ...servers, embedder, cacheFolder: folder, findWaitMs: 60_000 });
      const found = (await bench.run("describe", { find })) as Found;
      expect(found.method).toBe("hybrid");
      expect(found.operations[0]?.name).toBe("forge.forecast");
    }
    expect(new Set(texts).size).toBe(texts.length);
    const before = texts.length;
    await using bench = await openBench({ ...servers, embedder, cacheFolder: folder });
    expect(((await bench.run("describe", { find })) as Found).operations[0]?.name).toBe("forge.forecast");
    expect(texts.slice(before)).toEqual([find]);
  });

  it("answers by words until the index is ready, and builds it in the background when tools change", async () => {
    const embedded: string[] = [];
    let answer = () => {};
    const ready = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const embedder: Embedder = {
      model: "slow",
      dimensions: 1,
      embed: async (batch) => {
        await ready;
        embedded.push(...batch);
        return batch.map(() => Float32Array.of(1));
      },
      async [Symbol.asyncDispose]() {},
    };
    await using bench = await openBench({ ...servers, embedder });
    const found = (await bench.run("describe", { find: "pull request" })) as Found;
    expect(found).toMatchObject({ method: "keyword", notice: expect.stringContaining("is not ready") });
    expect(found.operations[0]?.name).toBe("forge.create_pull_request");
    answer();
    bench.registry.indexTools();
    await until(async () => embedded.includes("forge forecast"));
    await until(async () => ((await bench.run("describe", { find: "pull request" })) as Found).method === "hybrid");
  });

  it("puts what is used first among equals", async () => {
    const file = join(cacheFolder, "equal-tools.json");
    const equal = ["a", "b", "c"].map((name) => ({ name: `${name}_report`, inputSchema: { type: "object" } }));
    await writeFile(file, JSON.stringify(equal));
    const used = {
      load: async () => {},
      weightOf: (name: string, principal: string) => weights[`${principal} ${name}`] ?? 0,
    };
    const weights: Record<string, number> = { "local forge.b_report": 2, "other forge.c_report": 5 };
    await using bench = await openBench({ servers: [shapes({ name: "forge" }, file)], usage: used });
    const names = async (principal: string) => {
      const exchange = exchangeOf({ caller: { principal } });
      const found = (await bench.run("describe", { find: "the report" }, exchange)) as Found;
      return found.operations.slice(0, 3).map(({ name }) => name);
    };
    expect(await names("local")).toEqual(["forge.b_report", "forge.a_report", "forge.c_report"]);
    expect(await names("other")).toEqual(["forge.c_report", "forge.a_report", "forge.b_report"]);
  });

  it("says once per client that the model is not installed", async () => {
    await using bench = await openBench({ ...servers, embedder: "not installed", findWaitMs: 60_000 });
    const ask = async (caller: Parameters<typeof exchangeOf>[0]) =>
      ((await bench.run("describe", { find: "pull request" }, exchangeOf(caller))) as Found).notice;
    const [one, other] = [{ caller: { id: "1" } }, { caller: { id: "2" } }];
    expect(await ask(one)).toContain("trunkline models pull");
    expect(await ask(one)).toBeUndefined();
    expect(await ask(other)).toContain("trunkline models pull");
    const stateless = (id: string) => ({ caller: { id, lasting: false, principal: "ci", name: "agent 1.0" } });
    expect(await ask(stateless("3"))).toContain("trunkline models pull");
    expect(await ask(stateless("4"))).toBeUndefined();
  });

  it("does not suggest the model to a program that cannot use one", async () => {
    await using bench = await openBench(servers);
    expect(((await bench.run("describe", { find: "pull request" })) as Found).notice).toBeUndefined();
  });

  it("falls back to keywords if the model fails", async () => {
    const embedder: Embedder = {
      model: "failing",
      dimensions: 2,
      embed: async () => {
        throw new Error("out of memory");
      },
      async [Symbol.asyncDispose]() {},
    };
    await using bench = await openBench({ ...servers, embedder });
    const found = (await bench.run("describe", { find: "pull request" })) as Found;
    expect(found).toMatchObject({ method: "keyword", notice: expect.stringContaining("Matched by words only") });
    expect(found.operations[0]?.name).toBe("forge.create_pull_request");
  });
});
