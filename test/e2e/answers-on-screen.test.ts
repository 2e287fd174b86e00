// What a person at a terminal sees of an answer: it arrives word by word, rendered, behind a spinner.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { script } from "./agent-support.js";
import { Place } from "./command.js";
import { KEY, Terminal } from "./terminal.js";

let place: Place;
const terminals: Terminal[] = [];

beforeEach(() => {
  place = new Place();
});

afterEach(async () => {
  await Promise.all(terminals.splice(0).map((terminal) => terminal.close()));
  place[Symbol.dispose]();
});

function open(turns: readonly object[], args: readonly string[], env: Readonly<Record<string, string>> = {}): Terminal {
  place.write("script.jsonl", script(...turns));
  const words = [...args, "--provider", "echo", "--script", "script.jsonl"];
  const terminal = new Terminal(place, words, env, { showsAnswer: true });
  terminals.push(terminal);
  return terminal;
}

const TEXT = "# Plan\n\n- **first** step\n- `second` step\n\n| a | b |\n|---|---|\n| 1 | 2 |\n";
const SHOWN = [
  "\u001b[1mPlan\u001b[22m",
  "",
  "\u001b[36m•\u001b[39m \u001b[1mfirst\u001b[22m step",
  "\u001b[36m•\u001b[39m \u001b[36msecond\u001b[39m step",
  "",
  "\u001b[1ma\u001b[22m  \u001b[1mb\u001b[22m",
  "\u001b[2m─  ─\u001b[22m",
  "1  2",
  "",
].join("\n");

describe("an answer at a terminal", () => {
  it.each(["ask", "agent"])("of %s is rendered Markdown", async (command) => {
    const terminal = open([{ text: TEXT }], [command, "Plan it."]);
    expect(await terminal.end()).toMatchObject({ code: 0, stdout: SHOWN });
  });

  it("of the agent `react` is rendered Markdown", async () => {
    const text = JSON.stringify({ thought: "", answer: TEXT });
    const terminal = open([{ text }], ["agent", "--name", "react", "Plan it."]);
    expect(await terminal.end()).toMatchObject({ code: 0, stdout: SHOWN });
  });

  it("of chat is rendered Markdown, turn by turn", async () => {
    const terminal = open([{ text: TEXT }, { text: "```\nopen" }, { text: "*em*" }], ["chat"]);
    await terminal.answer("> ", "Plan it.");
    await terminal.answer("> ", "And?");
    await terminal.answer("> ", "So?");
    await terminal.sees("> ");
    terminal.press(KEY.endOfInput);
    // A fence that was left open ends with its answer.
    expect((await terminal.end()).stdout).toBe(`${SHOWN}  \u001b[36mopen\u001b[39m\n\u001b[3mem\u001b[23m\n`);
  });

  it("is streamed by ask, behind a spinner", async () => {
    const turn = { text: "The first words and **the rest** of it.", delayMs: 150 };
    const terminal = open([turn], ["ask", "Go."]);
    await terminal.sees("Thinking…");
    const { stdout, screen } = await terminal.end();
    expect(stdout).toBe("The first words and \u001b[1mthe rest\u001b[22m of it.\n");
    // The spinner is erased before the answer begins.
    expect(screen.slice(0, screen.indexOf("The first")).endsWith("\r\u001b[K")).toBe(true);
    expect(screen.slice(screen.indexOf("The first"))).not.toContain("Thinking…");
  });

  it("has no colours with NO_COLOR, and is written as it is in a pipe", async () => {
    const plain = open([{ text: TEXT }], ["ask", "Plan it."], { NO_COLOR: "1" });
    expect((await plain.end()).stdout).toBe("# Plan\n\n• **first** step\n• `second` step\n\na  b\n─  ─\n1  2\n");
    const args = ["ask", "--provider", "echo", "--script", "script.jsonl", "Plan it."];
    expect(await place.run(args)).toEqual({ code: 0, stdout: TEXT, stderr: "" });
  });

  it("passes on no escape codes of the model or of a tool", async () => {
    const evil = "\u001b[2J\u001b]0;owned\u0007 **\u001b[31mred**";
    const terminal = open([{ text: evil }], ["ask", "Go."]);
    const { stdout } = await terminal.end();
    expect(stdout).toBe("\\u001b[2J\\u001b]0;owned\\u0007 \u001b[1m\\u001b[31mred\u001b[22m\n");
  });

  it("is one JSON document with --format json, and nothing else", async () => {
    const terminal = open([{ text: '{"a": 1}' }], ["ask", "--format", "json", "Go."]);
    expect((await terminal.end()).stdout).toBe('{"a":1}\n');
  });
});
