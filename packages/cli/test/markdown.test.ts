import { describe, expect, it } from "vitest";
import { MarkdownStream } from "../src/terminal/markdown.js";
import { paletteFor } from "../src/terminal/palette.js";
import { widthOf } from "../src/terminal/text-width.js";

interface RenderOptions {
  readonly columns?: number;
  readonly colours?: boolean;
  /** How many characters arrive at once. */
  readonly pieceChars?: number;
}

function render(text: string, { columns = 80, colours = true, pieceChars = text.length }: RenderOptions = {}): string {
  let out = "";
  const palette = paletteFor({ isTTY: true }, {}, colours ? "always" : "never");
  const stream = new MarkdownStream({
    columns: () => columns,
    palette,
    write: (shown) => {
      out += shown;
    },
  });
  for (let at = 0; at < text.length; at += Math.max(1, pieceChars)) stream.add(text.slice(at, at + pieceChars));
  stream.end();
  return out;
}

const ESCAPE = "\u001b";
const COLOUR_CODE = new RegExp(`${ESCAPE}\\[(\\d+)m`, "g");
const OWN_CODES = new RegExp(`${ESCAPE}\\[(?:1|2|3|22|23|36|39)m`, "g");

/** Writes colour codes in a readable way. */
function readable(text: string): string {
  const names: Record<string, string> = { 1: "<b>", 22: "</>", 3: "<i>", 23: "</i>", 36: "<c>", 39: "</c>", 2: "<d>" };
  return text.replace(COLOUR_CODE, (_, code: string) => names[code] ?? `<${code}>`);
}

const SAMPLE = `# A title with *emphasis*

Some **bold text**, some \`code with * in it\`, a [link](https://example.org/a_b_c) and snake_case_names; 2 * 3 * 4 = 24.
A second line — with an unclosed ** marker and a [bracket.

- one
- two with **bold
  - nested \\*not emphasis\\*
1. first
10) tenth
- [ ] open
- [x] done

> quoted text
> > twice

\`\`\`ts
const a = "**not bold**"; // | not | a table |
\`\`\`

| Name | Size | Note |
| :--- | ---: | --- |
| \`a\\|b\` | 10 | **yes** |
| é | 2000 |

---
The end. ![picture](https://example.org/p.png) <https://example.org> ***
`;

describe("Markdown on a terminal", () => {
  it.each([
    ["# Title", "<b>Title</>\n"],
    ["### Title ###", "<b>Title</>\n"],
    ["#hashtag", "#hashtag\n"],
    ["a **b c** d", "a <b>b c</> d\n"],
    ["a __b__ d", "a <b>b</> d\n"],
    ["a *b* _c_ d", "a <i>b</i> <i>c</i> d\n"],
    ["***both***", "<b><i>both</i></>\n"],
    ["`a  *b*`", "<c>a  *b*</c>\n"],
    ["``a ` b``", "<c>a ` b</c>\n"],
    ["snake_case_name and 2 * 3 * 4", "snake_case_name and 2 * 3 * 4\n"],
    ["[docs](https://a.example/x_(y)) now", "docs <d>(https://a.example/x_(y))</> now\n"],
    ["<https://a.example>", "<c>https://a.example</c>\n"],
    ["![plot](https://a.example/p.png)", "[image: plot] <d>(https://a.example/p.png)</>\n"],
    ["\\*plain\\*", "*plain*\n"],
    ["- a\n* b\n+ c", "<c>•</c> a\n<c>•</c> b\n<c>•</c> c\n"],
    ["1. a\n2) b", "<c>1.</c> a\n<c>2)</c> b\n"],
    ["- [ ] a\n- [x] b", "<c>☐</c> a\n<c>☑</c> b\n"],
    ["> a", "<d>│ </>a\n"],
    ["---", `<d>${"─".repeat(40)}</>\n`],
    ["```js\nlet a = *b*;\n\n```\nafter", "  <c>let a = *b*;</c>\n\nafter\n"],
    ["an **open marker", "an **open marker\n"],
    ["| a pipe, no table", "| a pipe, no table\n"],
    ["a\r\nb\r\n", "a\nb\n"],
  ])("shows %j", (text, expected) => {
    expect(readable(render(text))).toBe(expected);
  });

  it("aligns tables", () => {
    const table = "| Name | Size |\n|---|---:|\n| **a** | 10 |\n| 日本 | 2000 |";
    expect(readable(render(table)).split("\n")).toEqual([
      "<b>Name</>  <b>Size</>",
      "<d>────  ────</>",
      "<b>a</>       10",
      "日本  2000",
      "",
    ]);
  });

  it("wraps the cells of a table that is too wide, and lists the rows of one that is much too wide", () => {
    const table = `| Key | Meaning |\n|---|---|\n| a | ${"many words ".repeat(10)}|\n| b | ${"x".repeat(60)} |`;
    const wrapped = render(table, { columns: 40, colours: false });
    for (const line of wrapped.split("\n")) expect(widthOf(line)).toBeLessThanOrEqual(40);
    expect(wrapped).toMatch(/^a {4}many words many words/m);
    const wide = `| A | B | C | D | E | F |\n|---|---|---|---|---|---|\n|${" some longer text |".repeat(6)}`;
    expect(render(wide, { columns: 40, colours: false })).toMatch(/^A: some longer text\nB: some longer text\n/);
  });

  it.each([20, 60, 120])("breaks lines at spaces to fit %i columns, and indents the rows of an item", (columns) => {
    const words = "several plain words in a row ".repeat(12).trim();
    const shown = render(`${words}\n\n- ${words}\n\n> ${words}\n`, { columns, colours: false });
    for (const line of shown.split("\n")) expect(widthOf(line)).toBeLessThanOrEqual(columns);
    expect(shown.replace(/^│ /gm, "").replace(/\s+/g, " ").trim()).toBe(`${words} • ${words} ${words}`);
    if (columns > 22) expect(shown).toMatch(/^• several .*\n {2}\S/m);
  });

  it("keeps the markers of emphasis, code and headings without colours, and writes no escape codes", () => {
    expect(render("## T\n**b** *i* `c`\n- x", { colours: false })).toBe("## T\n**b** *i* `c`\n• x\n");
    expect(render(SAMPLE, { colours: false })).not.toContain("\u001b");
  });

  it.each([1, 2, 3, 7, 40])("shows the same if the text arrives in pieces of %i characters", (pieceChars) => {
    for (const columns of [30, 80]) {
      expect(render(SAMPLE, { columns, pieceChars })).toBe(render(SAMPLE, { columns }));
    }
  });

  it("writes words as soon as they are certain", () => {
    let out = "";
    const stream = new MarkdownStream({
      columns: () => 80,
      palette: paletteFor({ isTTY: true }, {}, "always"),
      write: (shown) => {
        out += shown;
      },
    });
    stream.add("Hello there, my **dear");
    expect(out).toBe("Hello there, my");
    stream.add(" friend** and");
    expect(readable(out)).toBe("Hello there, my <b>dear friend</>");
    stream.add("\n");
    expect(readable(out)).toBe("Hello there, my <b>dear friend</> and\n");
  });

  it("never passes on escape codes or hidden characters, wherever they are", () => {
    const evil = "\u001b[31mx\u001b]8;;https://evil.example\u0007\u009b2J\u202e\u200b";
    const places = [
      evil,
      `# ${evil}`,
      `**${evil}**`,
      `\`${evil}\``,
      `[${evil}](https://a.example/${evil.replaceAll(" ", "")})`,
      `- ${evil}`,
      `> ${evil}`,
      `\`\`\`${evil}\n${evil}\n\`\`\``,
      `| ${evil} | b |\n|---|---|\n| ${evil} | c |`,
    ];
    for (const text of places) {
      for (const pieceChars of [1, 1000]) {
        const shown = render(text, { pieceChars });
        const own = shown.replace(OWN_CODES, "");
        expect(own.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
      }
    }
  });

  it("takes a line of thousands of open markers", () => {
    for (const marker of ["*a ", "_a ", "`a ", "[a ", "**a", "~~a "]) {
      const text = marker.repeat(5_000);
      expect(render(text, { columns: 1e9, colours: false }).trimEnd()).toBe(text.trimEnd());
    }
  });
});
