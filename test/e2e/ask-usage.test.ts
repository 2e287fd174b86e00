// Invalid command lines of `ask`, `chat` and `agent`.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { placeWithServers, script } from "./agent-support.js";
import type { Outcome, Place } from "./command.js";

const echo = ["--provider", "echo"];

const asked: [args: string[], line: string][] = [
  [["--no-tools", "--tool", "hello.hello"], "--no-tools and --tool cannot be combined."],
  [["--no-tools", "--surface", "composite"], "--no-tools and --surface cannot be combined."],
  [["--surface", "composite", "--tool", "hello.hello"], "--surface composite and --tool cannot be combined."],
  [["--script", "sum.jsonl", "--provider", "ollama", "--model", "m"], "--script needs --provider echo."],
  [["--script", "sum.jsonl"], "--script needs --provider echo."],
  [["--record", "a.jsonl", "--replay", "b.jsonl", ...echo], "--record and --replay cannot be combined."],
  [["--pretty", ...echo], "--pretty only works with --json."],
  [["--stream", "--format", "json", ...echo], "--stream only works with text."],
  [["--stream", "--format", '{"type":"object"}', ...echo], "--stream only works with text."],
  [["--format", "yaml", ...echo], 'Invalid --format "yaml": it is neither text nor json, nor a file.'],
  [["--format", "{nope", ...echo], "--format:1:2 cannot be used: it is not valid JSON (invalid symbol)."],
  [["--format", "sum.jsonl", ...echo], "sum.jsonl:2:1 cannot be used: it is not valid JSON (end of file expected)."],
  [["--provider", "opnai"], 'No provider is named "opnai".'],
  [["--script", "nowhere.jsonl", ...echo], "Cannot read nowhere.jsonl: it does not exist."],
  [["--replay", "nowhere.jsonl"], "Recorded run nowhere.jsonl does not exist. Check the path given to --replay."],
  [["--max-turns", "0", ...echo], '"0" is not a valid value for --max-turns.'],
  [["--max-tokens", "many", ...echo], '"many" is not a valid value for --max-tokens.'],
  [["--max-time", "-1", ...echo], '"-1" is not a number of seconds.'],
  [["--surface", "both", ...echo], "option '--surface <kind>' argument 'both' is invalid"],
  [["--provider", "vllm"], "No model of vllm is chosen"],
  [["--endpoint", "not an address", "--model", "m"], "The endpoint is not an http or https URL."],
  [["--tool", "everything.get-smu", ...echo], 'No tool is named "everything.get-smu".'],
  [["--tool", "nothing.*", ...echo], 'No tool matches "nothing.*".'],
  [["--nonsense", ...echo], "unknown option '--nonsense'"],
  [[], "No model is configured."],
];

const others: [args: string[], line: string][] = [
  [["chat", "--resume", "x", "--replay", "y"], "--resume and --replay cannot be combined."],
  [["chat", "--resume", "x", ...echo], 'There is no conversation "x".'],
  [["chat", "--resume", ...echo], "There is no conversation to continue."],
  [["chat", "--stream", "--format", "json", ...echo], "--stream only works with text."],
  [["agent", "--name", "raect", ...echo, "x"], 'No agent is named "raect".'],
];

let place: Place;
let outcomes: readonly Outcome[];

beforeAll(async () => {
  place = placeWithServers();
  place.write("sum.jsonl", script({ text: "It is" }, { text: "5." }));
  const lines = [...asked.map(([args]) => ["ask", ...args, "x"]), ...others.map(([args]) => args)];
  outcomes = await Promise.all(lines.map((line) => place.run(line)));
});

afterAll(() => place[Symbol.dispose]());

describe("options that contradict each other", () => {
  it.each(asked.map(([args, line], index) => [args, line, index] as const))(
    "%j ends with exit code 2 and one clear line",
    (_, line, index) => {
      const { code, stdout, stderr = "" } = outcomes[index] ?? {};
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      const [first = "", ...hints] = stderr.trimEnd().split("\n");
      expect(first).toContain(`trunkline: ${line}`);
      expect(hints.length).toBeLessThanOrEqual(1);
    },
  );

  it.each(others.map(([args, line], index) => [args, line, asked.length + index] as const))(
    "%j also ends with exit code 2",
    (_, line, index) => {
      const { code, stdout, stderr } = outcomes[index] ?? {};
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toContain(`trunkline: ${line}`);
    },
  );

  it("end the process with exit code 2", async () => {
    const { code, stdout, stderr } = await place.runProcess(["ask", "--pretty", ...echo, "x"]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("trunkline: --pretty only works with --json.");
  });
});
