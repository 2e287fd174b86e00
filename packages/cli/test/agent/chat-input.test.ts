import { printableLines, Redactor } from "@trunkline/core";
import { describe, expect, it } from "vitest";
import { EntryReader } from "../../src/agent/chat-entry.js";
import { fromEditorLine, PasteReader } from "../../src/agent/paste-input.js";
import { PieceWriter } from "../../src/agent/run-printer.js";

/** Returns the entries that the lines form. */
function entriesOf(...lines: string[]): string[] {
  const reader = new EntryReader();
  return lines.flatMap((line) => reader.add(line) ?? []);
}

describe("multi-line entries", () => {
  it.each([
    [["a"], ["a"]],
    [["a\\", "b"], ["a\nb"]],
    [
      ["a\\\\", "b"],
      ["a\\\\", "b"],
    ],
    [
      ["```", "a", "", "b", "```", "c"],
      ["a\n\nb", "c"],
    ],
    [["```ts", "let a;", "```"], ["```ts\nlet a;\n```"]],
    [["```", "```"], [""]],
    [["say ```x```"], ["say ```x```"]],
  ])("%j form %j", (lines, entries) => {
    expect(entriesOf(...lines)).toEqual(entries);
  });

  it("are returned unfinished if the input ends early", () => {
    const reader = new EntryReader();
    reader.add("```");
    reader.add("a");
    expect(reader.isOpen).toBe(true);
    expect(reader.end()).toBe("a");
  });
});

describe("a paste", () => {
  const input = Buffer.from("x\u001b[200~ä\r\n\tb\u001b[31m\n\u001b[201~y\r\u001b[A");

  it("is one line, wherever the input is split", () => {
    const whole = new PasteReader().read(input);
    expect(fromEditorLine(whole)).toBe("xä\n\tb[31my\r\u001b[A");
    for (let at = 1; at < input.length; at++) {
      // Outside a paste, Escape alone is a key.
      if (at === input.indexOf("\u001b") + 1) continue;
      const reader = new PasteReader();
      const keys = reader.read(input.subarray(0, at)) + reader.read(input.subarray(at));
      expect(keys, `cut at ${at}`).toBe(whole);
    }
  });

  it("does not delay the Escape key", () => {
    expect(new PasteReader().read("\u001b")).toBe("\u001b");
  });
});

describe("a model's text on the screen", () => {
  it("cannot move the cursor, but keeps line breaks and emoji", () => {
    expect(printableLines("a\r\nb\t\u001b[2J\u202e👩‍💻\u0007")).toBe("a\nb\t\\u001b[2J\\u202e👩‍💻\\u0007");
  });

  it("contains no secret, wherever the chunks are split", () => {
    const text = "The key is sk-secret-123, no more.\n";
    for (let at = 1; at < text.length; at++) {
      let shown = "";
      const writer = new PieceWriter((piece) => {
        shown += piece;
      }, new Redactor().add("sk-secret-123"));
      writer.add(text.slice(0, at));
      writer.add(text.slice(at));
      writer.flush({ endLine: true });
      expect(shown).toBe("The key is <redacted>, no more.\n");
    }
  });
});
