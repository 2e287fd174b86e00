// What the `react` agent and its model say to each other: one JSON object a turn.
import { isRecord } from "@trunkline/core";
import type { Tool } from "../tools/tool.js";
import type { AgentRequest } from "./agent.js";
import { jsonIn } from "./json-repair.js";

/** One turn of the protocol. */
export type ReactStep =
  | { readonly type: "action"; readonly thought: string; readonly tool: string; readonly args: unknown }
  | { readonly type: "answer"; readonly thought: string; readonly answer: unknown };

/** A step, or what is wrong with the text; `prose` where there is no JSON in it at all. */
type ParsedStep = { readonly step: ReactStep } | { readonly problem: string; readonly prose: boolean };

/** What a turn has to look like. None of it is JSON as it stands: a model that repeats it has not said anything. */
const FORMS = [
  '{"thought": STRING, "action": {"tool": NAME, "args": {…}}}',
  '{"thought": STRING, "answer": STRING}',
].join("\nor\n");

/** The first step in a text. What a model goes on to invent behind it, observations above all, is not looked at. */
export function parseStep(text: string): ParsedStep {
  let problem: string | undefined;
  for (const value of jsonIn(text)) {
    const found = toStep(value);
    if (typeof found !== "string") return { step: found };
    problem ??= found;
  }
  if (problem !== undefined) return { problem, prose: false };
  return { problem: "there is no JSON object in it that can be read", prose: !text.includes("{") };
}

function toStep(value: unknown): ReactStep | string {
  if (!isRecord(value)) return "it is not a JSON object";
  const thought = typeof value.thought === "string" ? value.thought : "";
  if ("action" in value && value.action !== null) {
    const { action } = value;
    if (!isRecord(action)) return '"action" has to be an object with "tool" and "args"';
    if (typeof action.tool !== "string" || action.tool === "") return '"action" has no "tool"';
    if (!("args" in action)) return { type: "action", thought, tool: action.tool, args: {} };
    return isRecord(action.args)
      ? { type: "action", thought, tool: action.tool, args: action.args }
      : '"args" has to be an object';
  }
  if ("answer" in value) return { type: "answer", thought, answer: value.answer };
  return 'it has neither "action" nor "answer"';
}

/** The rules, and the tools. */
export function reactPrompt(tools: readonly Tool[], format: AgentRequest["format"]): string {
  const list = tools.map(
    ({ name, description, inputSchema }) => `- ${name}: ${description}\n  args: ${JSON.stringify(inputSchema)}`,
  );
  return [
    "You work in turns. In each turn you write exactly one JSON object and nothing else, in one of these forms:",
    FORMS,
    "After an action you are given its observation; then it is your turn again. Never write an observation yourself.",
    tools.length === 0 ? "There are no tools: answer." : `Tools:\n${list.join("\n")}`,
    ...(format === undefined
      ? []
      : [
          `The value of "answer" has to be JSON itself, not a string that holds JSON.${
            format.schema === undefined
              ? ""
              : ` It has to be valid against this JSON Schema: ${JSON.stringify(format.schema)}`
          }`,
        ]),
  ].join("\n\n");
}

/** How a model is told that its turn cannot be used. */
export function askAgain(problem: string): string {
  return `Your last turn cannot be used: ${problem}. Write one JSON object and nothing else, in one of these forms:\n${FORMS}`;
}
