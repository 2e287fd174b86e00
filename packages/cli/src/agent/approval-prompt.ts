// Approves tools that change things: `--yes`, the allow lists, or the person at the terminal.
import { type Approval, type Approver, allowList, approveAll, refuseAll, type Tool } from "@trunkline/agent";
import { isRecord, matchesGlob, printable } from "@trunkline/core";
import type { CommandContext } from "../terminal/context.js";
import { askWord } from "../terminal/terminal-form.js";
import { TerminalPrompt } from "../terminal/terminal-prompt.js";
import type { TerminalTurns } from "../terminal/terminal-turns.js";

export interface ApprovalOptions {
  readonly yes: boolean;
  /** Globs from the command line and from the user's settings. */
  readonly allow: readonly string[];
  /** Titles of tools that always ask, whatever the other settings say. */
  readonly mustAsk: ReadonlySet<string>;
  /** Undefined if there is no terminal. */
  readonly terminal: TerminalTurns | undefined;
}

/** Users do not read more than this before saying yes. */
const MAX_SHOWN_CHARS = 4000;

const NOBODY =
  "It may change things, which needs the user's approval, and there is no terminal to ask on. Tell the user what you would have done.";

export function createApprover(context: CommandContext, options: ApprovalOptions): Approver {
  const { yes, allow, mustAsk, terminal } = options;
  const ask = terminal === undefined ? refuseAloud(context) : askAtTerminal(context, terminal, mustAsk);
  const usual = yes ? approveAll : allowedOr(allow, ask);
  return (call, asked) => (mustAsk.has(call.tool.title) ? ask : usual)(call, asked);
}

function refuseAloud(context: CommandContext): Approver {
  const refuse = refuseAll(NOBODY);
  return async (call, asked) => {
    const names = (operationsOf(call.tool, call.args) ?? [call.tool.title]).map(printable);
    context.note(
      `${names.join(", ")} did not run: it may change things, and there is no terminal to ask on. ` +
        `Allow it with --yes or --allow '${names[0] ?? ""}'.`,
    );
    return await refuse(call, asked);
  };
}

/** Checks the allow list; for a batch, every operation must be on it. */
function allowedOr(globs: readonly string[], otherwise: Approver): Approver {
  const byTool = allowList(globs, otherwise);
  return async (call, options) => {
    const operations = operationsOf(call.tool, call.args);
    if (operations !== undefined && operations.length > 0 && operations.every((name) => matchesAny(globs, name))) {
      return { allowed: true };
    }
    return await byTool(call, options);
  };
}

function matchesAny(globs: readonly string[], name: string): boolean {
  return globs.some((glob) => matchesGlob(glob, name));
}

/** Returns the operations a composite tool would run; undefined for an ordinary tool. */
function operationsOf({ title }: Pick<Tool, "title">, args: Readonly<Record<string, unknown>>): string[] | undefined {
  if (title === "session") return [`session ${String(args.action)}`];
  if (title !== "execute") return undefined;
  return batchOf(args).map((step) => (isRecord(step) && typeof step.op === "string" ? step.op : "?"));
}

/** Reads the batch, which a model can pass as a list or as text. */
function batchOf({ operations }: Readonly<Record<string, unknown>>): readonly unknown[] {
  if (Array.isArray(operations)) return operations;
  if (typeof operations !== "string") return [];
  try {
    const parsed: unknown = JSON.parse(operations);
    return Array.isArray(parsed) ? parsed : [parsed];
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}

function askAtTerminal(context: CommandContext, terminal: TerminalTurns, mustAsk: ReadonlySet<string>): Approver {
  /** Operations for which the user answered "always", until the command ends. */
  const always = new Set<string>();
  return async ({ tool, args }, { signal }): Promise<Approval> => {
    const names = operationsOf(tool, args) ?? [tool.title];
    const eachTime = mustAsk.has(tool.title);
    if (!eachTime && names.length > 0 && names.every((name) => always.has(name))) return { allowed: true };
    return await terminal.take(async () => {
      const ending = signal === undefined ? context.signal : AbortSignal.any([context.signal, signal]);
      ending.throwIfAborted();
      using prompt = new TerminalPrompt(context, ending);
      for (const line of describeCall(tool, args)) prompt.say(line);
      const words = { yes: /^y(es)?$/i, no: /^no?$/i } as const;
      const word = await askWord(prompt, "Run it?", eachTime ? words : { ...words, always: /^a(lways)?$/i });
      if (word === "always") for (const name of names) always.add(name);
      if (word === "yes" || word === "always") return { allowed: true };
      return { allowed: false, reason: word === "no" ? "The user said no." : "The user did not answer." };
    });
  };
}

/** Describes the call for the user to judge. The arguments come from the model. */
function* describeCall(tool: Tool, args: Readonly<Record<string, unknown>>): Generator<string> {
  const operations = tool.title === "execute" ? batchOf(args) : [];
  if (operations.length === 0) {
    yield `${printable(tool.title)} may change things. It would be called with`;
    yield `  ${shown(args)}`;
    return;
  }
  yield `execute may change things. It would run`;
  for (const step of operations) {
    const { op, params = {}, ...rest } = isRecord(step) ? step : { op: step };
    const more = Object.keys(rest).length === 0 ? "" : ` ${shown(rest)}`;
    yield `  ${printable(String(op))} ${shown(params)}${more}`;
  }
  const { operations: _, ...flags } = args;
  if (Object.keys(flags).length > 0) yield `  with ${shown(flags)}`;
}

function shown(value: unknown): string {
  const text = printable(JSON.stringify(value) ?? "");
  return text.length <= MAX_SHOWN_CHARS
    ? text
    : `${text.slice(0, MAX_SHOWN_CHARS)}… (${text.length} characters; the rest is not shown)`;
}
