// `trunkline ask` with a scripted model: what goes in, and what comes out. Tools, models and usage errors have their
// own files.
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { placeWithServers, script } from "./agent-support.js";
import { outcomeOf, Place, seen } from "./command.js";
import { testServer } from "./server-entries.js";

let place: Place;

beforeAll(() => {
  place = placeWithServers({ slow: testServer("slow") });
  place.write("sum.jsonl", script({ tool: "everything.get-sum", args: { a: 2, b: 3 } }, { text: "It is 5." }));
});

afterAll(() => place[Symbol.dispose]());

const echo = ["--provider", "echo"];

describe("the prompt", () => {
  it("comes from the command line", async () => {
    expect(await place.run(["ask", ...echo, "What", "is this?"])).toEqual({
      code: 0,
      stdout: "What is this?\n",
      stderr: "",
    });
  });

  it("comes from piped input", async () => {
    const { stdout } = await place.run(["ask", ...echo], { input: "From the pipe.\n" });
    expect(stdout).toBe("From the pipe.\n");
  });

  it("combines the command line with piped input, which is marked", async () => {
    const { stdout } = await place.run(["ask", ...echo, "What failed?"], { input: "error: disk full\n" });
    expect(stdout).toBe("What failed?\n\n<stdin>\nerror: disk full\n</stdin>\n");
  });

  it("is required", async () => {
    const { code, stdout, stderr } = await place.run(["ask", ...echo]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("There is nothing to ask.");
  });

  it("is rejected if it is not text", async () => {
    const { code, stderr } = await place.run(["ask", ...echo, "x"], { input: "a\u0000b" });
    expect({ code, stderr }).toEqual({ code: 2, stderr: "trunkline: Standard input is not text.\n" });
  });
});

describe("the answer's format", () => {
  it("is one JSON document and nothing else", async () => {
    expect(await place.run(["ask", ...echo, "--format", "json", "x"])).toEqual({
      code: 0,
      stdout: '{"echo":"x"}\n',
      stderr: "",
    });
  });

  const schema = { type: "object", properties: { name: { type: "string" }, age: { type: "integer" } } };

  it("matches a schema, inline or from a file, and is indented on request", async () => {
    const inline = await place.run(["ask", ...echo, "--format", JSON.stringify(schema), "--pretty", "Ada"]);
    expect(inline.stdout).toBe('{\n  "name": "Ada",\n  "age": 0\n}\n');
    place.write("schema.json", schema);
    const fromFile = await place.run(["ask", ...echo, "--format", "schema.json", "Ada"]);
    expect(fromFile.stdout).toBe('{"name":"Ada","age":0}\n');
  });

  it("is still JSON after tool calls, with everything else on stderr", async () => {
    place.write(
      "json.jsonl",
      script({ tool: "everything.get-sum", args: { a: 2, b: 3 } }, { text: 'Here: ```json\n{"sum": 5}\n```' }),
    );
    const { stdout } = await place.run([
      "ask",
      ...echo,
      ...["--script", "json.jsonl", "--tool", "everything.get-sum", "--format", "json", "--usage", "x"],
    ]);
    expect(stdout).toBe('{"sum":5}\n');
  });

  it("causes an error if the model does not follow it, with nothing on stdout", async () => {
    place.write("prose.jsonl", script({ text: "no" }, { text: "still no" }));
    const { code, stdout } = await place.run([
      "ask",
      ...echo,
      ...["--script", "prose.jsonl", "--format", JSON.stringify({ ...schema, required: ["name"] }), "x"],
    ]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  });
});

describe("recording and replaying", () => {
  it("gives the same answer without the model, the servers or the prompt", async () => {
    const args = ["--tool", "everything.get-sum", "--record", "run.jsonl", "What is 2 + 3?"];
    const first = await place.run(["ask", ...echo, "--script", "sum.jsonl", ...args]);
    using empty = new Place();
    const run = empty.write("run.jsonl", readFileSync(join(place.cwd, "run.jsonl"), "utf8"));
    expect(await empty.run(["ask", "--replay", run])).toEqual(first);
    expect(statSync(join(place.cwd, "run.jsonl")).mode & 0o777).toBe(0o600);
  });

  it("shows where another prompt differs from the recorded run", async () => {
    const { code, stderr } = await place.run(["ask", "--replay", "run.jsonl", "What is 2 + 4?"]);
    expect(code).toBe(2);
    expect(stderr).toContain("Turn 1 differs from the recording");
  });
});

describe("Ctrl-C", () => {
  it("first cancels the running call and tells the model, then stops the program", async () => {
    place.write(
      "waiting.jsonl",
      script({ tool: "slow.wait", args: { ms: 60_000 } }, { text: "Gone on.", delayMs: 60_000 }),
    );
    const child = place.start(["ask", ...echo, "--script", "waiting.jsonl", "--tool", "slow.wait", "--yes", "x"], {
      env: { TRUNKLINE_LOG_LEVEL: "debug" },
    });
    const outcome = outcomeOf(child);
    child.stdin?.end();
    await seen(child.stderr, /calling a tool/);
    child.kill("SIGINT");
    await seen(child.stderr, /observation: error: slow_wait was cancelled by the user/);
    child.kill("SIGINT");
    expect((await outcome).code).toBe(130);
  });
});
