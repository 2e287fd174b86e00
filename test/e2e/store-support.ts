// What the tests of `trunkline store …` share.
import { expect } from "vitest";
import type { Outcome, Place, RunOptions } from "./command.js";

/** Runs `trunkline store …`. */
export function store(
  place: Place,
  args: readonly string[],
  options: RunOptions & { input?: string } = {},
): Promise<Outcome> {
  return place.run(["store", ...args], options);
}

/** Runs a command that has to succeed and answers what it printed as JSON. */
export async function json(place: Place, args: readonly string[], options: RunOptions & { input?: string } = {}) {
  const { code, stdout, stderr } = await store(place, [...args, "--json"], options);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout);
}
