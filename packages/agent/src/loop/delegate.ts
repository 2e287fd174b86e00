// Sub-agents: an agent can hand part of its work to another agent, which shares its tools, approval and budget but has
// its own conversation.
import { nearestNames, TrunklineError } from "@trunkline/core";
import { createFrameKey } from "../tools/framing.js";
import { oneAtATime, type Tool, toolNamed } from "../tools/tool.js";
import type { AgentRequest, AgentResult } from "./agent.js";
import { findAgent, listAgents } from "./agents.js";
import { Budget } from "./budget.js";
import { textMessage } from "./message-history.js";
import { Run } from "./run.js";

const DELEGATE = "delegate";

const DEFAULT_MAX_DEPTH = 2;

export interface SubAgentTask {
  readonly prompt: string;
  readonly agent: string;
  /** Wire names of the tools the sub-agent gets. Default: all of its parent's. */
  readonly tools?: readonly string[];
  readonly signal?: AbortSignal;
}

/**
 * Starts a sub-agent with the parent's model, tools, approval, budget and listeners. The budget is shared only if
 * `parent.budget` is set. Rejects with `INVALID_ARGUMENT` if agents are nested too deeply.
 */
export async function startAgent(parent: AgentRequest, task: SubAgentTask): Promise<AgentResult> {
  const depth = (parent.depth ?? 0) + 1;
  const maxDepth = parent.maxDepth ?? DEFAULT_MAX_DEPTH;
  if (depth > maxDepth) {
    throw new TrunklineError("INVALID_ARGUMENT", `Agents can be nested at most ${maxDepth} deep.`);
  }
  const budget = parent.budget ?? new Budget(parent.limits);
  return await findAgent(task.agent).run({
    model: parent.model,
    messages: [textMessage("user", task.prompt)],
    tools: chosen([...parent.tools, ...newTools(parent)], task.tools),
    ...(task.tools === undefined ? { moreTools: parent.moreTools } : {}),
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

function newTools({ tools, moreTools }: AgentRequest): readonly Tool[] {
  const names = new Set(tools.map(({ name }) => name));
  return (moreTools?.() ?? []).filter(({ name }) => !names.has(name));
}

function chosen(tools: readonly Tool[], names: readonly string[] | undefined): readonly Tool[] {
  if (names === undefined) return tools;
  return names.map((name) => {
    const found = toolNamed(tools, name);
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

/** Reports what a sub-agent spent to the agent that started it. */
type OnSpent = (spent: Pick<AgentResult, "turns" | "usage">) => void;

/** Returns the `delegate` tool, or nothing if the request does not want it or the nesting limit is reached. */
function delegateTools(request: AgentRequest, { agent, onSpent }: { agent: string; onSpent: OnSpent }): Tool[] {
  const depth = request.depth ?? 0;
  if (request.delegate !== true || depth >= (request.maxDepth ?? DEFAULT_MAX_DEPTH)) return [];
  return [
    {
      name: DELEGATE,
      title: DELEGATE,
      description:
        "Hands part of the work to a sub-agent with the same tools and a fresh conversation, and returns its answer. " +
        "The sub-agent knows nothing of this conversation, so the task must say everything.",
      inputSchema: {
        type: "object",
        properties: {
          task: { type: "string", minLength: 1, description: "What to do, and what to answer with." },
          agent: { type: "string", enum: listAgents().map(({ name }) => name), description: "The kind of agent." },
          tools: { type: "array", items: { type: "string" }, description: "Names of the tools it gets. Default: all." },
        },
        required: ["task"],
        additionalProperties: false,
      },
      // Delegating changes nothing by itself: the sub-agent's calls ask for approval when they happen.
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
 * Starts a run of the named agent. Throws `INVALID_ARGUMENT` if two tools have the same name. The run and its
 * sub-agents share one budget and one frame key.
 */
export function startRun(request: AgentRequest, agent: string): Run {
  const shared: AgentRequest = {
    ...request,
    budget: request.budget ?? new Budget(request.limits),
    frameKey: request.frameKey ?? createFrameKey(),
    // Sub-agents can run in parallel; the user gets one question at a time.
    approve: (request.depth ?? 0) === 0 ? oneAtATime(request.approve) : request.approve,
  };
  const own = delegateTools(shared, { agent, onSpent: (spent) => run.addSpent(spent) });
  const tools = [...request.tools, ...own];
  const twice = tools.find(({ name }, index) => tools.findIndex((other) => other.name === name) !== index);
  if (twice !== undefined) throw new TrunklineError("INVALID_ARGUMENT", `Two tools have the name "${twice.name}".`);
  const run = new Run(shared, tools);
  return run;
}
