// Which tools `tools` finds by a word.
import { describe, expect, it } from "vitest";
import { Place } from "./command.js";
import { testServer } from "./server-entries.js";

const config = { "mcp.json": { mcpServers: { hello: testServer("hello"), again: testServer("hello") } } };
const namesIn = (stdout: string) => stdout.match(/^[\w.-]+(?=\()/gm);

describe("tools <word>", () => {
  it.each([
    ["peat", ["again.repeat", "hello.repeat"]],
    ["REPEAT", ["again.repeat", "hello.repeat"]],
    // The name of a tool of both servers.
    ["repeat", ["again.repeat", "hello.repeat"]],
    ["hello.repeat", ["hello.repeat"]],
    ["hello.re", ["hello.repeat"]],
    ["*.repeat", ["again.repeat", "hello.repeat"]],
  ])("finds %s", async (word, names) => {
    using place = new Place(config);
    const { code, stdout } = await place.run(["tools", word, "--mcp", "mcp.json"]);
    expect([code, namesIn(stdout)?.sort()]).toEqual([0, names]);
  });

  it("does not mention other servers that fail if the word is a server's name", async () => {
    const lost = { command: "no-such-program" };
    using place = new Place({ "mcp.json": { mcpServers: { hello: testServer("hello"), lost } } });
    const stderr = async (...words: string[]) => (await place.run(["tools", ...words, "--mcp", "mcp.json"])).stderr;
    expect(await stderr("hello")).toBe("");
    expect(await stderr("repeat")).toContain("lost: ");
    expect(await stderr("lost")).toContain("lost: ");
  });

  it("says how to search by what a tool does", async () => {
    using place = new Place(config);
    const { code, stderr } = await place.run(["tools", "say", "hello", "--mcp", "mcp.json"]);
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('Find tools by what they do: trunkline query describe "find=say hello"\n'),
    ]);
  });

  it("suggests a name if nothing matches", async () => {
    using place = new Place(config);
    const { code, stderr } = await place.run(["tools", "hello.repaet", "--mcp", "mcp.json"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("Did you mean")]);
  });
});
