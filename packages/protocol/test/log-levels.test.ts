import { expect, it } from "vitest";
import { isLogged, isLogLevel } from "../src/log-levels.js";

it("passes messages at or above the threshold and all unknown levels", () => {
  expect(["debug", "warning", "emergency", "made-up"].map((level) => isLogged(level, "warning"))).toEqual([
    false,
    true,
    true,
    true,
  ]);
});

it("defines the eight syslog levels", () => {
  expect(["debug", "emergency"].every(isLogLevel)).toBe(true);
  expect(["warn", "", undefined, 3].some(isLogLevel)).toBe(false);
});
