// Runs an agent for a script: tools by glob, a model by id, approval by allow list.

import type { Agent, AgentRequest, AgentResult, Approver, Message, Model, ModelOptions, Tool } from "@trunkline/agent";
import { TrunklineError, withoutUndefined } from "@trunkline/core";
import { isAtTerminal } from "../terminal/context.js";
import { holding } from "./lifeline.js";
import { openModel } from "./open-model.js";
import { world } from "./world.js";

export interface RunOptions
  extends Pick<AgentRequest, "format" | "think" | "limits" | "delegate" | "onEvent" | "onMessage" | "signal"> {
  /** Server tools by name or glob (`docs.*`), and the script's own tools. Default: none. */
  readonly tools?: readonly (string | Tool)[] | undefined;
  /** Default: the configured model. */
  readonly model?: string | Partial<ModelOptions> | Model | undefined;
  /**
   * Tools that can make changes without asking: globs, or `true` for all. For other tools the user at the terminal is
   * asked; without a terminal they are denied.
   */
  readonly allow?: readonly string[] | true | undefined;
  /** Records the run to this file. */
  readonly record?: string | undefined;
  /** Replays the run in this file: the answers of the model and the tools come from it, and nothing is called. */
  readonly replay?: string | undefined;
}

const DEFAULT_MAX_TURNS = 10;

/** Agents registered before the package was loaded. */
const waiting: Agent[] = [];

/**
 * Registers an agent. Throws `INVALID_ARGUMENT` if the name is already registered; a clash with a built-in agent shows
 * up on the first run.
 */
export function registerAgent(agent: Agent): void {
  if (waiting.some(({ name }) => name === agent.name)) {
    throw new TrunklineError("INVALID_ARGUMENT", `There is already an agent named "${agent.name}".`);
  }
  waiting.push(agent);
}

/** Runs an agent to its end. The process waits for it. */
export async function runAgent(
  name: string,
  prompt: string | readonly Message[],
  options: RunOptions,
): Promise<AgentResult> {
  if (options.record !== undefined && options.replay !== undefined) {
    throw new TrunklineError("INVALID_ARGUMENT", "record and replay are mutually exclusive.", {
      hint: "A replayed run is already recorded.",
    });
  }
  return await holding(() => run(name, prompt, options));
}

async function run(name: string, prompt: string | readonly Message[], options: RunOptions): Promise<AgentResult> {
  const { context } = world();
  const library = await import("@trunkline/agent");
  for (const agent of waiting) library.registerAgent(agent);
  const agent = library.findAgent(name);
  const { tools: _tools, model: _model, allow: _allow, record, replay, ...passed } = options;
  const messages = typeof prompt === "string" ? [library.textMessage("user", prompt)] : prompt;
  const parts =
    replay === undefined ? await liveParts(options) : await library.openReplay(replay, { redactor: context.redactor });
  const request: AgentRequest = {
    limits: { maxTurns: DEFAULT_MAX_TURNS },
    ...withoutUndefined(passed),
    messages,
    ...parts,
    signal: passed.signal === undefined ? context.signal : AbortSignal.any([context.signal, passed.signal]),
  };
  if (record === undefined) return await agent.run(request);
  await using sink = await library.openRunFile(record, { redactor: context.redactor });
  return await agent.run({
    ...request,
    model: library.recordModel(request.model, sink),
    ...recordedTools(request, (tool) => library.recordTool(tool, sink)),
    approve: library.recordApprover(request.approve, sink),
  });
}

/** Wraps each tool once, also those that a sign-in adds later. */
function recordedTools(
  { tools, moreTools }: AgentRequest,
  record: (tool: Tool) => Tool,
): Pick<AgentRequest, "tools" | "moreTools"> {
  const recorded = new Map(tools.map((tool) => [tool, record(tool)]));
  const wrap = (tool: Tool) => {
    const known = recorded.get(tool) ?? record(tool);
    recorded.set(tool, known);
    return known;
  };
  return { tools: tools.map(wrap), moreTools: () => (moreTools?.() ?? []).map(wrap) };
}

async function liveParts(
  options: RunOptions,
): Promise<Pick<AgentRequest, "model" | "tools" | "moreTools" | "approve">> {
  const [{ tools, ...rules }, model] = await Promise.all([
    toolsOf(options.tools ?? []),
    isModel(options.model) ? options.model : openModel(options.model),
  ]);
  return { tools: tools(), moreTools: tools, model, approve: await approverOf(options.allow ?? [], rules) };
}

function isModel(model: RunOptions["model"]): model is Model {
  return typeof model === "object" && "stream" in model;
}

interface Rules {
  readonly allow: readonly string[];
  readonly mustAsk: ReadonlySet<string>;
  readonly isSignIn?: (operation: string, signal: AbortSignal | undefined) => Promise<boolean>;
}

/** Collects the tools and applies the policy to those from servers. */
async function toolsOf(wanted: readonly (string | Tool)[]): Promise<Rules & { tools: () => readonly Tool[] }> {
  const patterns = wanted.filter((item) => typeof item === "string");
  const own = wanted.filter((item) => typeof item !== "string");
  if (patterns.length === 0) return { tools: () => own, allow: [], mustAsk: new Set() };
  const [{ ToolSelection }, { isSignIn }] = await Promise.all([
    import("../agent/tool-selection.js"),
    import("../agent/sign-in-tools.js"),
  ]);
  const hub = await world().hub();
  const config = await world().config();
  const selection = await ToolSelection.open(world().context, hub, {
    ...{ patterns, config },
    journal: (operation, run) => world().journalled(operation, run),
  });
  return {
    tools: () => [...selection.tools(), ...own],
    allow: config.settings?.agentAllow ?? [],
    mustAsk: selection.mustAsk,
    isSignIn: (operation, signal) => isSignIn(hub, operation, signal),
  };
}

async function approverOf(allow: readonly string[] | true, rules: Rules): Promise<Approver> {
  const [{ createApprover }, { TerminalTurns }] = await Promise.all([
    import("../agent/approval-prompt.js"),
    import("../terminal/terminal-turns.js"),
  ]);
  return createApprover(world().context, {
    yes: allow === true,
    allow: allow === true ? [] : [...allow, ...rules.allow],
    mustAsk: rules.mustAsk,
    isSignIn: rules.isSignIn,
    terminal: isAtTerminal(world().context) ? new TerminalTurns() : undefined,
  });
}
