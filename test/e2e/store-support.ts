// Helpers for the tests of `trunkline store …`.
import { expect } from "vitest";
import type { Outcome, Place, RunOptions } from "./command.js";

export function store(
  place: Place,
  args: readonly string[],
  options: RunOptions & { input?: string } = {},
): Promise<Outcome> {
  return place.run(["store", ...args], options);
}

/** Runs a command that must succeed, and returns its JSON output. */
export async function json(place: Place, args: readonly string[], options: RunOptions & { input?: string } = {}) {
  const { code, stdout, stderr } = await store(place, [...args, "--json"], options);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout);
}
