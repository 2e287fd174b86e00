// Approval is given by someone who has seen the question: lines that were typed or pasted before do not count.
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { script } from "../e2e/agent-support.js";
import { Place } from "../e2e/command.js";
import { testServer } from "../e2e/server-entries.js";
import { KEY, Terminal } from "../e2e/terminal.js";

let place: Place;
const terminals: Terminal[] = [];

beforeEach(() => {
  place = new Place({ "note.md": "# Note\n", ".trunkline/mcp.json": { mcpServers: {} } }, { TRUNKLINE_TRUST: "all" });
});

afterEach(async () => {
  await Promise.all(terminals.splice(0).map((terminal) => terminal.close()));
  place[Symbol.dispose]();
});

function atTerminal(args: readonly string[], at = place): Terminal {
  const terminal = new Terminal(at, args);
  terminals.push(terminal);
  return terminal;
}

/** Lets a model change the store, which needs approval. */
function askAtTerminal(): Terminal {
  const args = { operations: [{ op: "add", params: { path: "note.md" } }] };
  place.write("script.jsonl", script({ tool: "execute", args }, { text: "Done." }));
  const store = ["--surface", "composite", "--store", join(place.base, "store")];
  return atTerminal(["ask", "--provider", "echo", "--script", "script.jsonl", ...store, "Go."]);
}

describe("what was typed before a question is shown", () => {
  it.each([
    ["a line", `y${KEY.enter}`],
    ["several lines", `y${KEY.enter}`.repeat(20)],
    ["half a line", "y"],
  ])("does not let a tool run: %s", async (_, keys) => {
    const terminal = askAtTerminal();
    terminal.press(keys);
    await terminal.answer("Run it? [y]es, [n]o, [a]lways: ", "n");
    // Ends any question that should not have been asked.
    terminal.press(KEY.endOfInput);
    const { screen } = await terminal.end();
    expect(screen.match(/Run it\?/g)).toHaveLength(1);
    expect(screen).not.toContain('"success":true');
  });

  it("does not let a tool run if the question is only confirmed with Enter", async () => {
    const terminal = askAtTerminal();
    terminal.press("y");
    await terminal.answer("Run it? [y]es, [n]o, [a]lways: ", "");
    await terminal.sees("Please answer y, n, a.");
    await terminal.answer("Run it? [y]es, [n]o, [a]lways: ", "n");
    expect((await terminal.end()).screen).not.toContain('"success":true');
  });

  it.each([
    ["a line", `y${KEY.enter}`],
    ["several lines", `y${KEY.enter}yes${KEY.enter}`],
    ["half a line", "y"],
  ])("does not approve a project: %s", async (_, keys) => {
    using fresh = new Place({ ".trunkline/mcp.json": { mcpServers: { docs: testServer("hello") } } });
    const terminal = atTerminal(["trust"], fresh);
    terminal.press(keys);
    await terminal.answer("Approve what this project would run? [y/N]", "");
    expect((await terminal.end()).code).toBe(1);
  });

  it("fills a server's form, but does not send it", async () => {
    place.write(".trunkline/mcp.json", { mcpServers: { asking: testServer("asking") } });
    const terminal = atTerminal(["call", "asking.ask_many", "count=1"]);
    await terminal.sees("answer: ");
    terminal.press(["secret plan", "a", "a", ""].join(KEY.enter));
    await terminal.answer("Send it? [a]ccept, [d]ecline, [c]ancel, [e]dit: ", "d");
    terminal.press(KEY.endOfInput);
    expect(JSON.parse((await terminal.end()).stdout).answers).toEqual([{ action: "decline" }]);
  });
});
