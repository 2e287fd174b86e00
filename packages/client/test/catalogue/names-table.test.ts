import { createHash } from "node:crypto";
import { TrunklineError } from "@trunkline/core";
import { describe, expect, it } from "vitest";
import { NAME_STYLES, type ToolKey } from "../../../config/src/names/name-styles.js";
import { ToolNames } from "../../src/catalogue/names-table.js";

function key(server: string, tool: string): ToolKey {
  return { server, tool };
}

function hashOf({ server, tool }: ToolKey): string {
  return createHash("sha256")
    .update(JSON.stringify([server, tool]))
    .digest("hex");
}

function failure(run: () => unknown): TrunklineError {
  try {
    run();
  } catch (error) {
    if (error instanceof TrunklineError) return error;
    throw error;
  }
  throw new Error("It did not throw.");
}

/** Lists every name of every tool, for comparing tables. */
function picture(table: ToolNames, tools: readonly ToolKey[]): string[] {
  return tools
    .flatMap((tool) => NAME_STYLES.map((style) => `${JSON.stringify(tool)} ${table.name(tool, style)}`))
    .sort();
}

const CATALOGUE = [
  key("docs", "lookup"),
  key("docs", "list"),
  key("wiki", "find"),
  key("filesystem", "read_file"),
  key("github", "search.issues"),
];

describe("the name table", () => {
  it("renders each pair in each style", () => {
    const table = new ToolNames(CATALOGUE);
    expect(NAME_STYLES.map((style) => table.name(key("filesystem", "read_file"), style))).toEqual([
      "filesystem.read_file",
      "mcp__filesystem__read_file",
      "filesystem-read-file",
      "mcp://filesystem/read-file",
      "filesystem_read_file",
    ]);
    expect(table.renamed()).toEqual([]);
    expect(table.size).toBe(5);
  });

  it("lists the names of a style sorted, whatever the order of the tools", () => {
    const expected = [
      "mcp__docs__list",
      "mcp__docs__lookup",
      "mcp__filesystem__read_file",
      "mcp__github__search_issues",
      "mcp__wiki__find",
    ];
    expect(new ToolNames(CATALOGUE).names("prefixed")).toEqual(expected);
    expect(new ToolNames([...CATALOGUE].reverse()).names("prefixed")).toEqual(expected);
  });

  it("is the same when the same catalogue is registered twice", () => {
    const twice = new ToolNames([...CATALOGUE, ...CATALOGUE.map((tool) => ({ ...tool }))]);
    expect(picture(twice, CATALOGUE)).toEqual(picture(new ToolNames(CATALOGUE), CATALOGUE));
    expect(twice.size).toBe(5);
    expect(twice.renamed()).toEqual([]);
    expect(twice.resolve("docs.lookup")).toBe(CATALOGUE[0]);
  });

  it("counts the tools of servers that are not connected as rivals, without listing them", () => {
    const [one, two] = [key("a_b", "c"), key("a", "b_c")];
    const table = new ToolNames([one], [two]);
    expect(table.names("wire")).toEqual([`a_b_c_${hashOf(one).slice(0, 8)}`]);
    expect(table.names("prefixed")).toEqual(["mcp__a_b__c"]);
  });

  it("adds the pair's hash to all tools that share a name, and to no others", () => {
    const [dot, dash, underscore, other] = [
      key("docs", "a.b"),
      key("docs", "a-b"),
      key("docs", "a_b"),
      key("docs", "c"),
    ];
    const table = new ToolNames([dot, dash, underscore, other]);
    const digits = (tool: ToolKey) => hashOf(tool).slice(0, 8);

    expect(table.name(dot, "prefixed")).toBe(`mcp__docs__a_b_${digits(dot)}`);
    expect(table.name(underscore, "prefixed")).toBe(`mcp__docs__a_b_${digits(underscore)}`);
    expect(table.name(dash, "prefixed")).toBe("mcp__docs__a-b");
    expect(table.name(dot, "wire")).toBe(`docs_a_b_${digits(dot)}`);
    for (const tool of [dot, dash, underscore]) {
      expect(table.name(tool, "hyphenated")).toBe(`docs-a-b-${digits(tool)}`);
      expect(table.name(tool, "uri")).toBe(`mcp://docs/a-b-${digits(tool)}`);
    }
    expect(table.name(dot, "dotted")).toBe("docs.a.b");
    expect(NAME_STYLES.map((style) => table.name(other, style)).join()).not.toMatch(/[0-9a-f]{8}/);
  });

  it("detects collisions between servers", () => {
    const [one, two] = [key("a_b", "c"), key("a", "b_c")];
    const table = new ToolNames([one, two]);
    expect(table.name(one, "wire")).toBe(`a_b_c_${hashOf(one).slice(0, 8)}`);
    expect(table.name(two, "wire")).toBe(`a_b_c_${hashOf(two).slice(0, 8)}`);
    expect(table.name(one, "prefixed")).toBe("mcp__a_b__c");
    expect(table.name(two, "prefixed")).toBe("mcp__a__b_c");
  });

  it("reports every renamed tool with the reason", () => {
    const [dot, underscore] = [key("docs", "a.b"), key("docs", "a_b")];
    const long = key("docs", "x".repeat(60));
    const symbols = key("日本", "ツール");
    const renamed = new ToolNames([dot, underscore, long, symbols]).renamed();
    expect(renamed).toContainEqual({
      ...dot,
      style: "wire",
      plain: "docs_a_b",
      name: `docs_a_b_${hashOf(dot).slice(0, 8)}`,
      reason: "collision",
      collidesWith: ["docs.a_b"],
    });
    expect(renamed.filter(({ reason }) => reason === "length").map(({ style, tool }) => [style, tool])).toEqual([
      ["hyphenated", long.tool],
      ["prefixed", long.tool],
      ["wire", long.tool],
    ]);
    expect(renamed.filter(({ reason }) => reason === "empty")).toEqual([
      {
        ...symbols,
        style: "hyphenated",
        plain: "",
        name: hashOf(symbols).slice(0, 8),
        reason: "empty",
        collidesWith: [],
      },
    ]);
    expect(renamed.filter(({ style }) => style === "dotted")).toEqual([]);
  });

  it("hashes a tool whose own name looks like another's hashed name, and leaves the other alone", () => {
    const [dot, underscore] = [key("docs", "a.b"), key("docs", "a_b")];
    const impostor = key("docs", `a_b_${hashOf(dot).slice(0, 8)}`);
    const table = new ToolNames([impostor, dot, underscore]);
    expect(table.name(dot, "wire")).toBe(`docs_a_b_${hashOf(dot).slice(0, 8)}`);
    expect(table.name(impostor, "wire")).toBe(`docs_${impostor.tool}_${hashOf(impostor).slice(0, 8)}`);
    expect(table.resolve(table.name(dot, "wire"), { style: "wire" })).toBe(dot);
    expect(table.resolve(table.name(impostor, "wire"), { style: "wire" })).toBe(impostor);
  });

  it("uses more digits if two pairs share the start of the name and the first eight digits", () => {
    // Found by trial: the SHA-256 of both pairs starts with f2d3a04a.
    const [one, two] = [key("s", "t!!.!!.!!!..!.!......"), key("s", "t.!...!!.!.!.!!..!...")];
    expect(hashOf(one).slice(0, 8)).toBe(hashOf(two).slice(0, 8));
    const table = new ToolNames([one, two]);
    for (const style of ["prefixed", "hyphenated", "uri", "wire"] as const) {
      expect(table.name(one, style)).not.toBe(table.name(two, style));
      expect(table.name(one, style).endsWith(hashOf(one).slice(0, 16))).toBe(true);
    }
  });

  it("gives every tool a unique name within the limits, in any order of discovery", () => {
    const parts = [
      "a",
      "a.b",
      "a_b",
      "a-b",
      "A-B",
      "_",
      "__",
      "日",
      "本",
      "",
      "b",
      "b_",
      "x".repeat(70),
      "x".repeat(71),
    ];
    const tools = parts.flatMap((server) => parts.map((tool) => key(server, tool)));
    const table = new ToolNames(tools);
    for (const style of ["prefixed", "hyphenated", "wire"] as const) {
      const names = table.names(style);
      expect(new Set(names).size).toBe(tools.length);
      const alphabet = style === "hyphenated" ? /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/ : /^[A-Za-z0-9_-]{1,64}$/;
      for (const name of names) expect(name).toMatch(alphabet);
    }
    expect(new Set(table.names("uri")).size).toBe(tools.length);

    const expected = picture(table, tools);
    expect(picture(new ToolNames([...tools].reverse()), tools)).toEqual(expected);
    const shuffled = [...tools].sort((a, b) => (hashOf(a) < hashOf(b) ? -1 : 1));
    expect(picture(new ToolNames(shuffled), tools)).toEqual(expected);
    expect(new ToolNames(shuffled).renamed()).toEqual(table.renamed());
  });

  it("copes with ten thousand tools of one name", () => {
    const tools = Array.from({ length: 10_000 }, (_, index) => key("s", `t${String.fromCodePoint(0x4e00 + index)}`));
    const table = new ToolNames(tools);
    expect(new Set(table.names("wire")).size).toBe(tools.length);
    expect(table.renamed()[0]?.collidesWith).toHaveLength(10);
  });
});

describe("a name given by a user", () => {
  const table = new ToolNames(CATALOGUE);

  it.each([
    ["filesystem.read_file"],
    ["mcp__filesystem__read_file"],
    ["filesystem-read-file"],
    ["mcp://filesystem/read-file"],
    ["filesystem_read_file"],
  ])("is understood in any style: %s", (name) => {
    expect(table.resolve(name)).toBe(CATALOGUE[3]);
    expect(table.match(name)).toEqual([CATALOGUE[3]]);
    expect(new ToolNames(CATALOGUE).resolve(name)).toBe(CATALOGUE[3]);
  });

  it.each([
    ["docs.*", ["docs.lookup", "docs.list"]],
    ["*", ["docs.lookup", "docs.list", "wiki.find", "filesystem.read_file", "github.search.issues"]],
    ["*.l*", ["docs.lookup", "docs.list"]],
    ["mcp__docs__*", ["docs.lookup", "docs.list"]],
    ["mcp__*__find", ["wiki.find"]],
    ["mcp://filesystem/*", ["filesystem.read_file"]],
    ["github.*", ["github.search.issues"]],
  ])("can be a glob, which matches all: %s", (pattern, expected) => {
    expect(table.match(pattern).map(({ server, tool }) => `${server}.${tool}`)).toEqual(expected);
  });

  it("is not compared with wire or hyphenated names if it is a glob", () => {
    expect(failure(() => table.match("docs_*")).code).toBe("TOOL_NOT_FOUND");
    expect(failure(() => table.match("*-file")).code).toBe("TOOL_NOT_FOUND");
  });

  it("resolves if a glob matches one tool, and is ambiguous if it matches several", () => {
    expect(table.resolve("wiki.*")).toBe(CATALOGUE[2]);
    const error = failure(() => table.resolve("docs.*"));
    expect(error).toMatchObject({
      code: "AMBIGUOUS",
      message: '"docs.*" matches 2 tools: docs.list, docs.lookup.',
      data: { candidates: ["docs.list", "docs.lookup"] },
    });
  });

  it("is taken literally if a tool has a star in its own name", () => {
    const starred = [key("docs", "*"), key("docs", "lookup")];
    expect(new ToolNames(starred).resolve("docs.*")).toBe(starred[0]);
    expect(new ToolNames(starred).match("docs.*")).toEqual([starred[0]]);
  });

  it("lists working names as candidates if it is ambiguous", () => {
    const [one, two] = [key("a.b", "c"), key("a", "b.c")];
    const ambiguous = new ToolNames([one, two]);
    for (const look of [() => ambiguous.resolve("a.b.c"), () => ambiguous.match("a.b.c")]) {
      const error = failure(look);
      expect(error.code).toBe("AMBIGUOUS");
      expect(error.data).toEqual({ candidates: ["mcp__a__b_c", "mcp__a_b__c"] });
    }
    expect(ambiguous.resolve("mcp__a_b__c")).toBe(one);
    expect(ambiguous.resolve("mcp__a__b_c")).toBe(two);
  });

  it("is ambiguous if it is the plain name of several renamed tools", () => {
    const tools = [key("docs", "a.b"), key("docs", "a_b")];
    const error = failure(() => new ToolNames(tools).resolve("mcp__docs__a_b"));
    expect(error).toMatchObject({ code: "AMBIGUOUS", data: { candidates: ["docs.a.b", "docs.a_b"] } });
  });

  it("is understood at full length although the actual name is shorter", () => {
    const long = key("docs", "x".repeat(100));
    expect(new ToolNames([long]).resolve(`mcp__docs__${long.tool}`)).toBe(long);
  });

  it("is ambiguous if two tools have it in different styles, unless the style is known", () => {
    const [plain, odd] = [key("docs", "lookup"), key("mcp", "_docs__lookup")];
    const crossed = new ToolNames([plain, odd]);
    expect(failure(() => crossed.resolve("mcp__docs__lookup"))).toMatchObject({
      code: "AMBIGUOUS",
      data: { candidates: ["docs.lookup", "mcp._docs__lookup"] },
    });
    expect(crossed.resolve("mcp__docs__lookup", { style: "prefixed" })).toBe(plain);
    expect(crossed.resolve("mcp__docs__lookup", { style: "wire" })).toBe(odd);
  });

  it.each([
    ["docs.lokup", "Did you mean docs.lookup?"],
    ["mcp__docs__lookpu", "Did you mean docs.lookup?"],
    ["docs-lisst", "Did you mean docs.list?"],
    ["DOCS.LOOKUP", "Did you mean docs.lookup?"],
    ["find", "Did you mean wiki.find?"],
    ["something else entirely", "Run `trunkline tools` to list the tools."],
    ["", "Run `trunkline tools` to list the tools."],
  ])("suggests the nearest if no tool has it: %j", (name, hint) => {
    const error = failure(() => table.resolve(name));
    expect(error).toMatchObject({ code: "TOOL_NOT_FOUND", message: `No tool is named "${name}".`, hint });
  });

  it.each(["docs-look.up", "docs__look_up", "mcp__docs__look_up", "mcp_docs_look-up"])(
    "is found as %s, because agents rewrite names",
    (name) => {
      expect(new ToolNames([...CATALOGUE, key("docs", "look-up")]).resolve(name)).toEqual(key("docs", "look-up"));
    },
  );

  it("is compared by whole words of any script", () => {
    const table = new ToolNames([
      key("git", "hub_create"),
      key("docs", "获取"),
      key("calc", "+"),
      key("日本", "lookup"),
    ]);
    expect(table.resolve("docs-获取")).toEqual(key("docs", "获取"));
    for (const name of ["github.create", "docs.删除", "docs.x", "calc.-", "docs."])
      expect(failure(() => table.resolve(name)).code).toBe("TOOL_NOT_FOUND");
  });

  it("is not found with other separators if a style is named, or as a glob", () => {
    const table = new ToolNames([...CATALOGUE, key("docs", "look-up")]);
    expect(failure(() => table.resolve("docs.look_up", { style: "dotted" })).code).toBe("TOOL_NOT_FOUND");
    expect(failure(() => table.resolve("do?s.look_up")).code).toBe("TOOL_NOT_FOUND");
    expect(failure(() => table.resolve("_-.")).code).toBe("TOOL_NOT_FOUND");
  });

  it("is ambiguous with other separators if two tools have its letters, connected or not", () => {
    const [one, other] = [key("a", "b_c"), key("a_b", "c")];
    expect(failure(() => new ToolNames([one, other]).resolve("a-b.c")).code).toBe("AMBIGUOUS");
    expect(failure(() => new ToolNames([one], [other]).resolve("a-b.c")).code).toBe("AMBIGUOUS");
    expect(failure(() => new ToolNames([], [other]).resolve("a-b.c")).code).toBe("TOOL_NOT_FOUND");
    expect(new ToolNames([one, other]).resolve("a.b_c")).toEqual(one);
  });

  it("without a server is never called, even if unique, and suggests every tool that has it", () => {
    const same = new ToolNames([key("one", "find"), key("two", "find"), key("one", "other")]);
    expect(failure(() => same.resolve("find"))).toMatchObject({
      code: "TOOL_NOT_FOUND",
      data: { near: ["one.find", "two.find"] },
    });
    expect(failure(() => same.resolve("other"))).toMatchObject({
      code: "TOOL_NOT_FOUND",
      data: { near: ["one.other"] },
    });
  });

  it("as a glob that matches nothing suggests the nearest server", () => {
    for (const look of [() => table.match("dcos.*"), () => table.resolve("dcos.*")]) {
      expect(failure(look)).toMatchObject({
        code: "TOOL_NOT_FOUND",
        message: 'No tool matches "dcos.*".',
        hint: "Did you mean docs.*?",
      });
    }
  });

  it("in a known style gets suggestions in that style", () => {
    expect(failure(() => table.resolve("docs_lokup", { style: "wire" })).hint).toBe("Did you mean docs_lookup?");
    expect(failure(() => table.resolve("docs.lookup", { style: "wire" })).code).toBe("TOOL_NOT_FOUND");
  });

  it("is quoted in part if it would fill the screen", () => {
    const error = failure(() => table.resolve("😀".repeat(100_000)));
    expect(error.message).toBe(`No tool is named "${"😀".repeat(100)}…".`);
    expect(
      failure(() => new ToolNames(Array.from({ length: 30 }, (_, at) => key("s", `t${at}`))).resolve("*")).message,
    ).toMatch(/ and 20 more\.$/);
  });

  it.each(["__proto__", "constructor", "toString"])("is not mistaken for an inherited object property: %s", (name) => {
    expect(failure(() => table.resolve(name)).code).toBe("TOOL_NOT_FOUND");
    expect(table.get(key(name, name))).toBeUndefined();
  });

  it("of a missing pair is an error in every style", () => {
    expect(failure(() => table.name(key("docs", "lokup"), "wire"))).toMatchObject({
      code: "TOOL_NOT_FOUND",
      hint: "Did you mean docs.lookup?",
    });
    expect(failure(() => new ToolNames([]).resolve("docs.lookup")).code).toBe("TOOL_NOT_FOUND");
  });
});
