// How a run ends: with an answer, checked where JSON was asked for, or with a last word.
import { isTrunklineError, TrunklineError } from "@trunkline/core";
import type { Message, ModelTool } from "../model/model.js";
import type { AgentRequest, AgentResult } from "./agent.js";
import { messageText, textMessage } from "./history.js";
import { jsonIn } from "./json-repair.js";
import { schemaProblems } from "./json-schema.js";
import { OUT_OF_TIME, type Run, spentWords, type Turn } from "./run.js";

/** How long a last word may take when time itself ran out. */
const LAST_WORD_MS = 30_000;

type Format = NonNullable<AgentRequest["format"]>;

/** A value of the form that was asked for, or what is wrong with the text. */
export type CheckedJson = { readonly value: unknown } | { readonly problems: readonly string[] };

/** The JSON in a text: the first piece that fits the schema. */
export function checkJson(text: string, format: Format): CheckedJson {
  let problems: readonly string[] | undefined;
  for (const value of jsonIn(text)) {
    const found = format.schema === undefined ? [] : schemaProblems(format.schema, value, { patterns: true });
    if (found.length === 0) return { value };
    problems ??= found;
  }
  return { problems: problems ?? ["it is not JSON"] };
}

/** What a model is told of the form of its answer. */
export function formatNote(format: Format): string {
  const shape =
    format.schema === undefined ? "" : ` It has to be valid against this JSON Schema: ${JSON.stringify(format.schema)}`;
  return `Your final answer has to be one JSON document and nothing else: no prose, no fence around it.${shape}`;
}

/** How the model is asked once more. */
export interface AskAgain {
  readonly system: readonly Message[];
  readonly tools: readonly ModelTool[];
}

/** Ends a run with a turn's answer. JSON that does not fit is asked for once more, without tools. */
export async function endWithAnswer(run: Run, turn: Turn, again: AskAgain): Promise<AgentResult> {
  const { format } = run.request;
  if (format === undefined) {
    run.push(turn.message);
    return run.result(turn.text, "answer");
  }
  const first = checkJson(turn.text, format);
  if ("value" in first) {
    run.push(turn.message);
    return run.result(turn.text, "answer", first);
  }
  const problems = first.problems.join("; ");
  run.note(`The answer did not have the form that was asked for (${problems}); asking once more.`);
  const messages = [
    ...again.system,
    ...run.messages,
    ...(turn.text === "" ? [] : [textMessage("assistant", turn.text)]),
    textMessage("user", `Your answer cannot be used: ${problems}. ${formatNote(format)}`),
  ];
  const second = await run.timed((signal) =>
    run.turn(messages, { tools: again.tools, toolChoice: "none", format, signal }),
  );
  const checked = second === OUT_OF_TIME ? first : checkJson(second.text, format);
  if (second === OUT_OF_TIME || !("value" in checked)) {
    run.push(turn.message);
    throw wrongForm(run, "problems" in checked ? checked.problems : first.problems);
  }
  run.push(second.message);
  return run.result(second.text, "answer", checked);
}

function wrongForm(run: Run, problems: readonly string[]): TrunklineError {
  return new TrunklineError(
    "UPSTREAM",
    `${run.request.model.id} did not answer with the JSON that was asked for: ${problems.join("; ")}.`,
    { hint: "Simplify the schema, or use a larger model." },
  );
}

/**
 * Ends a run that may not go on: the model says in one last turn, without tools, what it knows. A sub-agent leaves that to
 * the agent above it. A model that cannot even do this is no failure any more: what it said before stands.
 */
export async function endWithLastWord(
  run: Run,
  { ended, why = spentWords(run.budget), ...again }: AskAgain & { ended: "budget" | "stuck"; why?: string },
): Promise<AgentResult> {
  const { format } = run.request;
  run.note(`Stopping: ${why}.`);
  if (run.depth > 0) return run.result(`Stopped without an answer: ${why}. ${lastText(run)}`.trim(), ended);
  const messages = [
    ...again.system,
    ...run.messages,
    textMessage(
      "user",
      `You have to stop here: ${why}. Do not call any tool. Answer now with what you know, and say what is still open.${
        format === undefined ? "" : ` ${formatNote(format)}`
      }`,
    ),
  ];
  let turn: Turn | typeof OUT_OF_TIME;
  try {
    const timeoutMs = Math.max(LAST_WORD_MS, Math.min(run.budget.remainingMs, 10 * LAST_WORD_MS));
    turn = await run.timed(
      (signal) => run.turn(messages, { tools: again.tools, toolChoice: "none", format, signal }),
      timeoutMs,
    );
  } catch (error) {
    if (!isTrunklineError(error) || error.code === "ABORTED") throw error;
    run.note(`The last word failed: ${error.message}`);
    turn = OUT_OF_TIME;
  }
  const text = turn === OUT_OF_TIME ? "" : turn.text.trim();
  if (format !== undefined) {
    const checked = checkJson(text, format);
    if (turn === OUT_OF_TIME || !("value" in checked)) {
      throw new TrunklineError("UPSTREAM", `The run ended before there was an answer in JSON: ${why}.`, {
        hint: "Allow more turns (--max-turns), tokens or time.",
      });
    }
    run.push(textMessage("assistant", turn.text));
    return run.result(turn.text, ended, checked);
  }
  const word = text === "" ? `Stopped without an answer: ${why}. ${lastText(run)}`.trim() : (turn as Turn).text;
  // Only the text: a call that was made in spite of everything is not kept, because it will never have a result.
  run.push(textMessage("assistant", word));
  return run.result(word, ended);
}

/** What the model said last in this run, if anything. */
function lastText(run: Run): string {
  const own = run.messages.slice(run.request.messages.length);
  const last = own.findLast((message) => message.role === "assistant" && messageText(message).trim() !== "");
  return last === undefined ? "" : `The last thing said was: ${messageText(last).trim()}`;
}
