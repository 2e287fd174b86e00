// The protocol between the `react` agent and its model: one JSON object per turn.
import { isRecord } from "@trunkline/core";
import type { Tool } from "../tools/tool.js";
import type { AgentRequest } from "./agent.js";
import { jsonIn } from "./json-repair.js";

export type ReactStep =
  | { readonly type: "action"; readonly thought: string; readonly tool: string; readonly args: unknown }
  | { readonly type: "answer"; readonly thought: string; readonly answer: unknown };

/** A step, or what is wrong with the text; `prose` if it contains no JSON at all. */
type ParsedStep = { readonly step: ReactStep } | { readonly problem: string; readonly prose: boolean };

/** What a turn must look like. None of it is valid JSON, so a model that merely repeats it has not said anything. */
const FORMS = [
  '{"thought": STRING, "action": {"tool": NAME, "args": {…}}}',
  '{"thought": STRING, "answer": STRING}',
].join("\nor\n");

/** Parses the first step in a text. Ignores anything a model makes up after it, such as observations. */
export function parseStep(text: string): ParsedStep {
  let problem: string | undefined;
  for (const value of jsonIn(text)) {
    const found = toStep(value);
    if (typeof found !== "string") return { step: found };
    problem ??= found;
  }
  if (problem !== undefined) return { problem, prose: false };
  return { problem: "it contains no readable JSON object", prose: !text.includes("{") };
}

function toStep(value: unknown): ReactStep | string {
  if (!isRecord(value)) return "it is not a JSON object";
  const thought = typeof value.thought === "string" ? value.thought : "";
  if ("action" in value && value.action !== null) {
    const { action } = value;
    if (!isRecord(action)) return '"action" must be an object with "tool" and "args"';
    if (typeof action.tool !== "string" || action.tool === "") return '"action" has no "tool"';
    if (!("args" in action)) return { type: "action", thought, tool: action.tool, args: {} };
    return isRecord(action.args)
      ? { type: "action", thought, tool: action.tool, args: action.args }
      : '"args" must be an object';
  }
  if ("answer" in value) return { type: "answer", thought, answer: value.answer };
  return 'it has neither "action" nor "answer"';
}

export function reactPrompt(tools: readonly Tool[], format: AgentRequest["format"]): string {
  const list = tools.map(
    ({ name, description, inputSchema }) => `- ${name}: ${description}\n  args: ${JSON.stringify(inputSchema)}`,
  );
  return [
    "You work in turns. In each turn write exactly one JSON object and nothing else, in one of these forms:",
    FORMS,
    "After an action you get its observation; then it is your turn again. Never write an observation yourself.",
    tools.length === 0 ? "There are no tools: give your answer." : `Tools:\n${list.join("\n")}`,
    ...(format === undefined
      ? []
      : [
          `The value of "answer" must be JSON itself, not a string that contains JSON.${
            format.schema === undefined
              ? ""
              : ` It must be valid against this JSON Schema: ${JSON.stringify(format.schema)}`
          }`,
        ]),
  ].join("\n\n");
}

/** Tells a model that its turn cannot be used. */
export function askAgain(problem: string): string {
  return `Your last turn cannot be used: ${problem}. Write one JSON object and nothing else, in one of these forms:\n${FORMS}`;
}
