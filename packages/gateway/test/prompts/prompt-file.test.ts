import { describe, expect, it } from "vitest";
import { promptNameOf, readPromptFile } from "../../src/prompts/prompt-file.js";

async function read(source: string, fileName = "PROMPT-research-mcp.md") {
  const found = await readPromptFile(fileName, source);
  if (found === undefined) throw new Error("not a prompt");
  return found;
}

describe("the name of a prompt", () => {
  it.each([
    ["PROMPT-research-mcp.md", "research_mcp"],
    ["PROMPT-a.md", "a"],
    ["PROMPT-v1.2-notes.md", "v1.2_notes"],
    ["PROMPT-.md", undefined],
    ["prompt-a.md", undefined],
    ["PROMPT-a.txt", undefined],
    ["PROMPT-a.md~", undefined],
    [".PROMPT-a.md.swp", undefined],
  ])("of %s is %s", (fileName, name) => expect(promptNameOf(fileName)).toBe(name));
});

describe("a prompt file", () => {
  it("returns its text, and takes its description from its first heading and its name", async () => {
    const { prompt } = await read("Before it.\n\n# Research MCP #\n\nLook it up.\n");
    expect(prompt).toMatchObject({
      name: "research_mcp",
      description: "Research MCP (PROMPT-research-mcp.md)",
      role: "assistant",
      parameters: [],
    });
    expect(prompt.render({})).toBe("Before it.\n\n# Research MCP #\n\nLook it up.\n");
  });

  it.each([
    ["without a heading", "Just do it.", "PROMPT-research-mcp.md"],
    ["with a heading in code only", "```sh\n# not me\n```\n", "PROMPT-research-mcp.md"],
    ["with an underlined heading", "The plan\n========\n", "The plan (PROMPT-research-mcp.md)"],
    ["with a heading after code", "~~~\n# no\n```\n~~~\n## Yes\n", "Yes (PROMPT-research-mcp.md)"],
    ["that is empty", "", "PROMPT-research-mcp.md"],
  ])("%s falls back to the best description available", async (_, source, description) => {
    expect((await read(source)).prompt.description).toBe(description);
  });

  it("takes description, title and arguments from front matter, and strips it from the text", async () => {
    const { prompt, problem } = await read(
      [
        "---",
        "description: Finds things out.",
        "title: Research",
        "arguments:",
        "  - name: topic",
        "    description: What to look up.",
        "    required: true",
        "  - depth",
        "  - {name: tone, default: calm}",
        "---",
        "",
        "# Heading",
        "{{topic}} and {{ depth }}, {{tone}}, {{unknown}}, {{topic}}",
      ].join("\r\n"),
    );
    expect(problem).toBeUndefined();
    expect(prompt).toMatchObject({ description: "Finds things out.", title: "Research" });
    expect(prompt.parameters).toMatchObject([
      { name: "topic", description: "What to look up.", required: true },
      { name: "depth", required: false },
      { name: "tone", required: false, fallback: "calm" },
    ]);
    expect(prompt.render({ topic: "$& {{depth}}" })).toBe(
      "# Heading\r\n$& {{depth}} and , calm, {{unknown}}, $& {{depth}}",
    );
  });

  it("also accepts arguments by name", async () => {
    const { prompt } = await read("---\narguments:\n  topic: What to look up.\n  depth: {required: true}\n---\nx");
    expect(prompt.parameters).toMatchObject([
      { name: "topic", description: "What to look up.", required: false },
      { name: "depth", required: true },
    ]);
  });

  it.each([
    ["that is no YAML", "---\na: [\n---\n# Heading\n", "Heading (PROMPT-research-mcp.md)"],
    ["that is a list", "---\n- a\n---\n# Heading\n", "Heading (PROMPT-research-mcp.md)"],
    ["with aliases", "---\na: &a [1]\ndescription: *a\n---\n# Heading\n", "Heading (PROMPT-research-mcp.md)"],
  ])("ignores front matter %s, and reports it", async (_, source, description) => {
    const { prompt, problem } = await read(source);
    expect(problem).toEqual(expect.any(String));
    expect(prompt.description).toBe(description);
    expect(prompt.render({})).toBe("# Heading\n");
  });

  it("treats a line of dashes as text if there is no closing one", async () => {
    expect((await read("---\nnot front matter\n")).prompt.render({})).toBe("---\nnot front matter\n");
    expect((await read("---\n---\ntext")).prompt.render({})).toBe("text");
  });
});
