import { expect, it } from "vitest";
import { isLogged, isLogLevel } from "../src/log-levels.js";

it("passes messages from the threshold on, and unknown levels always", () => {
  expect(["debug", "warning", "emergency", "made-up"].map((level) => isLogged(level, "warning"))).toEqual([
    false,
    true,
    true,
    true,
  ]);
});

it("knows the eight levels of syslog", () => {
  expect(["debug", "emergency"].every(isLogLevel)).toBe(true);
  expect(["warn", "", undefined, 3].some(isLogLevel)).toBe(false);
});
