import { createHash } from "node:crypto";
import { isGlob, matchesGlob, nearestNames } from "@trunkline/core";
import { describe, expect, it } from "vitest";
import {
  buildToolName,
  dottedName,
  hyphenatedName,
  normalizeName,
  parseToolName,
  prefixedName,
  type ToolKey,
  toolNamePrefix,
  uriName,
  wireName,
} from "../../../config/src/names/name-styles.js";

const WIRE = /^[A-Za-z0-9_-]{1,64}$/;
const HYPHENATED = /^[a-z0-9]+(-[a-z0-9]+)*$/;

function key(server: string, tool: string): ToolKey {
  return { server, tool };
}

function digitsOf(server: string, tool: string): string {
  return createHash("sha256")
    .update(JSON.stringify([server, tool]))
    .digest("hex")
    .slice(0, 8);
}

describe("a tool's name", () => {
  it.each([
    {
      pair: key("docs", "lookup"),
      dotted: "docs.lookup",
      prefixed: "mcp__docs__lookup",
      hyphenated: "docs-lookup",
      uri: "mcp://docs/lookup",
      wire: "docs_lookup",
    },
    {
      pair: key("filesystem", "read_file"),
      dotted: "filesystem.read_file",
      prefixed: "mcp__filesystem__read_file",
      hyphenated: "filesystem-read-file",
      uri: "mcp://filesystem/read-file",
      wire: "filesystem_read_file",
    },
    {
      pair: key("My Server", "Get/Über  Items!"),
      dotted: "My Server.Get/Über  Items!",
      prefixed: "mcp__My_Server__Get__ber__Items_",
      hyphenated: "my-server-get-ber-items",
      uri: "mcp://my-server/get-ber-items",
      wire: "My_Server_Get__ber__Items_",
    },
    {
      pair: key("a.b", "--c--d--"),
      dotted: "a.b.--c--d--",
      prefixed: "mcp__a_b__--c--d--",
      hyphenated: "a-b-c-d",
      uri: "mcp://a-b/c-d",
      wire: "a_b_--c--d--",
    },
    {
      pair: key("mood", "😀"),
      dotted: "mood.😀",
      prefixed: "mcp__mood___",
      hyphenated: "mood",
      uri: `mcp://mood/${createHash("sha256").update("😀").digest("hex").slice(0, 8)}`,
      wire: "mood__",
    },
  ])("of $pair.server and $pair.tool has one form per style", ({ pair, ...expected }) => {
    expect({
      dotted: dottedName(pair),
      prefixed: prefixedName(pair),
      hyphenated: hyphenatedName(pair),
      uri: uriName(pair),
      wire: wireName(pair),
    }).toEqual(expected);
  });

  it.each([
    { style: "prefixed", render: prefixedName, overhead: "mcp__s__".length, joiner: "_" },
    { style: "hyphenated", render: hyphenatedName, overhead: "s-".length, joiner: "-" },
    { style: "wire", render: wireName, overhead: "s_".length, joiner: "_" },
  ])("is unchanged with 64 characters and gets a hash with 65 ($style)", ({ render, overhead, joiner }) => {
    const fits = "t".repeat(64 - overhead);
    expect(render(key("s", fits))).toHaveLength(64);
    expect(render(key("s", fits))).toMatch(/t{50}$/);

    const long = `${fits}t`;
    const name = render(key("s", long));
    expect(name).toHaveLength(64);
    expect(name.endsWith(`tt${joiner}${digitsOf("s", long)}`)).toBe(true);
  });

  it("is never cut in a URI", () => {
    expect(uriName(key("s", "t".repeat(200)))).toBe(`mcp://s/${"t".repeat(200)}`);
  });

  it("has no double hyphen if the cut falls on one", () => {
    const tool = `${"t".repeat(52)}-${"u".repeat(40)}`;
    expect(hyphenatedName(key("s", tool))).toBe(`s-${"t".repeat(52)}-${digitsOf("s", tool)}`);
  });

  it.each([
    ["日本", "ツール"],
    ["!!!", "???"],
    ["", ""],
    ["-", "_"],
    ["日本".repeat(100), "ツール".repeat(100)],
    ["a".repeat(500), "b".repeat(500)],
    ["\ud800", "\udc00"],
  ])("stays within its alphabet for any %j and %j", (server, tool) => {
    const pair = key(server, tool);
    expect(wireName(pair)).toMatch(WIRE);
    expect(prefixedName(pair)).toMatch(WIRE);
    expect(hyphenatedName(pair)).toMatch(HYPHENATED);
    expect(hyphenatedName(pair).length).toBeLessThanOrEqual(64);
    expect(uriName(pair)).toMatch(/^mcp:\/\/[a-z0-9-]+\/[a-z0-9-]+$/);
  });

  it("is the bare hash if a hyphenated name would be empty", () => {
    expect(hyphenatedName(key("日本", "ツール"))).toBe(digitsOf("日本", "ツール"));
  });
});

describe("the helpers for prefixed names", () => {
  it("build names as the style defines them", () => {
    expect(buildToolName("docs", "lookup")).toBe("mcp__docs__lookup");
    expect(buildToolName("my docs", "look.up")).toBe("mcp__my_docs__look_up");
    expect(buildToolName("s", "t".repeat(100))).toHaveLength(64);
    expect(toolNamePrefix("docs")).toBe("mcp__docs__");
    expect(toolNamePrefix("my docs")).toBe("mcp__my_docs__");
    expect(buildToolName("my docs", "x").startsWith(toolNamePrefix("my docs"))).toBe(true);
  });

  it.each([
    ["mcp__docs__lookup", { server: "docs", tool: "lookup" }],
    ["mcp__docs__look__up", { server: "docs", tool: "look__up" }],
    ["mcp__docs___lookup", { server: "docs", tool: "_lookup" }],
    ["mcp___docs__lookup", { server: "_docs", tool: "lookup" }],
    ["mcp__docs", null],
    ["mcp__docs__", null],
    ["mcp____lookup", null],
    ["mcp__", null],
    ["mcp_docs__lookup", null],
    ["docs.lookup", null],
    ["xmcp__docs__lookup", null],
    ["", null],
  ])("parse %j as %j", (name, expected) => {
    expect(parseToolName(name)).toEqual(expected);
  });

  it.each([
    ["docs", "docs"],
    ["my docs/v2", "my_docs_v2"],
    ["", "_"],
    ["日本", "__"],
    ["a-b_c9", "a-b_c9"],
    ["a".repeat(64), "a".repeat(64)],
  ])("normalize %j to %j", (name, expected) => {
    expect(normalizeName(name)).toBe(expected);
  });

  it("normalize different long names to different names of 64 characters", () => {
    const [one, two] = [normalizeName(`${"a".repeat(100)}1`), normalizeName(`${"a".repeat(100)}2`)];
    expect(one).toMatch(WIRE);
    expect(two).toMatch(WIRE);
    expect(one).not.toBe(two);
  });
});

describe("a glob", () => {
  it.each([
    ["docs.*", "docs.lookup", true],
    ["docs.*", "docs.", true],
    ["docs.*", "docs.a.b", true],
    ["docs.*", "mydocs.lookup", false],
    ["docs.*", "docsxlookup", false],
    ["*", "anything.at.all", true],
    ["*.lookup", "docs.lookup", true],
    ["*.lookup", "docs.lookup2", false],
    ["docs.look??", "docs.lookup", true],
    ["docs.look?", "docs.lookup", false],
    ["d*s.l*p", "docs.lookup", true],
    ["d*s.l*p", "docs.lookups", false],
    ["*a*b*", "xxaxxbxx", true],
    ["*ab", "aab", true],
    ["?", "😀", true],
    ["Docs.*", "docs.lookup", false],
    ["docs.[a-z]*", "docs.lookup", false],
    ["docs.(x)*", "docs.(x)y", true],
    ["", "", true],
    ["", "x", false],
    ["**", "", true],
  ])("%j on %j: %j", (pattern, name, expected) => {
    expect(matchesGlob(pattern, name)).toBe(expected);
  });

  it("does not take exponential time", () => {
    expect(matchesGlob(`${"*a".repeat(30)}b`, "a".repeat(5000))).toBe(false);
  }, 2000);

  it("is recognised by a star or a question mark", () => {
    expect(["docs.*", "docs.l?", "*"].map(isGlob)).toEqual([true, true, true]);
    expect(["docs.lookup", "mcp://docs/lookup", ""].map(isGlob)).toEqual([false, false, false]);
  });
});

describe("the nearest names", () => {
  const names = ["docs.lookup", "docs.list", "wiki.find", "filesystem.read_file"];

  it.each([
    ["docs.lokup", ["docs.lookup"]],
    ["DOCS.LOOKUP", ["docs.lookup"]],
    ["docs.lisp", ["docs.list"]],
    ["nothing like it at all", []],
    ["", []],
  ])("to %j are %j", (name, expected) => {
    expect(nearestNames(name, names)).toEqual(expected);
  });

  it("share something with the name, however short they are", () => {
    expect(nearestNames("c", ["a", "b"])).toEqual([]);
    expect(nearestNames("xy", ["ab", "xb"])).toEqual(["xb"]);
  });

  it("come best first, and no more than requested", () => {
    expect(nearestNames("abcd", ["abcx", "abcd1", "abcd", "abxy"], 2)).toEqual(["abcd", "abcd1"]);
  });

  it("are empty for a huge text, without delay", () => {
    expect(nearestNames("x".repeat(10_000_000), ["x".repeat(10_000_001)])).toEqual([]);
  }, 1000);
});
