import { storeOperations } from "@trunkline/store";
import { expect, it } from "vitest";
import { QUESTIONS } from "./support/same-questions.js";

/** Parameters with another answer from each engine, and the test of PostgreSQL's. */
const ELSEWHERE: Readonly<Record<string, string>> = { "status.detailed": "background-work.slow.test.ts" };

it.each(storeOperations.filter(({ kind }) => kind === "read"))(
  "both engines are asked with every parameter of $name",
  ({ name, params }) => {
    const asked = new Set(QUESTIONS.flatMap(([operation, given]) => (operation === name ? Object.keys(given) : [])));
    const missing = Object.keys(params).filter((param) => !asked.has(param) && !(`${name}.${param}` in ELSEWHERE));
    expect(missing, "add a question with it to packages/store-postgres/test/support/same-questions.ts").toEqual([]);
  },
);
