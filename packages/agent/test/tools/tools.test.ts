import { allowList, approveAll, cancellableTools, findAgent, oneAtATime, refuseAll, toolsFrom } from "@trunkline/agent";
import type { SourcedTool, ToolCallOptions, ToolSource } from "@trunkline/core";
import { describe, expect, it } from "vitest";
import { fakeTool, scripted } from "../tools.js";

describe("approval", () => {
  const call = (title: string) => ({ tool: fakeTool(title), args: {} });

  it("comes from an allow list of globs over titles and wire names, or else from the next approver", async () => {
    const approve = allowList(["files.*", "docs_write"], refuseAll("Ask first."));
    expect(await approve(call("files.delete"), {})).toEqual({ allowed: true });
    expect(await approve(call("docs.write"), {})).toEqual({ allowed: true });
    expect(await approve(call("docs.delete"), {})).toEqual({ allowed: false, reason: "Ask first." });
    expect(await allowList([])(call("files.delete"), {})).toMatchObject({ allowed: false });
    expect(await approveAll(call("x.y"), {})).toEqual({ allowed: true });
  });

  it("handles one call at a time, and a failed question does not block the next", async () => {
    let open = 0;
    const approve = oneAtATime(async ({ tool }) => {
      expect(++open).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
      open--;
      if (tool.title === "a.bad") throw new Error("no terminal");
      return { allowed: true };
    });
    const answers = await Promise.allSettled([
      approve(call("a.one"), {}),
      approve(call("a.bad"), {}),
      approve(call("a.two"), {}),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  });
});

describe("cancellableTools", () => {
  it("cancels running calls while the run continues", async () => {
    let stopped: boolean | undefined;
    const slow = fakeTool("a.slow", async (_, signal) => {
      setImmediate(() => expect(cancelRunning()).toBe(1));
      await new Promise((resolve) => signal?.addEventListener("abort", resolve));
      stopped = true;
      return { text: "late" };
    });
    const { tools, cancelRunning } = cancellableTools([slow]);
    const request = scripted([{ tool: "a.slow" }, { text: "fine" }], { tools });
    expect(await findAgent("tools").run(request)).toMatchObject({ text: "fine", ended: "answer" });
    expect(stopped).toBe(true);
    expect(request.events).toContainEqual(
      expect.objectContaining({ type: "tool-result", isError: true, text: "a_slow was cancelled by the user." }),
    );
    expect(cancelRunning()).toBe(0);
  });
});

describe("toolsFrom", () => {
  const sourced: SourcedTool[] = [
    { server: "docs", tool: "look up", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } },
    { server: "docs", tool: "write", description: "Writes", inputSchema: { type: "object" } },
    { server: "other", tool: "x", inputSchema: { type: "object" } },
  ].map((tool) => ({ ...tool, name: `${tool.server}.${tool.tool}` }));
  const seen: { server: string; tool: string; args: unknown; options: ToolCallOptions | undefined }[] = [];
  const source: ToolSource = {
    tools: () => sourced,
    async callTool(server, tool, args, options) {
      seen.push({ server, tool, args, options });
      return {
        isError: tool === "write",
        raw: {
          content: [
            { type: "text", text: "one" },
            { type: "image", data: "aGk=", mimeType: "image/png" },
            { type: "resource_link", uri: "x://y", name: "y" },
          ],
        },
      };
    },
  };
  const names = ({ server, tool }: SourcedTool) => `${server}_${tool.replaceAll(" ", "_")}`;

  it("takes names from the caller, and whether a tool is read-only from its annotation", () => {
    const tools = toolsFrom(source, { names, include: ({ server }) => server === "docs" });
    expect(tools.map(({ name, title, readOnly }) => [name, title, readOnly])).toEqual([
      ["docs_look_up", "docs.look up", true],
      ["docs_write", "docs.write", false],
    ]);
    expect(toolsFrom(source, { names, readOnly: () => false })[0]?.readOnly).toBe(false);
  });

  it("calls the server and tool, passes on the signal and renders the result", async () => {
    const [read, write] = toolsFrom(source, { names, timeoutMs: 5 });
    const { signal } = new AbortController();
    expect(await read?.call({ q: 1 }, { signal })).toEqual({
      text: 'one\n{"type":"resource_link","uri":"x://y","name":"y"}',
      images: [{ data: "aGk=", mediaType: "image/png" }],
    });
    expect(seen[0]).toEqual({ server: "docs", tool: "look up", args: { q: 1 }, options: { signal, timeoutMs: 5 } });
    expect(await write?.call({}, {})).toMatchObject({ isError: true });
    const [own] = toolsFrom(source, { names, render: async (_, { tool }) => ({ text: `my ${tool}` }) });
    expect(await own?.call({}, {})).toEqual({ text: "my look up" });
  });
});
