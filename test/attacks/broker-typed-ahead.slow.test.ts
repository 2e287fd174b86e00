// A question of a command that runs in the broker takes only what is typed after it is shown, at a real terminal of the
// relaying process: neither what waits in the kernel, nor what is on its way to the broker.
import { afterEach, beforeEach, expect, it } from "vitest";
import { Place } from "../e2e/command.js";
import { testServer } from "../e2e/server-entries.js";
import { atTerminal, hasTerminal, KEY, RealTerminal } from "../e2e/terminal.js";

const QUESTION = "[y/N]";

let place: Place;
let terminal: RealTerminal | undefined;

beforeEach(() => {
  place = new Place(
    { ".git/HEAD": "", ".trunkline/mcp.json": { mcpServers: { hello: testServer("hello") } } },
    { TRUNKLINE_BROKER: "on" },
  );
});

afterEach(async () => {
  await terminal?.close();
  terminal = undefined;
  place[Symbol.dispose]();
});

const start = () => {
  terminal = new RealTerminal(place, ["call", "hello.hello", "name=Ada"], { TRUNKLINE_BROKER: "on" });
  return terminal;
};

async function isTrusted(): Promise<boolean> {
  const { stdout } = await place.runProcess(["trust", "--list"]);
  return stdout.includes(place.cwd);
}

/** Whether the commands ran in the broker. */
async function expectBroker(): Promise<void> {
  const { stdout } = await place.runProcess(["broker", "--json"]);
  expect(JSON.parse(stdout)).toMatchObject({ pid: expect.any(Number) });
}

it.skipIf(!hasTerminal).each([
  ["a line", `y${KEY.enter}`],
  ["half a line", "y"],
  ["a line and half a line", `y${KEY.enter}y`],
  ["many lines", `y${KEY.enter}`.repeat(1000)],
])(`does not take %s from before the question as its answer, ${atTerminal}`, async (_, keys) => {
  const typing = start();
  typing.press(keys);
  await typing.answer(QUESTION, "");
  const { code, stdout } = await typing.end();
  expect(code).not.toBe(0);
  expect(stdout).not.toContain("Hello");
  expect(await isTrusted()).toBe(false);
  await expectBroker();
});

it.skipIf(!hasTerminal)(`takes what is typed after the question, ${atTerminal}`, async () => {
  const typing = start();
  typing.press(`n${KEY.enter}`);
  await typing.answer(QUESTION, "y");
  const { code, stdout } = await typing.end();
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining("Hello, Ada!") });
  expect(await isTrusted()).toBe(true);
  await expectBroker();
});

it.skipIf(!hasTerminal)(`approves nothing if the broker is killed during the question, ${atTerminal}`, async () => {
  const typing = start();
  await typing.sees(QUESTION);
  const { stdout } = await place.runProcess(["broker", "--json"]);
  process.kill(JSON.parse(stdout).pid, "SIGKILL");
  expect((await typing.end()).code).toBe(1);
  expect(await isTrusted()).toBe(false);
});
