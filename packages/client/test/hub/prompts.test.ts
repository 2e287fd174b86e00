import { describe, expect, it } from "vitest";
import { openHub, type ServerLog } from "../../src/index.js";
import { configOf, stdio } from "./fixtures.js";
import { Told } from "./told.js";

const eras: [string, string[]][] = [
  ["modern", []],
  ["legacy", ["--legacy-only"]],
];

describe.each(eras)("a %s server", (era, args) => {
  const library = () => stdio("library", args);

  it("lists and renders its prompts", async () => {
    await using hub = await openHub(configOf(library()));
    expect(await hub.prompts()).toMatchObject([
      {
        server: "library",
        name: "greet",
        arguments: [
          { name: "name", required: true },
          { name: "style", required: false },
        ],
      },
      { name: "plain", arguments: [] },
    ]);
    const prompt = await hub.getPrompt("library", "greet", { name: "Ada", style: "formal" });
    expect(prompt).toMatchObject({ description: "A greeting", server: "library", name: "greet" });
    expect(prompt.messages).toMatchObject([
      { role: "user", content: { type: "text", text: "Good day, Ada." } },
      { role: "assistant", content: { type: "resource" } },
    ]);
  });

  it("finds a prompt by its name, and suggests the nearest", async () => {
    const twin = stdio("library", args, { name: "twin" });
    await using hub = await openHub(configOf(library(), twin));
    expect(await hub.findPrompt("twin.greet")).toMatchObject({ server: "twin", name: "greet" });
    await expect(hub.findPrompt("greet")).rejects.toMatchObject({
      code: "AMBIGUOUS",
      hint: "Use one of: library.greet, twin.greet.",
    });
    await expect(hub.findPrompt("library.gret")).rejects.toMatchObject({
      code: "NOT_FOUND",
      hint: expect.stringContaining("library.greet"),
    });
    await expect(hub.findPrompt("plane")).rejects.toMatchObject({ hint: expect.stringContaining("library.plain") });
  });

  it("completes arguments, using earlier choices", async () => {
    await using hub = await openHub(configOf(library()));
    const ref = { type: "ref/prompt", name: "greet" } as const;
    expect(await hub.complete("library", ref, { name: "name", value: "A" })).toMatchObject({
      values: ["Ada", "Alan"],
      total: 2,
      hasMore: false,
    });
    const context = { style: "formal" };
    expect((await hub.complete("library", ref, { name: "name", value: "Dr A" }, { context })).values).toEqual([
      "Dr Ada",
    ]);
    const template = { type: "ref/resource", uri: "test://notes/{id}" } as const;
    expect((await hub.complete("library", template, { name: "style", value: "f" })).values).toHaveLength(2);
  });

  it("sends log messages at or above the configured level", async () => {
    const logs = new Told<ServerLog>();
    await using hub = await openHub(configOf(library()), { channel: { log: logs.tell } });
    await hub.setLogLevel("library", "error");
    await hub.call("library.log", { level: "info", message: "too quiet" });
    await hub.call("library.log", { level: "error", message: "loud enough" });
    expect(await logs.next()).toMatchObject({ server: "library", level: "error", data: "loud enough" });
    await expect(hub.setLogLevel("library", "loud" as "error")).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it("keeps the level across a restart", async () => {
    const logs = new Told<ServerLog>();
    await using hub = await openHub(configOf(library()), { channel: { log: logs.tell } });
    await hub.setLogLevel("library", "error");
    await expect(hub.call("library.crash")).rejects.toMatchObject({ code: "SERVER_EXITED" });
    await hub.connect(["library"]);
    await hub.call("library.log", { level: "debug", message: "too quiet" });
    await hub.call("library.log", { level: "error", message: "loud enough" });
    expect(await logs.next()).toMatchObject({ data: "loud enough" });
  });

  it(era === "legacy" ? "answers a ping" : "has no ping, and the error says which revisions have", async () => {
    await using hub = await openHub(configOf(library()));
    const ping = hub.ping("library");
    if (era === "legacy") expect(await ping).toBeGreaterThan(0);
    else {
      await expect(ping).rejects.toMatchObject({
        code: "PROTOCOL",
        message: "Revision 2026-07-28 does not define method ping from client to server.",
      });
    }
  });
});
