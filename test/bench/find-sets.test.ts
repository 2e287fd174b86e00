import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

interface Question {
  readonly question: string;
  readonly needs?: readonly (readonly string[])[];
  readonly relevance?: Readonly<Record<string, number>>;
}

interface QuestionSet {
  readonly tools?: readonly {
    server: string;
    name: string;
    inputSchema: { properties: object; required?: string[] };
  }[];
  readonly tune: readonly Question[];
  readonly held: readonly Question[];
}

function read(name: string): QuestionSet {
  return JSON.parse(readFileSync(new URL(`../../bench/server/find-sets/${name}.json`, import.meta.url), "utf8"));
}

function rightTools({ needs, relevance }: Question): string[] {
  return needs?.flat() ?? Object.keys(relevance ?? {});
}

describe.each(["lexical", "wordy", "indirect", "golden"])("question set %s", (name) => {
  const { tune, held } = read(name);

  test("has two halves of nearly the same size", () => {
    expect(tune.length).toBeGreaterThanOrEqual(34);
    expect(Math.abs(tune.length - held.length)).toBeLessThanOrEqual(2);
  });

  test("asks no question twice", () => {
    const questions = [...tune, ...held].map(({ question }) => question);
    expect(questions).toEqual([...new Set(questions)]);
  });

  test("names at least one right tool for every question", () => {
    expect([...tune, ...held].filter((question) => rightTools(question).length === 0)).toEqual([]);
  });
});

describe.each([
  ["lexical", "lexical"],
  ["wordy", "lexical"],
  ["golden", "golden"],
])("question set %s", (name, toolsOf) => {
  const { tune, held } = read(name);
  const { tools = [] } = read(toolsOf);

  test("defines every tool that a question names, and no tool twice", () => {
    const defined = tools.map((tool) => `${tool.server}.${tool.name}`);
    expect(defined).toEqual([...new Set(defined)]);
    expect([...tune, ...held].flatMap(rightTools).filter((tool) => !defined.includes(tool))).toEqual([]);
  });

  test("requires only parameters that exist", () => {
    const wrong = tools.filter(({ inputSchema: { properties, required = [] } }) =>
      required.some((parameter) => !(parameter in properties)),
    );
    expect(wrong).toEqual([]);
  });
});
