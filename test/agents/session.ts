// One headless session of an agent whose model plays a list of steps.
import type { Outcome } from "../e2e/command.js";
import { type Agent, programOf } from "./agents.js";
import type { Call, Move, Result, Turn } from "./dialects/dialect.js";
import type { Place } from "./place.js";
import type { Played, ScriptedModel } from "./scripted-model.js";

/** A call of the model, in the server's own words. */
export interface Step {
  readonly name: string;
  /** `trunkline` for its own tools. */
  readonly server: string;
  readonly tool: string;
  readonly args?: Call["args"];
  /** A tool that changes something: `execute` calls it, if it is not in the list. */
  readonly writes?: boolean;
  /** Called by the name that the agent gives it without Trunkline. */
  readonly direct?: boolean;
  /** The model makes up the tool. */
  readonly madeUp?: boolean;
  /** Runs when it is the turn of this step, before the model answers. */
  before?(): void | Promise<void>;
}

const PREPARE = "prepare ";

export interface Session extends Outcome, Played {
  /** What the model saw after each step. */
  readonly results: ReadonlyMap<string, Result>;
}

export interface SessionOptions {
  readonly agent: Agent;
  readonly place: Place;
  readonly model: ScriptedModel;
  readonly through: boolean;
  /** Ends the session when the model could make its first call. */
  readonly onlyPrepares?: boolean;
}

export async function runSession(steps: readonly Step[], options: SessionOptions): Promise<Session> {
  const { agent, place, model } = options;
  const names: string[] = [];
  const moves: Promise<Move>[] = [];
  const played = model.play(async (turn) => {
    // An agent that repeats a request gets the same answer.
    const index = turn.results.length;
    moves[index] ??= nextMove(steps, { ...options, turn, names });
    return await moves[index];
  });
  const outcome = await place.run([programOf(agent), ...agent.args], { env: agent.env(model.url) });
  const last = played.requests.reduce<readonly Result[]>(
    (most, { turn }) => (turn.results.length > most.length ? turn.results : most),
    [],
  );
  return { ...outcome, ...played, results: new Map(last.map((result, index) => [names[index] ?? "", result])) };
}

interface Stage extends SessionOptions {
  readonly turn: Turn;
  /** The names of the steps played so far, by call. */
  readonly names: string[];
}

async function nextMove(steps: readonly Step[], stage: Stage): Promise<Move> {
  const { agent, turn, names, through } = stage;
  const wanted = steps.filter(({ madeUp }) => madeUp !== true).map((step) => listedName(step, stage));
  const own = through ? ["query", "execute"].map((tool) => agent.toolName("trunkline", tool)) : [];
  const isPreparing = names.every((name) => name.startsWith(PREPARE));
  const first = isPreparing ? await agent.prepare?.(turn, [...new Set([...wanted, ...own])]) : undefined;
  if (first !== undefined) {
    names.push(`${PREPARE}${names.length}`);
    return first;
  }
  const step = steps.find(({ name }) => !names.includes(name));
  if (step === undefined || stage.onlyPrepares === true) return "done";
  names.push(step.name);
  await step.before?.();
  return moveOf(step, stage);
}

/** The name of a tool in the list of the agent. */
function listedName({ server, tool, direct = false }: Step, { agent, through }: SessionOptions): string {
  if (!through || direct || server === "trunkline") return agent.toolName(server, tool);
  return agent.toolName("trunkline", `${server}_${tool}`);
}

function moveOf(step: Step, stage: Stage): Move {
  const { agent, turn, through } = stage;
  const { server, tool, args = {}, madeUp = false, writes = false, direct = false } = step;
  const call = agent.call ?? ((name, values) => ({ tool: name, args: values }));
  const name = listedName(step, stage);
  const listed = spelledAs(name, turn.tools);
  const isNamed = !through || server === "trunkline" || direct || madeUp || agent.call !== undefined;
  if (isNamed || listed !== undefined) return call(listed ?? name, args);
  // Not in the list: the model reads about it in `query` and `execute`.
  const operation = { op: `${server}.${tool}`, params: args };
  const own = agent.toolName("trunkline", writes ? "execute" : "query");
  return call(spelledAs(own, turn.tools) ?? own, writes ? { operations: [operation] } : { steps: [operation] });
}

/** Finds a tool, however the agent separates the parts of its name. */
function spelledAs(name: string, tools: readonly string[]): string | undefined {
  const plain = (text: string) => text.toLowerCase().replaceAll(/[^a-z0-9]+/g, "_");
  return tools.find((tool) => plain(tool) === plain(name));
}
