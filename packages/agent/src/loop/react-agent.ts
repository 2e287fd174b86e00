// The agent `react`: thought, action, observation, as JSON objects in plain text. Works with models that have no native
// tool calls.
import { TrunklineError } from "@trunkline/core";
import type { Message } from "../model/model.js";
import { FRAME_NOTE } from "../tools/framing.js";
import type { Agent, AgentResult } from "./agent.js";
import { startRun } from "./delegate.js";
import { textMessage } from "./message-history.js";
import { askAgain, parseStep, type ReactStep, reactPrompt } from "./react-protocol.js";
import { checkJson, endWithLastWord, OUT_OF_TIME, type Run, type Turn } from "./run.js";
import { callTools, Failures, MAX_SAME_FAILURES } from "./tools-agent.js";

const NAME = "react";

/** How often to re-ask after an unusable turn before giving up. */
const MAX_REASKS = 2;

export const reactAgent: Agent = {
  name: NAME,
  summary: "The model thinks, acts and observes in turns; works without native tool calls.",
  run: async (request) => await work(startRun(request, NAME)),
};

async function work(run: Run): Promise<AgentResult> {
  const { format } = run.request;
  const frames = run.tools.length > 0 ? [textMessage("system", FRAME_NOTE)] : [];
  const failures = new Failures();
  const lastWord = (ended: "budget" | "stuck", why?: string) =>
    // The last word does not have to follow the protocol.
    endWithLastWord(run, { system: frames, tools: [], ended, why });
  let formProblems = 0;
  for (let number = 1; ; number++) {
    if (run.budget.spent !== undefined) return await lastWord("budget");
    const step = await nextStep(run, [textMessage("system", reactPrompt(run.tools, format)), ...frames]);
    if (step === OUT_OF_TIME) return await lastWord("budget");
    if (step.thought !== "") run.emit({ type: "reasoning", text: `${step.thought}\n` });
    if (step.type === "answer") {
      const problem = answerProblem(step, run);
      if (problem === undefined) return answered(run, step);
      if (formProblems++ > 0) {
        throw new TrunklineError(
          "UPSTREAM",
          `${run.request.model.id} did not answer in the requested format: ${problem}.`,
        );
      }
      run.note(`The answer did not have the requested format (${problem}); asking once more.`);
      run.push(said(step), textMessage("user", `That answer cannot be used: ${problem}. Give a better one.`));
      continue;
    }
    const call = { type: "tool-call", id: `step-${number}`, name: run.wireName(step.tool), args: step.args } as const;
    const results = await run.timed((signal) => callTools(run, [call], signal));
    const result = results === OUT_OF_TIME ? undefined : results[0];
    if (result === undefined) return await lastWord("budget");
    run.push(said(step), {
      role: "user",
      parts: [
        { type: "text", text: `Observation${result.isError === true ? " (an error)" : ""}:\n${result.text}` },
        ...(result.images ?? []).map((image) => ({ type: "image" as const, ...image })),
      ],
    });
    run.throwIfAborted();
    if (failures.count(call, result.isError === true)) {
      return await lastWord("stuck", `${step.tool} failed ${MAX_SAME_FAILURES} times in a row with the same arguments`);
    }
  }
}

/** Gets the model's next step. Re-asks after an unreadable turn; those exchanges are not kept in the conversation. */
async function nextStep(run: Run, system: readonly Message[]): Promise<ReactStep | typeof OUT_OF_TIME> {
  const corrections: Message[] = [];
  let prose: string | undefined;
  for (let attempt = 0; ; attempt++) {
    const turn: Turn | typeof OUT_OF_TIME = await run.timed((signal) =>
      run.turn([...system, ...run.messages, ...corrections], { show: false, signal }),
    );
    if (turn === OUT_OF_TIME) return OUT_OF_TIME;
    const parsed = parseStep(turn.text);
    if ("step" in parsed) return parsed.step;
    if (parsed.prose && turn.text.trim() !== "") prose = turn.text;
    if (attempt >= MAX_REASKS || run.budget.spent !== undefined) {
      if (prose !== undefined) {
        run.note("The model does not follow the protocol; its text is used as the answer.");
        return { type: "answer", thought: "", answer: prose };
      }
      if (run.budget.spent !== undefined) return OUT_OF_TIME;
      throw new TrunklineError("UPSTREAM", `${run.request.model.id} does not follow the protocol: ${parsed.problem}.`, {
        hint: "Use the agent `tools` with a model that calls tools natively, or a larger model.",
      });
    }
    run.note(`A turn could not be read (${parsed.problem}); asking again.`);
    corrections.push(
      ...(turn.text.trim() === "" ? [] : [textMessage("assistant", turn.text)]),
      textMessage("user", askAgain(parsed.problem)),
    );
  }
}

/** Returns what is wrong with an answer's format, if anything. */
function answerProblem(step: Extract<ReactStep, { type: "answer" }>, run: Run): string | undefined {
  const { format } = run.request;
  if (format === undefined) return undefined;
  const checked = checkJson(JSON.stringify(jsonAnswer(step.answer, format)), format);
  return "value" in checked ? undefined : checked.problems.join("; ");
}

/** Parses an answer that is a string of JSON, because that is what most models write. */
function jsonAnswer(answer: unknown, format: NonNullable<Run["request"]["format"]>): unknown {
  if (typeof answer !== "string") return answer;
  const checked = checkJson(answer, format);
  return "value" in checked ? checked.value : answer;
}

function answered(run: Run, step: Extract<ReactStep, { type: "answer" }>): AgentResult {
  const { format } = run.request;
  const answer = format === undefined ? step.answer : jsonAnswer(step.answer, format);
  const text = typeof answer === "string" && format === undefined ? answer : JSON.stringify(answer);
  run.emit({ type: "text", text });
  run.push(textMessage("assistant", text));
  return run.result(text, "answer", format === undefined ? undefined : { value: answer });
}

function said(step: ReactStep): Message {
  const { thought } = step;
  const turn =
    step.type === "action"
      ? { thought, action: { tool: step.tool, args: step.args } }
      : { thought, answer: step.answer };
  return textMessage("assistant", JSON.stringify(turn));
}
