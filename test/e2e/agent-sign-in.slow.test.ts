// A server that needs a sign-in, as the model of `ask`, `chat` and `agent` sees it.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startFakeModel } from "../models/fake-model.js";
import { browse } from "../servers/browser.js";
import { startServer } from "../servers/start.js";
import { placeWithServers, script } from "./agent-support.js";
import type { Place } from "./command.js";
import { KEY, Terminal } from "./terminal.js";

let server: Awaited<ReturnType<typeof startServer>>;
let place: Place;
const terminals: Terminal[] = [];

beforeAll(async () => {
  server = await startServer("oauth");
});

afterAll(async () => await server[Symbol.asyncDispose]());

beforeEach(() => {
  place = placeWithServers({ sec: { type: "http", url: server.url } });
});

afterEach(async () => {
  await Promise.all(terminals.splice(0).map((terminal) => terminal.close()));
  place[Symbol.dispose]();
});

const echo = ["--provider", "echo", "--script", "script.jsonl"];
const LOGIN = "trunkline auth login sec";

function open(turns: readonly object[], ...args: string[]): Terminal {
  place.write("script.jsonl", script(...turns));
  const terminal = new Terminal(place, args);
  terminals.push(terminal);
  return terminal;
}

/** Opens the page that the terminal shows, as a person does. */
async function openPage(terminal: Terminal): Promise<void> {
  await terminal.sees('To sign in to "sec", open this URL');
  await terminal.sees("Waiting for the browser");
  const url = /^ {2}(http\S+)\r?$/m.exec(terminal.screen)?.[1] ?? "";
  await browse(url);
}

describe("without a terminal", () => {
  it.each([
    ["ask", "--tool", "*"],
    ["ask", "--tool", "sec.*"],
    ["ask", "--tool", "mcp__sec__*"],
    ["ask", "--tool", "sec.authenticate"],
    ["ask", "--surface", "direct"],
    ["agent", "--tool", "sec.*"],
    ["chat", "--tool", "sec.*"],
  ])("%s %s %s offers authenticate, which says where to sign in", async (...args) => {
    const call = { name: "sec_authenticate", args: {} };
    await using model = await startFakeModel({ calls: [call] }, { text: "Please sign in." });
    const { stdout } = await place.run([...args, "--endpoint", `${model.url}/v1`, "--model", "m", "Look."]);
    expect(stdout).toBe("Please sign in.\n");
    const offered = model.requests[0]?.body.tools as { function: { name: string } }[];
    expect(offered.map((tool) => tool.function.name)).toContain("sec_authenticate");
    expect(JSON.stringify(model.requests[1]?.body.messages)).toContain(`where Trunkline runs: ${LOGIN}.`);
  });

  it("the agent `react` offers it too, under any of its names", async () => {
    const action = { thought: "", action: { tool: "mcp__sec__authenticate", args: {} } };
    const answer = { thought: "", answer: "Please sign in." };
    place.write("script.jsonl", script({ text: JSON.stringify(action) }, { text: JSON.stringify(answer) }));
    const { stdout, stderr } = await place.run(["agent", "--name", "react", ...echo, "--tool", "sec.*", "Look."]);
    expect(stdout).toBe("Please sign in.\n");
    expect(stderr).toContain(`where Trunkline runs: ${LOGIN}.`);
  });

  it("the composite surface says where to sign in", async () => {
    const call = { tool: "execute", args: { operations: [{ op: "sec.authenticate", params: {} }] } };
    place.write("script.jsonl", script(call, { text: "Please sign in." }));
    const { stdout, stderr } = await place.run(["ask", ...echo, "--surface", "composite", "Look."]);
    expect(stdout).toBe("Please sign in.\n");
    expect(stderr).toContain(`where Trunkline runs: ${LOGIN}.`);
  });

  it("a run that never got the tools it was started for ends with 3; one with other tools, with a note", async () => {
    place.write("script.jsonl", script({ text: "No." }));
    expect(await place.run(["ask", ...echo, "--tool", "sec.*", "Look."])).toEqual({
      code: 3,
      stdout: "No.\n",
      stderr: `trunkline: Server "sec" needs you to sign in.\n  Sign in: ${LOGIN}\n`,
    });
    expect(await place.run(["ask", ...echo, "--tool", "*", "Look."])).toEqual({
      code: 0,
      stdout: "No.\n",
      stderr: `note: the tools of sec are missing: Server "sec" needs you to sign in. Sign in: ${LOGIN}\n`,
    });
  });

  it("a policy that denies the server's tools denies its sign-in", async () => {
    place.write("own/settings.json", { policy: { "sec.*": "deny" } });
    place.write("script.jsonl", script({ tool: "sec.authenticate", args: {} }, { text: "No." }));
    const env = { TRUNKLINE_HOME: join(place.cwd, "own") };
    const { stderr } = await place.run(["ask", ...echo, "--tool", "*", "Look."], { env });
    expect(stderr).toContain('There is no tool "sec.authenticate".');
  });
});

describe("at a terminal", () => {
  const turns = [{ tool: "sec.authenticate" }, { tool: "sec.hello", args: { name: "Ada" } }, { text: "Done." }];

  it.each([
    ["ask", "--tool", "sec.*"],
    ["ask", "--surface", "direct"],
    ["agent", "--tool", "*"],
  ])("%s %s %s signs in after a yes, and the model can use the tools at once", async (command, ...args) => {
    const terminal = open(turns, command, ...echo, ...args, "--record", "run.jsonl", "--allow", "sec.hello", "Greet.");
    await terminal.sees('The model wants to use "sec", which needs you to sign in.');
    await terminal.answer("Open the sign-in page?", "yes");
    await openPage(terminal);
    const { code, stdout, screen } = await terminal.end();
    expect({ code, stdout }).toEqual({ code: 0, stdout: "Done.\n" });
    expect(screen).toContain('Signed in to "sec". Its tools: sec_hello, sec_repeat.');
    expect(screen).toContain("Hello, Ada!");
    const replayed = await place.run([command, "--replay", "run.jsonl"]);
    expect(replayed).toMatchObject({ code: 0, stdout: "Done.\n" });
    const recorded = readFileSync(join(place.cwd, "run.jsonl"), "utf8").trim().split("\n");
    const tools = recorded.map((line) => JSON.parse(line)).filter(({ type }) => type === "tool");
    expect(tools.filter(({ tool }) => tool.name === "sec_authenticate")).toHaveLength(1);
  });

  it("chat signs in, and lists the tools afterwards", async () => {
    const terminal = open(turns, "chat", ...echo, "--tool", "sec.*", "--allow", "sec.hello");
    await terminal.answer("> ", "/tools");
    await terminal.sees("sec.authenticate");
    await terminal.answer("> ", "Greet.");
    await terminal.answer("Open the sign-in page?", "yes");
    await openPage(terminal);
    await terminal.answer("> ", "/tools");
    await terminal.sees("sec.hello");
    await terminal.sees("sec.repeat");
    await terminal.sees("> ");
    terminal.press(KEY.endOfInput);
    expect(await terminal.end()).toMatchObject({ code: 0, stdout: "Done.\n" });
  });

  it("the composite surface signs in after a yes", async () => {
    const execute = (op: string, params: object) => ({ tool: "execute", args: { operations: [{ op, params }] } });
    const steps = [execute("sec.authenticate", {}), execute("sec.hello", { name: "Ada" }), { text: "Done." }];
    const terminal = open(steps, "ask", ...echo, "--surface", "composite", "--allow", "sec.hello", "Greet.");
    await terminal.answer("Open the sign-in page?", "yes");
    await openPage(terminal);
    const { code, stdout, screen } = await terminal.end();
    expect({ code, stdout }).toEqual({ code: 0, stdout: "Done.\n" });
    expect(screen).toContain("Hello, Ada!");
  });

  it("the model learns that the user does not want to sign in", async () => {
    const terminal = open([turns[0] ?? {}, { text: "Then not." }], "ask", ...echo, "--tool", "*", "Greet.");
    await terminal.answer("Open the sign-in page?", "no");
    const { code, stdout, screen } = await terminal.end();
    expect({ code, stdout }).toEqual({ code: 0, stdout: "Then not.\n" });
    expect(screen).toContain("The user does not want to sign in.");
  });

  it("ends with Ctrl-C at the question", async () => {
    const terminal = open(turns, "ask", ...echo, "--tool", "sec.*", "Greet.");
    await terminal.sees("Open the sign-in page?");
    terminal.press(KEY.interrupt);
    expect(await terminal.end()).toMatchObject({ code: 130, stdout: "" });
  });

  it("Ctrl-C while the page is open cancels the call, and the run goes on", async () => {
    const terminal = open([turns[0] ?? {}, { text: "Then not." }], "ask", ...echo, "--tool", "*", "Greet.");
    await terminal.answer("Open the sign-in page?", "yes");
    await terminal.sees("Waiting for the browser");
    terminal.press(KEY.interrupt);
    await terminal.sees("The call was cancelled.");
    expect(await terminal.end()).toMatchObject({ code: 0, stdout: "Then not.\n" });
  });

  it.each([
    ["call", "sec.authenticate"],
    ["execute", "sec.authenticate"],
  ])("%s %s signs in", async (...args) => {
    const terminal = open([], ...args);
    await openPage(terminal);
    const { code, stdout } = await terminal.end();
    expect(code).toBe(0);
    expect(stdout).toContain("It now has 2 tools.");
  });
});
