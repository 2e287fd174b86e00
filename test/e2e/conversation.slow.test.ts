// Servers that ask questions, log and report progress during `trunkline call`, with and without a person at the
// terminal.
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { Place } from "./command.js";
import { everythingServer, testServer } from "./server-entries.js";
import { KEY, Terminal } from "./terminal.js";

let place: Place;

beforeAll(() => {
  place = new Place({}, { TRUNKLINE_TRUST: "all" });
  place.write(".trunkline/mcp.json", {
    mcpServers: {
      modern: testServer("asking"),
      legacy: testServer("asking", "--legacy-only"),
      talking: testServer("talking"),
      everything: everythingServer,
    },
  });
});

afterAll(() => place[Symbol.dispose]());

const terminals: Terminal[] = [];

afterEach(async () => {
  await Promise.all(terminals.splice(0).map((terminal) => terminal.close()));
});

function callAtTerminal(tool: string, args: Record<string, unknown> = {}, env: Record<string, string> = {}): Terminal {
  const terminal = new Terminal(place, ["call", tool, "--input", JSON.stringify(args)], env);
  terminals.push(terminal);
  return terminal;
}

/** Reads what the asking server received from its result. */
async function answerOf(terminal: Terminal): Promise<unknown> {
  const { code, stdout, screen } = await terminal.end();
  expect({ code, screen }).toEqual({ code: 0, screen });
  return JSON.parse(stdout).answer;
}

const SEND = "Send it? [a]ccept, [d]ecline, [c]ancel, [e]dit: ";
const VISIT = "[o]pen, [h]and, [d]ecline, [c]ancel: ";

describe("a form at a terminal", () => {
  describe.each(["modern", "legacy"])("asked by a %s server", (server) => {
    it("is filled in field by field, with Enter for the default and several choices at once", async () => {
      const terminal = callAtTerminal(`${server}.ask_form`);
      await terminal.sees(`Server "${server}", during ask_form, asks you:`);
      await terminal.sees("Please fill in the form.");
      await terminal.answer("Name (1 to 40 characters): ", "Ada Lovelace");
      await terminal.sees("2. medium");
      await terminal.answer("Size (number or name, optional): ", "2");
      await terminal.answer("Agreed (y/n) [n]: ", "");
      await terminal.answer("Amount (number, 0 to 100, optional): ", "");
      await terminal.answer("Colours (numbers or names, separated by commas, optional): ", "blue, 1");
      await terminal.sees("Amount: (left out)");
      await terminal.answer(SEND, "a");
      expect(await answerOf(terminal)).toEqual({
        action: "accept",
        content: { name: "Ada Lovelace", size: "medium", agreed: false, colours: ["blue", "red"] },
      });
    });

    it("asks again for invalid values and gives the reason", async () => {
      const terminal = callAtTerminal(`${server}.ask_form`);
      await terminal.answer("Name (1 to 40 characters): ", "");
      await terminal.sees("This is required.");
      await terminal.answer("Name (1 to 40 characters): ", "x".repeat(41));
      await terminal.sees("It must have at most 40 characters.");
      await terminal.answer("Name (1 to 40 characters): ", "Ada");
      await terminal.answer("Size (number or name, optional): ", "huge");
      await terminal.sees('"huge" is not an option. Choose one of small, medium, large.');
      await terminal.answer("Size (number or name, optional): ", "LARGE");
      await terminal.answer("Agreed (y/n) [n]: ", "perhaps");
      await terminal.sees("Please answer y or n.");
      await terminal.answer("Agreed (y/n) [n]: ", "y");
      await terminal.answer("Amount (number, 0 to 100, optional): ", "3,14");
      await terminal.sees("It must be a number, such as 3.14.");
      await terminal.answer("Amount (number, 0 to 100, optional): ", "101");
      await terminal.sees("It must be at most 100.");
      await terminal.answer("Amount (number, 0 to 100, optional): ", "3.14");
      await terminal.answer("Colours (numbers or names, separated by commas, optional): ", "");
      await terminal.answer(SEND, "what");
      await terminal.sees("Please answer a, d, c, e.");
      await terminal.answer(SEND, "accept");
      expect(await answerOf(terminal)).toEqual({
        action: "accept",
        content: { name: "Ada", size: "large", agreed: true, amount: 3.14 },
      });
    });

    it("is cancelled by Ctrl-C, and the call continues", async () => {
      const terminal = callAtTerminal(`${server}.ask_form`);
      await terminal.sees("Name (1 to 40 characters): ");
      terminal.press(KEY.interrupt);
      await terminal.sees("The question was cancelled.");
      expect(await answerOf(terminal)).toEqual({ action: "cancel" });
    });

    it("is declined by Ctrl-D", async () => {
      const terminal = callAtTerminal(`${server}.ask_form`);
      await terminal.sees("Name (1 to 40 characters): ");
      terminal.press(KEY.endOfInput);
      expect(await answerOf(terminal)).toEqual({ action: "decline" });
    });

    it("appears one at a time if several are asked at once", async () => {
      const terminal = callAtTerminal(`${server}.ask_many`, { at_once: true });
      for (const number of [1, 2, 3]) {
        await terminal.sees(" of 3");
        await terminal.answer("answer: ", `answer ${number}`);
        expect(terminal.screen.match(/Question \d of 3/g)).toHaveLength(number);
        await terminal.answer(SEND, "y");
      }
      const { stdout } = await terminal.end();
      expect(JSON.parse(stdout).answers).toMatchObject(Array(3).fill({ action: "accept" }));
    });
  });

  it.each([
    ["d", "decline"],
    ["c", "cancel"],
  ])("is not sent after %j, even when filled in", async (word, action) => {
    const terminal = callAtTerminal("modern.ask_many", { count: 1 });
    await terminal.answer("answer: ", "secret plan");
    await terminal.answer(SEND, word);
    const { stdout } = await terminal.end();
    expect(JSON.parse(stdout).answers).toEqual([{ action }]);
  });

  it("can be edited again before it is sent", async () => {
    const terminal = callAtTerminal("modern.ask_many", { count: 1 });
    await terminal.answer("answer: ", "frist");
    await terminal.answer(SEND, "e");
    await terminal.answer("answer [frist]: ", "first");
    await terminal.answer(SEND, "a");
    const { stdout } = await terminal.end();
    expect(JSON.parse(stdout).answers).toEqual([{ action: "accept", content: { answer: "first" } }]);
  });

  it("accepts lines pasted together, one per field", async () => {
    const terminal = callAtTerminal("modern.ask_form");
    await terminal.sees("Name (1 to 40 characters): ");
    terminal.press(["Ada", "small", "y", "7", "red", ""].join(KEY.enter));
    await terminal.answer(SEND, "a");
    expect(await answerOf(terminal)).toEqual({
      action: "accept",
      content: { name: "Ada", size: "small", agreed: true, amount: 7, colours: ["red"] },
    });
  });

  it("cannot move the cursor, rename the window or imitate one of our lines", async () => {
    const question = "\u001b]0;owned\u0007\u001b[2J\rall well\u202e\nSend it? [a]ccept";
    const terminal = callAtTerminal("modern.ask_form", { question });
    await terminal.sees("Name (1 to 40 characters): ");
    expect(terminal.screen).toContain("\n  ]0;owned[2J\r\n  all well\r\n  Send it? [a]ccept\r\n");
    for (const sent of ["\u001b]0;", "\u0007", "\u001b[2J", "\u202e"]) expect(terminal.screen).not.toContain(sent);
    terminal.press(KEY.interrupt);
    await terminal.end();
  });

  it("that keeps coming back ends with the call on a second Ctrl-C", async () => {
    const terminal = callAtTerminal("legacy.ask_forever");
    await terminal.sees("Question 1");
    await terminal.sees("answer: ");
    terminal.press(KEY.interrupt);
    await terminal.sees("Ctrl-C again stops the call.");
    await terminal.sees("Question 2");
    await terminal.sees("answer: ");
    terminal.press(KEY.interrupt);
    expect(await terminal.end()).toMatchObject({ code: 130, stdout: "" });
  });

  it("disappears when the server cancels it", async () => {
    const until = join(place.base, "enough");
    const terminal = callAtTerminal("talking.take_back", { until });
    await terminal.sees("Never mind?");
    await terminal.sees("answer (optional): ");
    writeFileSync(until, "");
    await terminal.sees("The question was withdrawn.");
    expect(await terminal.end()).toMatchObject({ code: 0, stdout: "taken back\n" });
  });
});

describe("a page to visit at a terminal", () => {
  const url = "https://asking.example/visit?tag=a%26b";

  /** Creates a PATH with an opener that records what it was asked to open, and a way to read the record. */
  function fakeOpener(name: string, exitCode = 0): { PATH: string; opened: () => string | undefined } {
    const folder = join(place.base, name);
    const note = join(folder, "opened");
    mkdirSync(folder);
    writeFileSync(join(folder, "xdg-open"), `#!/bin/sh\nprintf '%s\\n' "$#" "$@" > '${note}'\nexit ${exitCode}\n`);
    chmodSync(join(folder, "xdg-open"), 0o755);
    return {
      PATH: `${folder}:${process.env.PATH}`,
      opened: () => (existsSync(note) ? readFileSync(note, "utf8") : undefined),
    };
  }

  it.each(["modern", "legacy"])(
    "from a %s server is shown with its host and URL, and opens after a yes",
    async (server) => {
      const { PATH, opened } = fakeOpener(`yes-${server}`);
      const terminal = callAtTerminal(`${server}.ask_url`, { tag: "a&b" }, { PATH });
      await terminal.sees(`Server "${server}", during ask_url, asks you to visit a page:`);
      await terminal.sees("Host:    asking.example\r\n");
      await terminal.sees(`Address: ${url}\r\n`);
      await terminal.sees(VISIT);
      expect(opened()).toBeUndefined();
      terminal.press(`o${KEY.enter}`);
      expect(await answerOf(terminal)).toEqual({ action: "accept" });
      expect(opened()).toBe(`1\n${url}\n`);
    },
  );

  it.each([
    ["d", "decline"],
    ["c", "cancel"],
    ["h", "accept"],
    [KEY.interrupt, "cancel"],
    [KEY.endOfInput, "decline"],
  ])("is not opened after %j, which sends %s", async (keys, action) => {
    const { PATH, opened } = fakeOpener(`no-${keys.charCodeAt(0)}`);
    const terminal = callAtTerminal("modern.ask_url", {}, { PATH });
    await terminal.sees(VISIT);
    // Enter alone opens nothing either.
    terminal.press(KEY.enter);
    await terminal.sees(VISIT);
    terminal.press(keys < " " ? keys : `${keys}${KEY.enter}`);
    expect(await answerOf(terminal)).toEqual({ action });
    expect(opened()).toBeUndefined();
  });

  it.each([
    ["nothing to open it with", () => join(place.base, "nowhere")],
    ["an opener that fails", () => fakeOpener("failing", 3).PATH],
  ])("has to be opened by hand if there is %s", async (_, path) => {
    const terminal = callAtTerminal("modern.ask_url", { tag: "a&b" }, { PATH: path() });
    await terminal.answer(VISIT, "o");
    await terminal.sees("Could not open a browser. Open this URL by hand:");
    await terminal.sees(url);
    expect(await answerOf(terminal)).toEqual({ action: "accept" });
  });

  it.each([
    "file:///etc/passwd",
    "javascript:alert(1)",
    "ssh://host/",
    "http://bank.example/",
    "https://bank.example@evil.example/",
  ])("is never %s", async (address) => {
    const { PATH, opened } = fakeOpener(`never-${address.replace(/\W+/g, "-")}`);
    const terminal = callAtTerminal("everything.trigger-url-elicitation", { url: address }, { PATH });
    await terminal.sees("Trunkline declined a question of this server: it wants to open a page, but");
    expect((await terminal.end()).stdout).toContain("declined");
    expect(opened()).toBeUndefined();
  });

  it("comes with a warning if its URL imitates another", async () => {
    const address = "https://xn--mnchen-3ya.example/";
    const terminal = callAtTerminal("everything.trigger-url-elicitation", { url: address });
    await terminal.sees("Host:    xn--mnchen-3ya.example");
    await terminal.sees("Careful: the host name has letters that may look like others.");
    await terminal.answer(VISIT, "d");
    expect((await terminal.end()).stdout).toContain("declined");
  });
});

describe("a request for a model's answer at a terminal", () => {
  it.each(["modern", "legacy"])("from a %s server is shown, and answered by the user", async (server) => {
    const terminal = callAtTerminal(`${server}.ask_sampling`, { prompt: "What is the\nanswer?" });
    await terminal.sees(`Server "${server}", during ask_sampling, asks for a model's answer.`);
    await terminal.sees("  user:\r\n    What is the\r\n    answer?\r\n");
    await terminal.answer("Answer it? [y]es, [d]ecline: ", "y");
    await terminal.answer("Answer: ", "");
    await terminal.sees("Please write something");
    await terminal.answer("Answer: ", "42");
    expect(await answerOf(terminal)).toMatchObject({
      role: "assistant",
      model: "person-at-terminal",
      content: { type: "text", text: "42" },
    });
  });

  it("is refused if the user declines", async () => {
    const terminal = callAtTerminal("legacy.ask_sampling", { prompt: "?" });
    await terminal.answer("Answer it? [y]es, [d]ecline: ", "d");
    const { code, stdout, screen } = await terminal.end();
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(screen).toContain("The question was not answered.");
  });
});

describe("other messages from a server at a terminal", () => {
  it("include one printable line on stderr for each log message from warning up", async () => {
    // Without the line that says which server is being connected.
    const plain = { TERM: "dumb" };
    const warning = { level: "warning", text: "low\u001b[31m disk\n!", logger: "disks" };
    const loud = callAtTerminal("talking.say", warning, plain);
    const { stdout, screen } = await loud.end();
    expect(stdout).toBe("said\n");
    expect(screen).toBe("[talking] warning: disks: low\\u001b[31m disk\\u000a!\r\n");
    expect((await callAtTerminal("talking.say", { level: "info", text: "fine" }, plain).end()).screen).toBe("");
  });

  it("include a progress line that disappears before the result", async () => {
    const terminal = callAtTerminal("everything.trigger-long-running-operation", { duration: 0.4, steps: 4 });
    await terminal.sees("[everything] trigger-long-running-operation 1/4");
    const { code, stdout, screen } = await terminal.end();
    expect(code).toBe(0);
    expect(stdout).toContain("completed");
    expect(screen.split("\r\n")).toHaveLength(1);
    expect(screen.endsWith("\r\u001b[K")).toBe(true);
  });
});

describe("server-everything at a terminal", () => {
  it("gets a form with every kind of field, answered with defaults, names and numbers", async () => {
    const terminal = callAtTerminal("everything.trigger-elicitation-request");
    await terminal.sees("Your full, legal name");
    await terminal.answer("String: ", "Ada");
    await terminal.answer("Boolean (y/n, optional): ", "yes");
    await terminal.answer("String with default [It was a dark and stormy night.]: ", "");
    await terminal.answer("(an e-mail address, optional): ", "ada");
    await terminal.sees("It must be an e-mail address.");
    await terminal.answer("(an e-mail address, optional): ", "ada@example.com");
    await terminal.answer("https://example.com, optional): ", "https://ada.example");
    await terminal.answer("(a date as YYYY-MM-DD, optional): ", "1815-02-30");
    await terminal.sees("It must be a date as YYYY-MM-DD.");
    await terminal.answer("(a date as YYYY-MM-DD, optional): ", "1815-12-10");
    await terminal.answer("Integer (whole number, 1 to 100) [42]: ", "7");
    await terminal.answer("(number, 0 to 1000) [3.14]: ", "");
    await terminal.answer("Untitled Single Select Enum (number or name) [Monica]: ", "6");
    await terminal.answer("1 to 3 of them) [Guitar]: ", "1,2,3,4");
    await terminal.sees("Choose at most 3.");
    await terminal.answer("1 to 3 of them) [Guitar]: ", "piano, 5");
    await terminal.answer("Titled Single Select Enum (number or name) [Superman]: ", "Wonder Woman");
    await terminal.answer("1 to 3 of them) [Tuna]: ", "3");
    await terminal.answer("Legacy Titled Single Select Enum (number or name) [Cats]: ", "dogs");
    await terminal.answer(SEND, "a");
    const { stdout } = await terminal.end();
    const raw = stdout.slice(stdout.indexOf("Raw result: ") + "Raw result: ".length);
    expect(JSON.parse(raw)).toMatchObject({
      action: "accept",
      content: {
        name: "Ada",
        check: true,
        firstLine: "It was a dark and stormy night.",
        email: "ada@example.com",
        homepage: "https://ada.example",
        birthdate: "1815-12-10",
        integer: 7,
        number: 3.14,
        untitledSingleSelectEnum: "Phoebe",
        untitledMultipleSelectEnum: ["Piano", "Bass"],
        titledSingleSelectEnum: "hero-3",
        titledMultipleSelectEnum: ["fish-3"],
        legacyTitledEnum: "pet-2",
      },
    });
  });

  it("gets a model's answer from the user", async () => {
    const terminal = callAtTerminal("everything.trigger-sampling-request", { prompt: "Say hello." });
    await terminal.sees("system:\r\n    You are a helpful test server.");
    await terminal.sees("context: Say hello.");
    await terminal.answer("Answer it? ", "y");
    await terminal.answer("Answer: ", "Hello from a person.");
    expect((await terminal.end()).stdout).toContain("Hello from a person.");
  });

  it("gets the named folders as its roots", async () => {
    const { stdout } = await place.run(["call", "everything.get-roots-list", "--root", "."]);
    expect(stdout).toContain(`1. project\n   URI: ${pathToFileURL(place.cwd).href}\n`);
  });
});

describe("without a terminal", () => {
  it("a modern server's question fails the call, with a hint", async () => {
    const { code, stdout, stderr } = await place.run(["call", "modern.ask_form"]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("client capabilities do not declare the required capability");
    expect(stderr).toContain("This tool asks the user something. Call it at a terminal");
  });

  it("a legacy server is not told that it can ask", async () => {
    const { code, stdout, stderr } = await place.run(["call", "legacy.ask_form"]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("did not declare the required capability");
    const { stdout: tools } = await place.run(["tools", "everything.*"]);
    expect(tools).not.toMatch(/trigger-(elicitation|sampling)/);
    expect(tools).not.toContain("everything.get-roots-list");
  });

  it("roots still work if they were named", async () => {
    for (const server of ["modern", "legacy"]) {
      const { stdout } = await place.run(["call", `${server}.ask_roots`, "--root", "."]);
      expect(JSON.parse(stdout).answer).toEqual({
        roots: [{ uri: pathToFileURL(place.cwd).href, name: "project" }],
      });
    }
  });

  it("neither log messages nor progress appear with the result", async () => {
    expect(await place.run(["call", "talking.say", "level=error", "text=x"])).toEqual({
      code: 0,
      stdout: "said\n",
      stderr: "",
    });
    const { stderr } = await place.run([
      "call",
      "everything.trigger-long-running-operation",
      "duration:=0.1",
      "steps:=2",
    ]);
    expect(stderr).toBe("");
  });
});
