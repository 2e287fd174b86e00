// The same as typed-ahead.test.ts with a real terminal: the kernel keeps the lines that nothing has read yet.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Place } from "../e2e/command.js";
import { atTerminal, hasTerminal, KEY, RealTerminal } from "../e2e/terminal.js";

let place: Place;
let terminal: RealTerminal;

beforeEach(() => {
  place = new Place();
  terminal = new RealTerminal(place, ["install", "cursor"]);
});

afterEach(async () => {
  await terminal.close();
  place[Symbol.dispose]();
});

it.skipIf(!hasTerminal).each([
  ["a line", `y${KEY.enter}`],
  ["half a line", "y"],
  ["a line and half a line", `y${KEY.enter}y`],
])(`does not take %s from before the question as its answer, ${atTerminal}`, async (_, keys) => {
  terminal.press(keys);
  await terminal.answer("Write it? [y/N]", "");
  expect((await terminal.end()).code).toBe(0);
  expect(existsSync(join(place.home, ".cursor", "mcp.json"))).toBe(false);
});

it.skipIf(!hasTerminal)(`takes what is typed after the question, ${atTerminal}`, async () => {
  terminal.press(`n${KEY.enter}`);
  await terminal.answer("Write it? [y/N]", "y");
  await terminal.answer("[y/N]", "n");
  expect((await terminal.end()).code).toBe(0);
  expect(existsSync(join(place.home, ".cursor", "mcp.json"))).toBe(true);
});
