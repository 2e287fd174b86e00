import { describe, expect, it } from "vitest";
import { extractGraph, slugOf } from "../src/index.js";
import { graphOf, resolvedLines, symbolLines } from "./support.js";

const GUIDE = `---
title: "[not](a-link.md)"
---
# The *guide*

See [the API](api.md#open-a-store "title"), [set-up][setup] and <https://example.com/x#y>.
A picture: ![alt](images/a(1).png), a linked one [![badge](badge.svg)](https://ci.example.com).
\`[code](no.md)\` is none, and [brackets] are none either.

\`\`\`md
[fenced](no.md)
# no heading
\`\`\`

Second part
-----------
<a href="other.html?x=1#top">html</a> [up](../README.md) [here](#second-part) [gone](#missing) [folder](sub/)
[spaces](<a b.md>) [mail](mailto:a@b.c)

## Second part

[setup]: ./setup.md
`;

describe("links and headings", () => {
  it("are read from Markdown, but not from code", async () => {
    const graph = await extractGraph({ path: "/docs/guide.md", text: GUIDE });
    expect(symbolLines(graph)).toEqual(["heading the-guide", "heading second-part", "heading second-part-1"]);
    expect(
      graph.links.map(({ target, anchor, line }) => `${line} ${target}${anchor === undefined ? "" : `#${anchor}`}`),
    ).toEqual([
      "6 api.md#open-a-store",
      "6 https://example.com/x#y",
      "6 ./setup.md",
      "7 images/a(1).png",
      "7 https://ci.example.com",
      "7 badge.svg",
      "17 ../README.md",
      "17 #second-part",
      "17 #missing",
      "17 sub/",
      "17 other.html?x=1#top",
      "18 a b.md",
    ]);
    expect(graph.links[0]?.text).toBe("the API");
  });

  it("are read from HTML, but not from comments and scripts", async () => {
    const graph = await extractGraph({
      path: "/site/index.html",
      text: `<!doctype html><!-- <a href="no.html">x</a> -->
<link rel=stylesheet href=style.css><script src="app.js">const a = '<a href="no.html">';</script>
<h1 id="top">Start <em>here</em></h1>
<h2>Second part</h2>
<p><a class='x' href='guide.html#part'>guide</a> <img src="a.png" alt="a > b"> <a href="javascript:void(0)">no</a></p>`,
    });
    expect(symbolLines(graph)).toEqual(["heading top", "heading second-part"]);
    expect(graph.symbols[0]).toMatchObject({ name: "Start here", startLine: 3 });
    expect(graph.links.map(({ target, line }) => `${line} ${target}`)).toEqual([
      "2 style.css",
      "2 app.js",
      "5 guide.html",
      "5 a.png",
    ]);
  });

  it("resolve to the stored file or heading, and otherwise keep their name", async () => {
    const graph = await graphOf({
      "/docs/guide.md": GUIDE,
      "/docs/api.md": "# API\n\n## Open a store\n",
      "/docs/setup.md": "# Set-up\n",
      "/docs/other.html": '<h1 id="top">Other</h1>',
      "/docs/sub/README.md": "# Sub\n",
      "/docs/a b.md": "# Spaces\n",
      "/README.md": "# Root [docs](/docs/api) [none](docs/nothing.md)\n",
    });
    expect(resolvedLines(graph, "/docs/guide.md", "REFERENCES")).toEqual([
      "file -> symbol:/docs/api.md#open-a-store",
      "file -> external:https://example.com/x",
      "file -> file:/docs/setup.md",
      "file -> external:images/a(1).png",
      "file -> external:https://ci.example.com",
      "file -> external:badge.svg",
      "file -> file:/README.md",
      "file -> #second-part",
      "file -> external:#missing",
      "file -> file:/docs/sub/README.md",
      "file -> symbol:/docs/other.html#top",
      "file -> file:/docs/a b.md",
    ]);
    expect(resolvedLines(graph, "/README.md", "REFERENCES")).toEqual([
      "file -> file:/docs/api.md",
      "file -> external:docs/nothing.md",
    ]);
  });

  it("give headings the same anchors as GitHub", () => {
    expect(slugOf("What's new in 2.0?")).toBe("whats-new-in-20");
    expect(slugOf("Über `uns` – kurz")).toBe("über-uns--kurz");
  });

  it.each([
    ["brackets", "[".repeat(200_000)],
    ["openings", "[a](".repeat(50_000)],
    ["tags", "<a ".repeat(100_000)],
    ["backticks", "`a``".repeat(50_000)],
    ["quotes", `<a href="${"x' ".repeat(50_000)}`],
  ])("are read in linear time from a line of %s", async (_name, text) => {
    expect((await extractGraph({ path: "/a.md", text })).symbols).toEqual([]);
    expect((await extractGraph({ path: "/a.html", text })).symbols).toEqual([]);
  });
});
