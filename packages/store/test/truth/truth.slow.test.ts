import { describe, it } from "vitest";
import { runSteps } from "./truth-run.js";

describe("two processes that change a store at random", () => {
  it.for([1, 2, 3])("show every acknowledged change in every reader, run %i", async () => {
    await runSteps(200);
  });
});
