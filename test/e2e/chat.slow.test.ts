// `trunkline chat`: at a terminal, and line by line without one.
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startFakeModel } from "../models/fake-model.js";
import { placeWithServers, script } from "./agent-support.js";
import { outcomeOf, type Place, seen } from "./command.js";
import { testServer } from "./server-entries.js";
import { atTerminal, hasTerminal, KEY, RealTerminal, Terminal } from "./terminal.js";

let place: Place;
const terminals: (Terminal | RealTerminal)[] = [];

beforeEach(() => {
  place = placeWithServers({ slow: testServer("slow"), asking: testServer("asking") });
});

afterEach(async () => {
  await Promise.all(terminals.splice(0).map((terminal) => terminal.close()));
  place[Symbol.dispose]();
});

const echo = ["--provider", "echo"];
const PROMPT = "> ";
const UP = "\u001b[A";

function open(...args: string[]): Terminal {
  const terminal = new Terminal(place, ["chat", ...args]);
  terminals.push(terminal);
  return terminal;
}

/** Starts a chat at a real terminal: for keys pressed before a prompt reads them, and for signals. */
function openReal(...args: string[]): RealTerminal {
  const terminal = new RealTerminal(place, ["chat", ...args]);
  terminals.push(terminal);
  return terminal;
}

function play(turns: readonly object[], ...args: string[]): Terminal {
  place.write("script.jsonl", script(...turns));
  return open(...echo, "--script", "script.jsonl", ...args);
}

function chats(): string[] {
  const folder = join(place.home, ".trunkline", "chats");
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
}

describe("a chat at a terminal", () => {
  it("answers turn by turn until Ctrl-D, and says how to continue", async () => {
    const terminal = open(...echo, "The first one.");
    await terminal.sees("echo/echo. /help lists the commands");
    await terminal.answer(PROMPT, "The second one.");
    await terminal.sees(PROMPT);
    terminal.press(KEY.endOfInput);
    const { code, stdout, screen } = await terminal.end();
    expect({ code, stdout }).toEqual({ code: 0, stdout: "The first one.\nThe second one.\n" });
    const [file = ""] = chats();
    const id = /([^/]+)\.jsonl$/.exec(file)?.[1];
    expect(screen).toContain(`Continue with: trunkline chat --resume ${id}`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it("continues the last conversation, or one by its id", async () => {
    await place.run(["chat", ...echo, "Remember the milk."]);
    const [file = ""] = chats();
    await using model = await startFakeModel({ text: "The milk." }, { text: "Again." });
    const args = ["--endpoint", `${model.url}/v1`, "--model", "m", "--resume"];
    const terminal = open(...args);
    await terminal.sees("2 messages.");
    await terminal.answer(PROMPT, "What was it?");
    await terminal.answer(PROMPT, "/exit");
    expect((await terminal.end()).stdout).toBe("The milk.\n");
    expect(JSON.stringify(model.requests[0]?.body.messages)).toContain("Remember the milk.");
    const id = /([^/]+)\.jsonl$/.exec(file)?.[1] ?? "";
    const { stdout } = await place.run(["chat", ...args, id], { input: "And now?\n" });
    expect(stdout).toBe("Again.\n");
    expect(chats()).toEqual([file]);
  });

  it.skipIf(!hasTerminal)(`keeps the conversation when it is killed ${atTerminal}`, async () => {
    place.write("script.jsonl", script({ text: "One." }, { text: "Two.", delayMs: 60_000 }));
    const terminal = openReal(...echo, "--script", "script.jsonl");
    await terminal.answer(PROMPT, "First.");
    await terminal.answer(PROMPT, "Second.");
    const [file = ""] = chats();
    await expect.poll(() => readFileSync(file, "utf8")).toContain("Second.");
    await terminal.close();
    const { stderr } = await place.run(["chat", ...echo, "--resume"], { input: "Third.\n" });
    expect(stderr).toContain("3 messages.");
  });

  it("offers entries from earlier chats with the arrow keys, from a private file", async () => {
    const first = open(...echo);
    await first.answer(PROMPT, "An old question");
    await first.answer(PROMPT, "/exit");
    await first.end();
    const second = open(...echo);
    await second.sees(PROMPT);
    second.press(UP);
    second.press(UP);
    await second.sees("An old question");
    second.press(` again${KEY.enter}`);
    await second.answer(PROMPT, "/exit");
    expect((await second.end()).stdout).toBe("An old question again\n");
    expect(statSync(join(place.home, ".trunkline", "chat-history.jsonl")).mode & 0o777).toBe(0o600);
  });

  it("keeps a limited number of entries", async () => {
    const file = join(place.home, ".trunkline", "chat-history.jsonl");
    await place.run(["chat", ...echo, "x"]);
    writeFileSync(file, Array.from({ length: 2500 }, (_, index) => `"entry ${index}"\n`).join(""));
    const terminal = open(...echo);
    await terminal.answer(PROMPT, "/exit");
    await terminal.end();
    const lines = readFileSync(file, "utf8").trim().split("\n");
    expect(lines).toHaveLength(1001);
    expect(lines.at(-2)).toBe('"entry 2499"');
  });

  it.skipIf(!hasTerminal)(
    `accepts entries of several lines: a backslash, a block, a paste, ${atTerminal}`,
    async () => {
      const terminal = openReal(...echo);
      await terminal.answer(PROMPT, "one \\");
      await terminal.answer(". ", "two");
      await terminal.answer(PROMPT, "```");
      await terminal.answer(". ", "three");
      await terminal.answer(". ", "four");
      await terminal.answer(". ", "```");
      await terminal.sees(PROMPT);
      terminal.press("say \u001b[200~five\r\n\tsix\u001b[20");
      terminal.press(`1~ end${KEY.enter}`);
      await terminal.sees(PROMPT);
      terminal.press(KEY.endOfInput);
      expect((await terminal.end()).stdout).toBe("one \ntwo\nthree\nfour\nsay five\n\tsix end\n");
    },
  );

  it.skipIf(!hasTerminal)(`does not lose text typed ahead ${atTerminal}`, async () => {
    const terminal = openReal(...echo);
    await terminal.sees(PROMPT);
    terminal.press(`first${KEY.enter}second${KEY.enter}/exit${KEY.enter}`);
    expect((await terminal.end()).stdout).toBe("first\nsecond\n");
  });

  it("has commands", async () => {
    const terminal = open(...echo, "--tool", "everything.get-sum", "--tool", "slow.wait");
    await terminal.answer(PROMPT, "/tools");
    await terminal.sees("everything.get-sum");
    await terminal.sees("asks first");
    await terminal.answer(PROMPT, "/servers");
    await terminal.sees("everything  connected");
    await terminal.answer(PROMPT, "/model other");
    await terminal.sees("echo/other");
    await terminal.answer(PROMPT, "/help");
    await terminal.sees("/clear");
    await terminal.answer(PROMPT, "/taols");
    await terminal.sees("Unknown command /taols. Did you mean /tools?");
    await terminal.answer(PROMPT, "/etc/hosts is a path");
    await terminal.sees(PROMPT);
    terminal.press("/ex\t");
    await terminal.sees("/exit");
    terminal.press(KEY.enter);
    expect((await terminal.end()).stdout).toBe("/etc/hosts is a path\n");
  });

  it("forgets the conversation with /clear", async () => {
    await using model = await startFakeModel({ text: "Yes." }, { text: "No." });
    const terminal = open("--endpoint", `${model.url}/v1`, "--model", "m", "My name is Ada.");
    await terminal.answer(PROMPT, "/clear");
    await terminal.sees("Forgotten.");
    await terminal.answer(PROMPT, "Who am I?");
    await terminal.answer(PROMPT, "/exit");
    await terminal.end();
    expect(JSON.stringify(model.requests[1]?.body)).not.toContain("Ada");
  });

  it("shows a tool call on one line", async () => {
    const terminal = play(
      [{ tool: "everything.get-sum", args: { a: 2, b: 3 } }, { text: "It is 5." }],
      ...["--tool", "everything.get-sum", "What is 2 + 3?"],
    );
    await terminal.sees('tool: everything.get-sum {"a":2,"b":3} → The sum of 2 and 3 is 5. (');
    await terminal.answer(PROMPT, "/exit");
    expect((await terminal.end()).stdout).toBe("It is 5.\n");
  });

  it("asks before a tool makes changes: no, yes, and always", async () => {
    const wait = { tool: "slow.wait", args: { ms: 1 } };
    const terminal = play(
      [wait, { text: "Refused." }, wait, { text: "Ran." }, wait, { text: "Ran." }, wait, { text: "Ran." }],
      ...["--tool", "slow.wait", "First."],
    );
    await terminal.sees('slow.wait may change things. It would be called with\r\n  {"ms":1}');
    await terminal.answer("Run it? [y]es, [n]o, [a]lways: ", "n");
    await terminal.sees("The user said no.");
    await terminal.answer(PROMPT, "Second.");
    await terminal.answer("Run it? ", "y");
    await terminal.sees("waited 1 ms");
    await terminal.answer(PROMPT, "Third.");
    await terminal.answer("Run it? ", "a");
    await terminal.sees("waited 1 ms");
    await terminal.answer(PROMPT, "Fourth.");
    await terminal.sees("waited 1 ms");
    await terminal.answer(PROMPT, "/exit");
    const { stdout, screen } = await terminal.end();
    expect(stdout).toBe("Refused.\nRan.\nRan.\nRan.\n");
    expect(screen.match(/Run it\?/g)?.length).toBeGreaterThanOrEqual(3);
  });

  it("shows the operations of a batch before it runs", async () => {
    place.write("note.md", "# Note\n");
    const operations = [
      { op: "add", params: { path: "note.md" } },
      { op: "delete", params: { name: "note.md" } },
    ];
    const terminal = play(
      [{ tool: "execute", args: { operations, atomic: true } }, { text: "Done." }],
      ...["--surface", "composite", "--store", join(place.base, "store"), "Go."],
    );
    await terminal.sees('execute may change things. It would run\r\n  add {"path":"note.md"}\r\n  delete');
    await terminal.sees('with {"atomic":true}');
    await terminal.answer("Run it? ", "n");
    await terminal.answer(PROMPT, "/exit");
    expect((await terminal.end()).stdout).toBe("Done.\n");
  });

  it("lets servers ask the user during a turn, and the model if the user agrees", async () => {
    const terminal = play(
      [
        { tool: "asking.ask_many", args: { count: 1 } },
        { tool: "asking.ask_sampling", args: { prompt: "Say it." } },
        { text: "The model says so." },
        { text: "All asked." },
      ],
      ...["--tool", "asking.*", "Ask."],
    );
    await terminal.answer("Run it? ", "y");
    await terminal.sees('Server "asking", during ask_many, asks you:');
    await terminal.answer("answer: ", "blue");
    await terminal.answer("Send it? ", "a");
    await terminal.answer("Run it? ", "y");
    await terminal.sees('Server "asking", during ask_sampling, wants to use the model (echo):');
    await terminal.answer("Let the model answer? ", "y");
    await terminal.answer(PROMPT, "/exit");
    expect((await terminal.end()).stdout).toBe("All asked.\n");
    expect(readFileSync(chats()[0] ?? "", "utf8")).toContain("The model says so.");
  });

  it("continues after a model failure", async () => {
    const terminal = play([{ error: { message: "out of order", retryable: false } }, { text: "Back." }]);
    await terminal.answer(PROMPT, "First.");
    await terminal.sees("trunkline: out of order");
    await terminal.answer(PROMPT, "Second.");
    await terminal.answer(PROMPT, "/exit");
    expect((await terminal.end()).stdout).toBe("Back.\n");
  });

  describe("Ctrl-C", () => {
    it.skipIf(!hasTerminal)(
      `first cancels the running call, then the turn; the chat goes on, ${atTerminal}`,
      async () => {
        place.write(
          "script.jsonl",
          script(
            { tool: "slow.wait", args: { ms: 60_000 } },
            { text: "Half", delayMs: 60_000 },
            { text: "Still here." },
          ),
        );
        const terminal = openReal(...echo, "--script", "script.jsonl", ...["--tool", "slow.wait", "--yes", "Wait."]);
        await terminal.sees("tool: slow.wait");
        terminal.press(KEY.interrupt);
        await terminal.sees("The call was cancelled. Ctrl-C again stops the turn.");
        await terminal.sees("was cancelled by the user");
        terminal.press(KEY.interrupt);
        await terminal.sees("Stopped.");
        await terminal.answer(PROMPT, "Are you there?");
        await terminal.answer(PROMPT, "/exit");
        expect(await terminal.end()).toMatchObject({ code: 0, stdout: "Still here.\n" });
      },
    );

    it("stops the turn at the question whether a tool may run", async () => {
      const wait = { tool: "slow.wait", args: { ms: 1 } };
      const terminal = play([wait, { text: "Still here." }], "--tool", "slow.wait", "Wait.");
      await terminal.sees("Run it? ");
      terminal.press(KEY.interrupt);
      await terminal.sees("Stopped.");
      await terminal.answer(PROMPT, "Are you there?");
      await terminal.answer(PROMPT, "/exit");
      expect(await terminal.end()).toMatchObject({ code: 0, stdout: "Still here.\n" });
    });

    it.each(["ask", "agent"])("ends %s at the question whether a tool may run", async (command) => {
      place.write("script.jsonl", script({ tool: "slow.wait", args: { ms: 1 } }, { text: "Gone on." }));
      const args = [...echo, "--script", "script.jsonl", "--tool", "slow.wait", "Wait."];
      const terminal = new Terminal(place, [command, ...args]);
      terminals.push(terminal);
      await terminal.sees("Run it? ");
      terminal.press(KEY.interrupt);
      expect(await terminal.end()).toMatchObject({ code: 130, stdout: "" });
    });

    it("clears the line, and exits if pressed twice at an empty prompt", async () => {
      const terminal = open(...echo);
      await terminal.sees(PROMPT);
      terminal.press(`half an entry${KEY.interrupt}`);
      await terminal.sees(PROMPT);
      terminal.press(KEY.interrupt);
      await terminal.sees("Ctrl-C again, or Ctrl-D, ends the chat.");
      await terminal.sees(PROMPT);
      terminal.press(KEY.interrupt);
      expect(await terminal.end()).toMatchObject({ code: 130, stdout: "" });
      expect(chats()).toEqual([]);
    });
  });

  it("does not let an answer move the cursor", async () => {
    // Answers go to stdout, which is a file here, but tool results go to the terminal.
    const terminal = play(
      [{ tool: "everything.echo", args: { message: "\u001b[2Jgone" } }, { text: "ok" }],
      ...["--tool", "everything.echo", "x"],
    );
    await terminal.sees("\\u001b[2Jgone");
    await terminal.answer(PROMPT, "/exit");
    expect((await terminal.end()).screen).not.toContain("\u001b[2Jgone");
  });
});

describe("a chat without a terminal", () => {
  it("treats every line as a turn, even commands", async () => {
    const input = "one\n\ntwo \\\nthree\n/clear\n/exit\nnever\n";
    const { code, stdout, stderr } = await place.run(["chat", ...echo, "zero"], { input });
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "zero\none\ntwo \nthree\n", stderr: "Forgotten.\n" });
  });

  it("answers with one JSON document per turn if JSON is requested", async () => {
    const { stdout } = await place.run(["chat", ...echo, "--format", "json"], { input: "a\nb\n" });
    expect(stdout).toBe('{"echo":"a"}\n{"echo":"b"}\n');
  });

  it("answers each line as it arrives", async () => {
    const child = place.start(["chat", ...echo]);
    const outcome = outcomeOf(child);
    for (const line of ["first", "second"]) {
      child.stdin?.write(`${line}\n`);
      await seen(child.stdout, new RegExp(line));
    }
    child.stdin?.end();
    expect((await outcome).code).toBe(0);
  });

  it("ends with the exit code of a failed turn and keeps the conversation", async () => {
    place.write("script.jsonl", script({ text: "One." }, { error: { message: "broken", code: "AUTH_REQUIRED" } }));
    const { code, stdout, stderr } = await place.run(["chat", ...echo, "--script", "script.jsonl"], {
      input: "a\nb\nc\n",
    });
    expect({ code, stdout }).toEqual({ code: 3, stdout: "One.\n" });
    expect(stderr).toBe("trunkline: broken\n");
    expect(readFileSync(chats()[0] ?? "", "utf8")).toContain('"b"');
  });

  it("replays a recorded chat", async () => {
    place.write(
      "script.jsonl",
      script({ tool: "everything.get-sum", args: { a: 1, b: 2 } }, { text: "3" }, { text: "4" }),
    );
    const args = ["--script", "script.jsonl", "--tool", "everything.get-sum", "--record", "run.jsonl"];
    const input = "one and two\nand one more\n";
    const first = await place.run(["chat", ...echo, ...args], { input });
    expect(first.stdout).toBe("3\n4\n");
    expect(await place.run(["chat", "--replay", "run.jsonl"], { input })).toEqual(first);
  });

  it("stores no API key in the conversation or in a recorded run", async () => {
    const KEY_TEXT = "sk-do-not-keep-me-1234";
    await using model = await startFakeModel({ text: `I saw ${KEY_TEXT}.` });
    const args = ["chat", "--endpoint", `${model.url}/v1`, "--model", "m", "--record", "run.jsonl"];
    const { stdout, stderr } = await place.run([...args, `Is ${KEY_TEXT} a key?`], {
      env: { TRUNKLINE_API_KEY: KEY_TEXT },
    });
    const kept = readFileSync(chats()[0] ?? "", "utf8") + readFileSync(join(place.cwd, "run.jsonl"), "utf8");
    expect(kept + stdout + stderr).not.toContain(KEY_TEXT);
    expect(kept).toContain("<redacted>");
  });
});
