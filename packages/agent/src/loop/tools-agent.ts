// The agent `tools`: the model's native tool calls, turn after turn, until it answers without one.
import type { Message } from "../model/model.js";
import { FRAME_NOTE } from "../tools/framing.js";
import type { Agent, AgentRequest, AgentResult } from "./agent.js";
import { endWithAnswer, endWithLastWord, formatNote } from "./answer.js";
import { callTools, Failures, MAX_SAME_FAILURES, modelTools } from "./call-tools.js";
import { textMessage } from "./history.js";
import { OUT_OF_TIME, type Run } from "./run.js";
import { startRun } from "./start-run.js";

const NAME = "tools";

/** Works with the model's native tool calls. */
export const toolsAgent: Agent = {
  name: NAME,
  summary: "The model calls tools natively until it has an answer.",
  run: async (request) => await work(startRun(request, NAME)),
};

async function work(run: Run): Promise<AgentResult> {
  const tools = modelTools(run.tools);
  const again = { tools, system: systemOf(run.request, tools.length > 0) };
  const failures = new Failures();
  // Beside tools, several providers refuse a form for the answer or take it for a ban on calls: then only words ask for it.
  const format = tools.length === 0 ? run.request.format : undefined;
  for (;;) {
    if (run.budget.spent !== undefined) return await endWithLastWord(run, { ...again, ended: "budget" });
    const turn = await run.timed((signal) => run.turn([...again.system, ...run.messages], { tools, format, signal }));
    if (turn === OUT_OF_TIME) return await endWithLastWord(run, { ...again, ended: "budget" });
    if (turn.calls.length === 0) return await endWithAnswer(run, turn, again);

    // With time running out the calls are stopped, and still have results.
    const results = await run.timed((signal) => callTools(run, turn.calls, signal));
    if (results === OUT_OF_TIME) return await endWithLastWord(run, { ...again, ended: "budget" });
    run.push(turn.message, { role: "tool", parts: results });
    run.throwIfAborted();
    const stuck = turn.calls.filter((call, index) => failures.count(call, results[index]?.isError === true));
    if (stuck[0] !== undefined) {
      const why = `${stuck[0].name} failed ${MAX_SAME_FAILURES} times in a row with the same arguments`;
      return await endWithLastWord(run, { ...again, ended: "stuck", why });
    }
  }
}

function systemOf({ format }: AgentRequest, hasTools: boolean): Message[] {
  const notes = [...(hasTools ? [FRAME_NOTE] : []), ...(format === undefined ? [] : [formatNote(format)])];
  return notes.length === 0 ? [] : [textMessage("system", notes.join("\n\n"))];
}
