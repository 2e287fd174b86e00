// Sub-agents: an agent may hand a part of its work to another one, which has the same tools, the same approval and the same
// budget, and a conversation of its own.
import { nearestNames, TrunklineError } from "@trunkline/core";
import { createFrameKey } from "../tools/framing.js";
import { oneAtATime, type Tool } from "../tools/tool.js";
import type { AgentRequest, AgentResult } from "./agent.js";
import { findAgent, listAgents } from "./agents.js";
import { Budget } from "./budget.js";
import { textMessage } from "./message-history.js";
import { Run } from "./run.js";

/** The wire name of the tool. */
const DELEGATE = "delegate";

const DEFAULT_MAX_DEPTH = 2;

/** What a sub-agent is to do. */
export interface SubAgentTask {
  readonly prompt: string;
  /** An agent's name. */
  readonly agent: string;
  /** Wire names of the tools that it gets. Default: all of its parent's. */
  readonly tools?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Starts an agent on behalf of another one's request: same model, tools, approval, budget and listeners. `parent.budget` has
 * to be there for the budget to be shared. Rejects with `INVALID_ARGUMENT` where agents stand too deep already.
 */
export async function startAgent(parent: AgentRequest, task: SubAgentTask): Promise<AgentResult> {
  const depth = (parent.depth ?? 0) + 1;
  const maxDepth = parent.maxDepth ?? DEFAULT_MAX_DEPTH;
  if (depth > maxDepth) {
    throw new TrunklineError("INVALID_ARGUMENT", `Agents may start one another ${maxDepth} deep, and this is deeper.`);
  }
  const budget = parent.budget ?? new Budget(parent.limits);
  return await findAgent(task.agent).run({
    model: parent.model,
    messages: [textMessage("user", task.prompt)],
    tools: chosen(parent.tools, task.tools),
    approve: parent.approve,
    budget,
    depth,
    maxDepth,
    delegate: parent.delegate,
    think: parent.think,
    maxParallelCalls: parent.maxParallelCalls,
    frameKey: parent.frameKey,
    maxResultChars: parent.maxResultChars,
    onEvent: parent.onEvent,
    signal: task.signal ?? parent.signal,
  });
}

function chosen(tools: readonly Tool[], names: readonly string[] | undefined): readonly Tool[] {
  if (names === undefined) return tools;
  return names.map((name) => {
    const found = tools.find((tool) => tool.name === name || tool.title === name);
    if (found !== undefined) return found;
    const nearest = nearestNames(
      name,
      tools.map((tool) => tool.name),
    );
    throw new TrunklineError("TOOL_NOT_FOUND", `There is no tool "${name}".`, {
      ...(nearest.length > 0 ? { hint: `Did you mean ${nearest.join(" or ")}?` } : {}),
    });
  });
}

/** How the tool tells the agent that it belongs to what was spent. */
type OnSpent = (spent: Pick<AgentResult, "turns" | "usage">) => void;

/** The tool `delegate` of an agent, or nothing where the request does not want it or no deeper agent may be started. */
function delegateTools(request: AgentRequest, { agent, onSpent }: { agent: string; onSpent: OnSpent }): Tool[] {
  const depth = request.depth ?? 0;
  if (request.delegate !== true || depth >= (request.maxDepth ?? DEFAULT_MAX_DEPTH)) return [];
  return [
    {
      name: DELEGATE,
      title: DELEGATE,
      description:
        "Hands a part of the work to a sub-agent with the same tools and a fresh conversation, and returns its answer. " +
        "It knows nothing of this conversation: the task has to say everything.",
      inputSchema: {
        type: "object",
        properties: {
          task: { type: "string", minLength: 1, description: "What to do, and what to answer with." },
          agent: { type: "string", enum: listAgents().map(({ name }) => name), description: "The way it works." },
          tools: { type: "array", items: { type: "string" }, description: "Names of the tools it gets. Default: all." },
        },
        required: ["task"],
        additionalProperties: false,
      },
      // It changes nothing itself: what the sub-agent calls is asked for when it is called.
      readOnly: true,
      async call(args, { signal }) {
        const result = await startAgent(request, {
          prompt: String(args.task),
          agent: typeof args.agent === "string" ? args.agent : agent,
          tools: Array.isArray(args.tools) ? args.tools.map(String) : undefined,
          signal,
        });
        onSpent(result);
        return { text: result.text, isError: result.ended !== "answer" };
      },
    },
  ];
}

/**
 * Starts the run of the agent of that name. Throws `INVALID_ARGUMENT` for two tools of one name.
 * The run and the agents that it starts share one budget and one frame key.
 */
export function startRun(request: AgentRequest, agent: string): Run {
  const shared: AgentRequest = {
    ...request,
    budget: request.budget ?? new Budget(request.limits),
    frameKey: request.frameKey ?? createFrameKey(),
    // Sub-agents may work at the same time; the user gets one question at a time.
    approve: (request.depth ?? 0) === 0 ? oneAtATime(request.approve) : request.approve,
  };
  const own = delegateTools(shared, { agent, onSpent: (spent) => run.addSpent(spent) });
  const tools = [...request.tools, ...own];
  const twice = tools.find(({ name }, index) => tools.findIndex((other) => other.name === name) !== index);
  if (twice !== undefined) throw new TrunklineError("INVALID_ARGUMENT", `Two tools are called "${twice.name}".`);
  const run = new Run(shared, tools);
  return run;
}
