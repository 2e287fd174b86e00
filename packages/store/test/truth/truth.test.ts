import { describe, it } from "vitest";
import { runSteps } from "./truth-run.js";

describe("two processes that change a store at random", () => {
  it("show every acknowledged change in every reader, and nothing that was removed", async () => {
    await runSteps(25);
  });
});
