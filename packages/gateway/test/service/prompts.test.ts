import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { BUILTIN_PROMPTS } from "../../src/prompts/builtin.js";
import { nextEvent, refusalOf, stdio, type TestService, testExchange, testService } from "./support.js";

async function promptNames({ service }: TestService): Promise<string[]> {
  const { prompts } = await service.handle("prompts/list", {}, testExchange());
  return (prompts as { name: string }[]).map(({ name }) => name);
}

const get = ({ service }: TestService, name: string, args?: Record<string, string>) =>
  service.handle("prompts/get", { name, ...(args === undefined ? {} : { arguments: args }) }, testExchange());

const complete = async ({ service }: TestService, ref: unknown, argument: unknown, context?: unknown) =>
  (
    (await service.handle("completion/complete", { ref, argument, ...(context ? { context } : {}) }, testExchange()))
      .completion as { values: string[] }
  ).values;

const messageOf = (result: Readonly<Record<string, unknown>>) =>
  (result.messages as { role: string; content: { text: string } }[])[0];

describe("prompts", () => {
  it("come from files, the built-in set and servers", async () => {
    await using under = testService([stdio("library")], { promptFolders: [] });
    expect(await promptNames(under)).toEqual([
      ...BUILTIN_PROMPTS.map(({ name }) => name),
      "library.greet",
      "library.plain",
    ]);
    expect(under.storeIsOpen).toBe(false);
  });

  it.each(BUILTIN_PROMPTS.map((prompt) => [prompt.name, prompt] as const))(
    "%s explains how to use this server",
    async (name, prompt) => {
      await using under = testService([]);
      const required = prompt.parameters.filter((parameter) => parameter.required === true);
      const args = Object.fromEntries(prompt.parameters.map((parameter) => [parameter.name, `<${parameter.name}>`]));
      const message = messageOf(await get(under, name, args));
      expect(message?.role).toBe("user");
      expect(message?.content.text).not.toContain("undefined");
      for (const parameter of required) expect(message?.content.text).toContain(`<${parameter.name}>`);
      // Every pipeline in the prompt is valid.
      const pipelines = [...(message?.content.text ?? "").matchAll(/`(?:query|execute) (\{.*?\})`/g)];
      expect(pipelines.length).toBeGreaterThan(1);
      for (const [, json = ""] of pipelines) expect(() => JSON.parse(json)).not.toThrow();
      // Optional arguments can be left out.
      const few = messageOf(await get(under, name, Object.fromEntries(required.map((one) => [one.name, "x"]))));
      expect(few?.content.text).not.toContain("undefined");
      if (required.length > 0) {
        expect(await refusalOf(get(under, name))).toMatchObject({
          code: -32_602,
          message: expect.stringContaining(required[0]?.name ?? ""),
        });
      }
    },
  );

  it("from files replace built-in ones and report changes", async () => {
    await using under = testService([]);
    const folder = join(under.folder, ".trunkline", "prompts");
    await using own = testService([], { promptFolders: [folder] });
    const changed = nextEvent(own, "prompts_list_changed");
    expect(await promptNames(own)).not.toContain("research_mcp");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "PROMPT-research-mcp.md"), "# Research MCP\n\nLook it up.\n");
    await changed;
    expect(await get(own, "research_mcp")).toEqual({
      description: "Research MCP (PROMPT-research-mcp.md)",
      messages: [{ role: "assistant", content: { type: "text", text: "# Research MCP\n\nLook it up.\n" } }],
    });
    writeFileSync(
      join(folder, "PROMPT-find-related.md"),
      "---\ndescription: Mine.\narguments: [{name: what, required: true}]\n---\nFind {{what}}.",
    );
    expect(messageOf(await get(own, "find_related", { what: "it" }))).toMatchObject({
      role: "assistant",
      content: { text: "Find it." },
    });
    expect(await refusalOf(get(own, "find_related"))).toMatchObject({ code: -32_602 });
    expect((await promptNames(own)).filter((name) => name === "find_related")).toHaveLength(1);
  });

  it("from servers are returned unchanged", async () => {
    await using under = testService([stdio("library"), stdio("strange")]);
    expect(messageOf(await get(under, "library.greet", { name: "Ada", style: "formal" }))?.content.text).toBe(
      "Good day, Ada.",
    );
    expect(await get(under, "strange.riddle")).toEqual({
      messages: [{ role: "user", content: { type: "hologram", depth: 3, nested: { kept: true } } }],
      mood: "dark",
    });
  });

  it("that do not exist are rejected with similar names", async () => {
    await using under = testService([stdio("library")]);
    const message = async (name: string) => (await refusalOf(get(under, name))).message;
    expect(await refusalOf(get(under, "library.great"))).toMatchObject({ code: -32_602 });
    expect(await message("library.great")).toContain("library.greet");
    expect(await message("greet")).toContain("library.greet");
    expect(await message("serch_codebase")).toContain("search_codebase");
    expect(await refusalOf(under.service.handle("prompts/get", {}, testExchange()))).toMatchObject({ code: -32_602 });
    expect(
      await refusalOf(
        under.service.handle("prompts/get", { name: "search_codebase", arguments: { query: 7 } }, testExchange()),
      ),
    ).toMatchObject({ code: -32_602 });
  });

  it("of a server that is down fail with the reason", async () => {
    await using under = testService([stdio("crashing", ["--crash-on-start"])]);
    expect(await promptNames(under)).toEqual(BUILTIN_PROMPTS.map(({ name }) => name));
    const refusal = await refusalOf(get(under, "crashing.any"));
    expect(refusal).toMatchObject({ code: -32_603, data: { code: "SERVER_EXITED" } });
  });

  it("are not built in if their tools are not served", async () => {
    await using under = testService([stdio("library")], { surface: "direct" });
    expect(await promptNames(under)).toEqual(["library.greet", "library.plain"]);
  });
});

describe("completions", () => {
  it("for a server's arguments come from the server and use earlier choices", async () => {
    await using under = testService([stdio("library"), stdio("crashing")]);
    const ref = { type: "ref/prompt", name: "library.greet" };
    expect(await complete(under, ref, { name: "name", value: "A" })).toEqual(["Ada", "Alan"]);
    expect(await complete(under, ref, { name: "name", value: "Dr" }, { arguments: { style: "formal" } })).toEqual([
      "Dr Ada",
      "Dr Bob",
    ]);
    const template = { type: "ref/resource", uri: "test://notes/{id}" };
    expect(await complete(under, template, { name: "style", value: "f" })).toEqual(["formal", "friendly"]);
    expect(
      await refusalOf(complete(under, { type: "ref/prompt", name: "nothing" }, { name: "x", value: "" })),
    ).toMatchObject({ code: -32_602 });
    expect(await refusalOf(complete(under, { type: "ref/other" }, { name: "x", value: "" }))).toMatchObject({
      code: -32_602,
    });
  });

  it("for our own resources come from the store", async () => {
    await using under = testService([]);
    const store = await under.store();
    await store.run("add", { content: "one", name: "notes/alpha.md" });
    const { hash } = await store.run("add", { content: "two", name: "notes/beta [x].md", collection: "manual" });
    const { id } = await store.run("snapshot", { label: "release-1" });
    const documents = { type: "ref/resource", uri: "trunkline://document/{path}" };
    expect(await complete(under, documents, { name: "path", value: "alp" })).toEqual(["notes/alpha.md"]);
    expect(await complete(under, documents, { name: "path", value: "beta [" })).toEqual(["notes/beta [x].md"]);
    expect(await complete(under, documents, { name: "path", value: "" })).toHaveLength(2);
    const blobs = { type: "ref/resource", uri: "trunkline://blob/{hash}" };
    expect(await complete(under, blobs, { name: "hash", value: String(hash).slice(0, 4) })).toEqual([hash]);
    expect(await complete(under, blobs, { name: "hash", value: String(hash).slice(0, 10) })).toEqual([hash]);
    expect(await complete(under, blobs, { name: "hash", value: "no hash" })).toEqual([]);
    const snapshots = { type: "ref/resource", uri: "trunkline://snapshot/{id}" };
    expect(await complete(under, snapshots, { name: "id", value: "rel" })).toEqual(["release-1"]);
    expect(await complete(under, snapshots, { name: "id", value: String(id) })).toEqual([id]);
    const prompt = (name: string) => ({ type: "ref/prompt", name });
    expect(await complete(under, prompt("find_related"), { name: "path", value: "alpha" })).toEqual(["notes/alpha.md"]);
    expect(await complete(under, prompt("find_related"), { name: "collection", value: "m" })).toEqual(["manual"]);
    expect(await complete(under, prompt("research_topic"), { name: "topic", value: "m" })).toEqual([]);
  });
});
