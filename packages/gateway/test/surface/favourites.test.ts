import { describe, expect, it } from "vitest";
import { chooseFavourites, type FavouriteOptions } from "../../src/surface/favourites.js";

const tool = (name: string, tokens = 100) => ({ name, tokens });
type Tool = ReturnType<typeof tool>;

const often = (weight = 5) => ({ count: 9, days: 3, weight });

function chosen(names: readonly string[], options: Partial<FavouriteOptions<Tool>> = {}) {
  const tools = names.map((name) => tool(name));
  return chooseFavourites({
    uses: new Map(),
    tools,
    servers: [...new Set(names.map((name) => name.slice(0, name.lastIndexOf("."))))],
    maxTokens: 800,
    ...options,
  });
}

const namesOf = (favourites: ReturnType<typeof chosen>) => favourites.map((each) => each.tool.name);

describe("favourites", () => {
  it("are tools with at least three uses on two days that are not forgotten", () => {
    const uses = new Map([
      ["a.twice", { count: 2, days: 2, weight: 2 }],
      ["a.one_day", { count: 50, days: 1, weight: 6 }],
      ["a.enough", { count: 3, days: 2, weight: 2.5 }],
      ["a.long_ago", { count: 30, days: 9, weight: 0.4 }],
      ["a.gone", often()],
    ]);
    expect(chosen(["a.twice", "a.one_day", "a.enough", "a.long_ago", "a.never"], { uses })).toEqual([
      { tool: tool("a.enough"), reason: "used" },
    ]);
  });

  it("are the most used ones that fit the limit, listed by name", () => {
    const uses = new Map([
      ["a.some", often(2)],
      ["b.most", often(9)],
      ["c.more", often(5)],
    ]);
    const options = { uses, maxTokens: 250 };
    expect(namesOf(chosen(["a.some", "b.most", "c.more"], options))).toEqual(["b.most", "c.more"]);
    expect(namesOf(chosen(["c.more", "b.most", "a.some"], options))).toEqual(["b.most", "c.more"]);
  });

  it("prefer several small tools to a large one that is used a little more", () => {
    const uses = new Map([
      ["a.large", often(6)],
      ["a.small", often(5)],
      ["a.tiny", often(4)],
    ]);
    const tools = [tool("a.large", 700), tool("a.small", 150), tool("a.tiny", 50)];
    expect(namesOf(chosen([], { uses, tools, servers: ["a"] }))).toEqual(["a.small", "a.tiny"]);
  });

  it("leave out a tool that does not fit, and use the room for the next", () => {
    const uses = new Map([
      ["a.huge", often(9)],
      ["a.small", often(1)],
    ]);
    const tools = [tool("a.huge", 801), tool("a.small", 50)];
    expect(namesOf(chosen([], { uses, tools, servers: ["a"] }))).toEqual(["a.small"]);
    expect(chosen([], { uses, tools, servers: ["a"], maxTokens: 0 })).toEqual([]);
  });

  it("include what the configuration names, as a name or a glob", () => {
    const configured = { own: ["git.log", "docs.*", "nowhere.at_all"] };
    expect(namesOf(chosen(["git.log", "git.push", "docs.find", "docs.read"], { configured }))).toEqual([
      "docs.find",
      "docs.read",
      "git.log",
    ]);
  });

  it("prefer the user's choice, then what is used, then the project's choice", () => {
    const uses = new Map([["b.used", often(9)]]);
    const configured = { own: ["c.mine"], project: ["a.*", "b.*", "c.*"] };
    const names = ["a.theirs", "b.used", "c.mine"];
    const within = (maxTokens: number) =>
      chosen(names, { uses, configured, maxTokens }).map((each) => [each.tool.name, each.reason]);
    expect(within(100)).toEqual([["c.mine", "configured"]]);
    expect(within(200)).toEqual([
      ["b.used", "used"],
      ["c.mine", "configured"],
    ]);
    expect(within(300)).toEqual([
      ["a.theirs", "project"],
      ["b.used", "used"],
      ["c.mine", "configured"],
    ]);
  });

  it("leave out a name that two servers share, even if only one is connected", () => {
    const uses = new Map([["a.b.pay", often()]]);
    const options = { uses, configured: { own: ["a.b.*"] } };
    expect(namesOf(chosen(["a.b.pay"], options))).toEqual(["a.b.pay"]);
    expect(chosen(["a.b.pay"], { ...options, servers: ["a", "a.b"] })).toEqual([]);
  });

  it("treat a glob's other characters literally", () => {
    expect(namesOf(chosen(["a.x", "aXx.y", "__proto__.x"], { configured: { own: ["a.?", "__proto__.x"] } }))).toEqual([
      "__proto__.x",
      "a.x",
    ]);
  });
});
