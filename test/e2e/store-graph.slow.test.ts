// `trunkline store graph`, and the document output of `store get` and `store list`.
// @with-broker
import { createHash } from "node:crypto";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Place } from "./command.js";
import { json, store } from "./store-support.js";

const GREET = 'export function greet(name: string) {\n  return "Hello, " + name;\n}\n';
const FILES = {
  "src/main.ts":
    'import { greet } from "./greet.js";\n\nexport function main() {\n  return greet("world") + missing();\n}\n',
  "src/greet.ts": GREET,
  "src/other.ts": 'import { greet } from "./greet.js";\n\nexport function greetAll() {\n  return greet("all");\n}\n',
};

describe.concurrent("store graph", () => {
  const place = new Place(FILES);
  const at = (path: string) => join(place.cwd, path);
  beforeAll(async () => {
    await json(place, ["add", "src", "--tag", "code"]);
    await json(place, ["add", "src/greet.ts", "--collection", "copies"]);
  });
  afterAll(() => place[Symbol.dispose]());
  const out = async (...args: string[]) => {
    const { code, stdout, stderr } = await store(place, args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    return stdout.replaceAll(`${place.cwd}/`, "");
  };

  it("shows a tree of a document's relations, expanding each node once", async () => {
    expect(await out("graph", "main.ts", "--depth", "2", "--relation", "imports")).toBe(
      "src/main.ts\n└─ IMPORTS src/greet.ts (line 1)\n",
    );
    expect(await out("graph", "main.ts")).toBe(
      [
        "src/main.ts",
        "├─ IMPORTS src/greet.ts (line 1)",
        "├─ CALLS greet function in src/greet.ts (line 4)",
        "├─ DEFINES main function (line 3)",
        "├─ TAGGED code tag",
        "├─ IN_COLLECTION default collection",
        "└─ CALLS missing external (line 4, unresolved)\n",
      ].join("\n"),
    );
  });

  it("follows relations backwards from a symbol's key", async () => {
    const key = `symbol:${at("src/greet.ts")}#greet`;
    expect(await out("graph", key, "--reverse", "--relation", "CALLS", "--collection", "default")).toBe(
      [
        "greet function in src/greet.ts",
        "├─ <- CALLS main function in src/main.ts (line 4)",
        "└─ <- CALLS greetAll function in src/other.ts (line 4)\n",
      ].join("\n"),
    );
    expect(await json(place, ["graph", "--node-key", "tag:code", "--reverse"])).toMatchObject({
      origin: { type: "tag" },
      nodes: [{ name: "greet.ts" }, { name: "main.ts" }, { name: "other.ts" }],
    });
  });

  it.each([
    [["graph", "greet"], "Pass one of them as --node-key."],
    [["graph", "--node-key", "nonsense"], "; --list-type lists the existing ones."],
    [["graph", "--node-key", "file:/lost.ts"], "--list-types lists the types, --list-type the nodes of one type."],
    [["graph", "--node-key", "symbol:AT/src/greet.ts#greet"], "Choose one with --collection."],
    [["graph", "lost.ts"], "`trunkline store grep` finds it in texts, `trunkline store search` finds similar names."],
    [["diff", "lost"], "`trunkline store snapshots` shows their ids and labels."],
  ])("suggests options and commands as they are spelled in a shell: %j", async (args, hint) => {
    const { code, stderr } = await store(
      place,
      args.map((word) => word.replace("AT", place.cwd)),
    );
    expect(code).not.toBe(0);
    expect(stderr).toContain(hint);
    expect(stderr).not.toMatch(/`[a-z]+_/);
  });

  it("finds the start node by name, symbol or hash prefix", async () => {
    const hash = createHash("sha256").update(FILES["src/main.ts"]).digest("hex");
    for (const target of [[hash.slice(0, 8)], ["--hash", hash.slice(0, 10)], ["src/main.ts"], ["main"]]) {
      const { origin } = await json(place, ["graph", ...target]);
      expect(origin.path).toBe(at("src/main.ts"));
    }
  });

  it("lists types and the nodes of a type, draws diagrams, and says if the output was truncated", async () => {
    expect(await out("graph", "--list-types")).toMatch(/^file +4\nfunction +4\n(?:.*\n)*tag +1\ncollection +2\n$/);
    expect(await out("graph", "--list-type", "function", "--collection", "default")).toBe(
      "greet     symbol:src/greet.ts#greet\ngreetAll  symbol:src/other.ts#greetAll\nmain      symbol:src/main.ts#main\n",
    );
    expect(await out("graph", "main.ts", "--relation", "IMPORTS", "--format", "mermaid")).toBe(
      'flowchart LR\n  n0[["main.ts"]]\n  n1[["greet.ts"]]\n  n0 -->|IMPORTS| n1\n',
    );
    const cut = await store(place, ["graph", "main.ts", "--limit", "1"]);
    expect(cut.stderr).toBe("There is more. Use a larger --limit.\n");
    expect(cut.stdout.split("\n")).toHaveLength(3);
  });

  it("shows a symbol's lines and a document's relations with get", async () => {
    expect(await out("get", "src/greet.ts", "--symbol", "greet", "--collection", "default")).toBe(GREET);
    const tree = await out("get", "main.ts", "--graph", "--depth", "1");
    expect(tree).toMatch(/^src\/main\.ts\n├─ IMPORTS src\/greet\.ts \(line 1\)\n/);
    expect(await out("get", "main.ts", "--graph", "--depth", "1", "--include-content")).toBe(
      FILES["src/main.ts"] + tree,
    );
    const fields = await json(place, ["get", "main.ts", "--graph"]);
    expect(fields.content).toBeUndefined();
    expect(fields.related.nodes.map(({ name }: { name: string }) => name)).toContain("greet.ts");
    expect(await json(place, ["get", "main.ts", "--symbol", "main", "--include-content"])).toMatchObject({
      symbol: { name: "main", type: "function" },
      lines: { from: 3, to: 5 },
      content: expect.stringMatching(/^export function main/),
    });
  });

  it.each([
    [["list", "--tag", "code", "--tag", "none", "--match-all-tags"], 1, ""],
    [["list", "--paths-only", "--collection", "copies"], 0, "src/greet.ts\n"],
    [["list", "--paths-only", "--sort-by", "size", "--sort-order", "asc", "--limit", "1"], 0, "src/greet.ts\n"],
    [["list", "--paths-only", "--offset", "2", "--extension", ".ts", "--collection", "default"], 0, "src/other.ts\n"],
    [["list", "--paths-only", "--recent", "1"], 0, "src/greet.ts\n"],
    [["list", "--type", "binary"], 1, ""],
    [["list", "main.*", "--paths-only", "--type", "text", "--metadata", "a=b"], 1, ""],
    [
      ["search", "greet", "--paths-only", "--collection", "copies", "--path-pattern", "**/greet.*"],
      0,
      "src/greet.ts\n",
    ],
  ])("%j exits with %i", async (args, code, expected) => {
    const outcome = await store(place, args);
    expect(outcome).toMatchObject({ code });
    expect(outcome.stdout.replaceAll(`${place.cwd}/`, "")).toBe(expected);
  });

  it.each([
    [["graph"], 2, /Give one starting point/],
    [["graph", "main.ts", "--list-types"], 2, /Give one starting point/],
    [["graph", "nowhere.ts"], 1, /no document or symbol "nowhere\.ts"/],
    [["graph", "symbol:/nowhere.ts#x"], 1, /no node/],
    [["graph", "main.ts", "--relation", "hates"], 2, /"hates" is not a relation\.\n.*IMPORTS, CALLS/],
    [["graph", "--list-type", "planet"], 2, /"planet" is not a node type\.\n.*function/],
    [["graph", "main.ts", "--depth", "9"], 2, /from 1 to 5/],
    [["graph", "greet.ts"], 2, /copies/],
    [["graph", "main.ts", "--collection", "none"], 1, /no collection "none"\.\n.*Available: copies, default/],
    [["get", "main.ts", "--symbol", "nothing"], 1, /nothing/],
    [["get", "main.ts", "--symbol", "main", "--lines", "1-2"], 2, /symbol cannot be combined with lines/],
    [["get", "main.ts", "--depth", "2"], 2, /--depth needs --graph/],
    [["get", "main.ts", "--symbol", "main", "--output", "x"], 2, /whole content/],
    [["get", "main.ts", "--version", "7"], 1, /no version 7\.\n.*one version/],
    [["get", "0123456789"], 1, /no content/],
  ])("%j exits with %i and says what to do", async (args, code, message) => {
    const outcome = await store(place, args);
    expect(outcome).toMatchObject({ code, stdout: "" });
    expect(outcome.stderr).toMatch(message);
  });
});
