// @with-broker
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Place, root } from "./command.js";
import { KEY, Terminal } from "./terminal.js";

const json = (text: string) => JSON.parse(text);
const hello = { command: process.execPath, args: [join(root, "test", "servers", "hello.js")] };

describe("trunkline query and execute", () => {
  it("run one operation by name, converting parameters to their types", async () => {
    using place = new Place({ "minutes.md": "the minutes of the meeting" });
    const added = await place.run(["execute", "add", "path=minutes.md", 'tags:=["minutes"]']);
    expect({ code: added.code, answer: json(added.stdout) }).toMatchObject({
      code: 0,
      answer: { results: [{ op: "add", success: true }], totalOps: 1, succeeded: 1, failed: 0 },
    });
    const found = await place.run(["query", "search", "query=meeting", "limit=1"]);
    expect(found.stdout.trimEnd()).not.toContain("\n");
    expect(json(found.stdout)).toMatchObject({ total: 1, results: [{ path: join(place.cwd, "minutes.md") }] });
  });

  it("accept a pipeline as JSON, from a file or from stdin", async () => {
    using place = new Place({ "a.md": "one two" });
    await place.run(["execute", "add", "path=a.md"]);
    const steps = [{ op: "list" }, { op: "grep", params: { pattern: "two" } }];
    const file = place.write("steps.json", { steps });
    const runs = [
      await place.run(["query", JSON.stringify(steps)]),
      await place.run(["query", file]),
      await place.run(["query", "-"], { input: JSON.stringify({ steps }) }),
    ];
    for (const { code, stdout, stderr } of runs) {
      expect({ code, stderr, stdout }).toEqual({ code: 0, stderr: "", stdout });
      expect(json(stdout)).toMatchObject({ totalSteps: 2, completedSteps: 2, steps: [{}, { result: { total: 1 } }] });
    }
  });

  it("indent the answer with --pretty", async () => {
    using place = new Place();
    const { code, stdout } = await place.run(["query", "list_collections", "--pretty"]);
    expect([code, stdout]).toEqual([0, `${JSON.stringify(json(stdout), null, 2)}\n`]);
  });

  it("call the tools of servers", async () => {
    using place = new Place({ "work.json": { servers: { hello } } });
    const { code, stdout } = await place.run(["execute", "hello.hello", "name=Ada", "--mcp", "work.json"]);
    expect(code).toBe(0);
    expect(json(stdout).results[0]).toMatchObject({
      op: "hello.hello",
      success: true,
      result: { text: "Hello, Ada!" },
    });
  });

  it("end with 1 if an operation fails, and the answer says why", async () => {
    using place = new Place();
    const { code, stdout } = await place.run(["query", "get", "path=nothing.md"]);
    expect(code).toBe(1);
    expect(json(stdout).error).toMatchObject({ code: "NOT_FOUND" });
    expect((await place.run(["query", "delete", "name=x"])).code).toBe(1);
    // An unknown operation, with parameters too: an agent would get the same answer.
    for (const [tool, words] of [
      ["execute", ["nosuch", "a=1"]],
      ["query", ["serach", "query=x"]],
    ] as const) {
      const unknown = await place.run([tool, ...words]);
      expect([unknown.code, unknown.stderr]).toEqual([1, ""]);
      expect(JSON.stringify(json(unknown.stdout))).toContain("NOT_FOUND");
    }
  });

  it.each([
    [["query", "{bad"], "<argument>:1:2 cannot be used: it is not valid JSON"],
    [["query", "missing.json"], "Cannot read missing.json"],
    [["query", "3.json"], "Cannot read 3.json"],
    [["query", '{"steps": []}', "more=1"], 'Unexpected argument "more=1"'],
    [["query", "list", "limit=x"], "limit"],
    [["query", "list", "word"], "is not an argument"],
    [["query", "list", "--mcp", "missing.json"], "does not exist"],
  ])("%j is wrong usage, and the error is JSON as well", async (args, message) => {
    using place = new Place();
    const { code, stdout, stderr } = await place.run(args);
    expect([code, stderr]).toEqual([2, ""]);
    expect(json(stdout).error).toMatchObject({ code: expect.any(String), message: expect.stringContaining(message) });
  });

  it("ask what to do if they are told nothing", async () => {
    using place = new Place();
    const { code, stdout, stderr } = await place.run(["query"]);
    expect([code, stdout, stderr]).toEqual([2, "", expect.stringContaining("What should it do?")]);
  });

  it("end with 1 if part of a batch fails and the rest continues", async () => {
    using place = new Place();
    const operations = [
      { op: "delete", params: { name: "nothing.md" } },
      { op: "add", params: { content: "x", name: "x" } },
    ];
    const { code, stdout } = await place.run(["execute", JSON.stringify({ operations, continueOnError: true })]);
    expect({ code, answer: json(stdout) }).toMatchObject({ code: 1, answer: { succeeded: 1, failed: 1 } });
  });

  it("show help for all operations or for one, without connecting to servers", async () => {
    using place = new Place({ ".trunkline/mcp.json": { servers: { broken: { command: "no-such-program" } } } });
    const list = await place.run(["query", "--help"]);
    expect(list.code).toBe(0);
    expect(list.stdout).toMatch(/^ {2}search +\S/m);
    expect(list.stdout).not.toMatch(/^ {2}delete /m);
    expect((await place.run(["execute", "--help"])).stdout).toMatch(/^ {2}delete +\S/m);
    const one = await place.run(["query", "search", "--help"]);
    expect([one.code, one.stderr]).toEqual([0, ""]);
    expect(one.stdout).toMatch(/^ {2}limit +integer .*Default: 10\./m);
    expect(one.stdout).toMatch(/^ {2}query +string .*\(required\)/m);
    expect(one.stdout).toMatch(/^Example: trunkline query search /m);
  });

  it("are journalled, and cost no tokens", async () => {
    using place = new Place();
    await place.run(["query", "list_collections"]);
    expect((await place.run(["log"])).stdout).toMatch(/ trunkline +list_collections .* ok$/m);
    expect(json((await place.run(["stats", "--format", "json"])).stdout).all.total).toBe(0);
  });
});

describe("trunkline query at a terminal", () => {
  it("asks the user what a server asks", async () => {
    const asking = { ...hello, args: [join(root, "test", "servers", "asking.js")] };
    using place = new Place({ "work.json": { servers: { asking } } });
    const terminal = new Terminal(place, ["execute", "asking.ask_form", "--mcp", "work.json"]);
    await terminal.sees('Server "asking", during ask_form, asks you:');
    await terminal.sees("Name (1 to 40 characters): ");
    terminal.press(KEY.interrupt);
    const { code, stdout } = await terminal.end();
    expect(code).toBe(0);
    expect(json(stdout).results[0].result.answer).toEqual({ action: "cancel" });
  });
});
