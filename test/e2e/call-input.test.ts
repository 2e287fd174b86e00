// The arguments of `call`: from files and stdin, and what is missing.
import { describe, expect, it } from "vitest";
import { Place } from "./command.js";
import { testServer } from "./server-entries.js";

const config = { "mcp.json": { mcpServers: { hello: testServer("hello") } } };
const call = (...args: string[]) => ["call", "--mcp", "mcp.json", ...args];

describe("call --input", () => {
  it("reads the arguments from a file after @, and pairs override them", async () => {
    using place = new Place({ ...config, "args.json": { text: "ab", count: 2 } });
    expect((await place.run(call("hello.repeat", "--input", "@args.json"))).stdout).toBe("ab ab\n");
    expect((await place.run(call("hello.repeat", "--input", "@args.json", "count=3"))).stdout).toBe("ab ab ab\n");
  });

  it.each(["-", "@-"])("reads the arguments from stdin with %s", async (word) => {
    using place = new Place(config);
    const { stdout } = await place.run(call("hello.hello", "--input", word), { input: '{"name": "Ada"}\n' });
    expect(stdout).toBe("Hello, Ada!\n");
  });

  it.each([
    ["@none.json", "Cannot read none.json: "],
    ["@broken.json", "broken.json is not JSON: "],
    ["[1]", "--input has to be an object with the tool's parameters."],
  ])("says what is wrong with %s", async (word, message) => {
    using place = new Place({ ...config, "broken.json": "{" });
    const { code, stderr } = await place.run(call("hello.hello", "--input", word));
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});

describe("a missing argument", () => {
  it("is named by call, with what the tool expects", async () => {
    using place = new Place(config);
    const { code, stderr } = await place.run(call("hello.repeat", "count=2"));
    expect(code).toBe(2);
    expect(stderr).toContain('trunkline: hello.repeat needs the argument "text".\n');
    expect(stderr).toContain("  Add text=…. The tool is hello.repeat(text: string, count?: number).");
  });

  it("is named by execute, with what the tool expects", async () => {
    using place = new Place(config);
    const { code, stdout } = await place.run(["execute", "--mcp", "mcp.json", '{"op": "hello.repeat"}']);
    expect(code).toBe(1);
    expect(JSON.parse(stdout).results[0].error).toMatchObject({
      code: "INVALID_ARGUMENT",
      message: 'hello.repeat needs the parameter "text".',
      hint: "Call it as hello.repeat(text: string, count?: number).",
    });
  });
});

describe("call with a server and a tool as two words", () => {
  it.each([
    [["hello", "repeat", "text=a"], "Put a dot between the server and the tool: trunkline call hello.repeat"],
    [["hello"], "List its tools: trunkline tools 'hello.*'"],
    [["hello", "text=a"], "List its tools: trunkline tools 'hello.*'"],
    [["hello.repeat", "--text", "a"], "Arguments of the tool are written as name=value."],
  ])("%j says how to write it", async (words, hint) => {
    using place = new Place(config);
    const { code, stderr } = await place.run(call(...words));
    expect([code, stderr]).toEqual([2, expect.stringContaining(`\n  ${hint}\n`)]);
  });
});
