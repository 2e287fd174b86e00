// Approves tools that change things: `--yes`, the allow lists, or the person at the terminal.
import { type Approval, type Approver, allowList, approveAll, refuseAll, type Tool } from "@trunkline/agent";
import { ownersOf } from "@trunkline/config";
import { isRecord, matchesGlob, printable, TrunklineError } from "@trunkline/core";
import type { CommandContext } from "../terminal/context.js";
import { askWord } from "../terminal/terminal-form.js";
import { TerminalPrompt } from "../terminal/terminal-prompt.js";
import type { TerminalTurns } from "../terminal/terminal-turns.js";

interface ApprovalOptions {
  readonly yes: boolean;
  /** Globs from the command line and from the user's settings. */
  readonly allow: readonly string[];
  /** The names of all servers: a name that can mean the tools of two servers is not on any allow list. */
  readonly servers?: readonly string[];
  /** Titles of tools that always ask, whatever the other settings say. */
  readonly mustAsk: ReadonlySet<string>;
  /** Whether an operation only asks the user to sign in. Default: none does. */
  readonly isSignIn?: (operation: string, signal: AbortSignal | undefined) => Promise<boolean>;
  /** Undefined if there is no terminal. */
  readonly terminal: TerminalTurns | undefined;
}

/** Users do not read more than this before saying yes; they can ask for the rest. */
const MAX_SHOWN_CHARS = 4000;

const NOBODY =
  "It may change things, which needs the user's approval, and there is no terminal to ask on. Tell the user what you would have done.";

export function createApprover(context: CommandContext, options: ApprovalOptions): Approver {
  const { yes, allow, servers = [], mustAsk, terminal } = options;
  const ask = terminal === undefined ? refuseAloud(context) : askAtTerminal(context, terminal, mustAsk);
  const { isSignIn = async () => false } = options;
  const askOrSignIn: Approver = async (call, asked) => {
    const names = operationsOf(call.tool, call.args) ?? [call.tool.title];
    for (const name of names) if (!(await isSignIn(name, asked.signal))) return await ask(call, asked);
    // Without a terminal nothing happens: the call fails and says how to sign in.
    return terminal === undefined ? { allowed: true } : await askToLeave(context, { terminal, names, asked });
  };
  const usual = yes ? approveAll : allowedOr({ globs: allow, servers }, askOrSignIn);
  return (call, asked) => (mustAsk.has(call.tool.title) ? askOrSignIn : usual)(call, asked);
}

/** Asks before a sign-in that the model wants. The sign-in itself then shows its page. */
async function askToLeave(
  context: CommandContext,
  { terminal, names, asked }: { terminal: TerminalTurns; names: readonly string[]; asked: { signal?: AbortSignal } },
): Promise<Approval> {
  return await terminal.take(async () => {
    const ending = asked.signal === undefined ? context.signal : AbortSignal.any([context.signal, asked.signal]);
    ending.throwIfAborted();
    using prompt = new TerminalPrompt(context, ending);
    const servers = names.map((name) => `"${printable(name.replace(/\.[^.]*$/, ""))}"`).join(" and ");
    prompt.say(`The model wants to use ${servers}, which needs you to sign in.`);
    const word = await askWord(prompt, "Open the sign-in page?", { yes: /^y(es)?$/i, no: /^no?$/i });
    if (word === "yes") return { allowed: true };
    passOnInterrupt(context, prompt, ending);
    return {
      allowed: false,
      reason: word === "no" ? "The user does not want to sign in." : "The user did not answer.",
    };
  });
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
function allowedOr(
  { globs, servers }: { globs: readonly string[]; servers: readonly string[] },
  otherwise: Approver,
): Approver {
  const byTool = allowList(globs, otherwise);
  return async (call, options) => {
    const operations = operationsOf(call.tool, call.args);
    const names = operations ?? [call.tool.title];
    if (names.some((name) => ownersOf(name, servers).length > 1)) return await otherwise(call, options);
    if (operations !== undefined && operations.length > 0 && operations.every((name) => matchesAny(globs, name))) {
      return { allowed: true };
    }
    return await byTool(call, options);
  };
}

function matchesAny(globs: readonly string[], name: string): boolean {
  return globs.some((glob) => matchesGlob(glob, name));
}

/**
 * Returns the operations a composite tool would run; undefined for an ordinary tool. The arguments are canonical (see
 * `Tool.canonical`): the very object that runs.
 */
function operationsOf({ title }: Pick<Tool, "title">, args: Readonly<Record<string, unknown>>): string[] | undefined {
  if (title === "session") return [`session ${String(args.action)}`];
  return title === "execute" ? stepsOf(args).map(({ op }) => op) : undefined;
}

interface ShownStep {
  readonly op: string;
  readonly params: unknown;
  readonly as?: string;
}

function stepsOf({ operations }: Readonly<Record<string, unknown>>): readonly ShownStep[] {
  const steps: readonly unknown[] = Array.isArray(operations) ? operations : [operations];
  return steps.map((step) => {
    if (!isRecord(step) || typeof step.op !== "string") {
      throw new TrunklineError("INTERNAL", "A batch reached the approval prompt before it was parsed.");
    }
    return { op: step.op, params: step.params, ...(typeof step.as === "string" ? { as: step.as } : {}) };
  });
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
      let isWhole = false;
      let word: "yes" | "no" | "always" | "show" | undefined = "show";
      while (word === "show") {
        const lines = await describeCall(tool, args, isWhole);
        for (const line of lines) prompt.say(line);
        isWhole ||= !lines.some((line) => line.includes(LEFT_OUT));
        const words = {
          yes: /^y(es)?$/i,
          no: /^no?$/i,
          ...(eachTime ? {} : { always: /^a(lways)?$/i }),
          ...(isWhole ? {} : { show: /^s(how)?$/i }),
        } as const;
        word = await askWord(prompt, isWhole ? "Run it?" : "Run it? Show prints all of it.", words);
        isWhole = true;
      }
      if (word === "always") for (const name of names) always.add(name);
      if (word === "yes" || word === "always") return { allowed: true };
      passOnInterrupt(context, prompt, ending);
      return { allowed: false, reason: word === "no" ? "The user said no." : "The user did not answer." };
    });
  };
}

/** Treats Ctrl-C at a question like any other: it ends the turn or the command, not just the question. */
function passOnInterrupt({ interrupts }: CommandContext, prompt: TerminalPrompt, ending: AbortSignal): void {
  if (prompt.ending !== "interrupted") return;
  interrupts.raise();
  ending.throwIfAborted();
}

/** Describes the call for the user to judge. The arguments come from the model. */
async function describeCall(
  tool: Tool,
  args: Readonly<Record<string, unknown>>,
  isWhole: boolean,
): Promise<readonly string[]> {
  const shown = (value: unknown) => shorten(printable(JSON.stringify(value) ?? ""), isWhole);
  if (tool.title !== "execute") {
    return [`${printable(tool.title)} may change things. It would be called with`, `  ${shown(args)}`];
  }
  const steps = stepsOf(args);
  const { describeSources } = await import("@trunkline/gateway");
  const { operations: _, ...flags } = args;
  return [
    "execute may change things. It would run",
    ...steps.flatMap(({ op, params, as }, index) => [
      `  ${printable(op)} ${shown(params)}${as === undefined ? "" : ` as ${printable(as)}`}`,
      ...describeSources(steps, index).map((source) => `    ${printable(source)}`),
    ]),
    ...(Object.keys(flags).length > 0 ? [`  with ${shown(flags)}`] : []),
  ];
}

const LEFT_OUT = "more characters …";

/** Shows the start and the end: text in the middle can be left out visibly, but a tail cannot hide behind it. */
function shorten(text: string, isWhole: boolean): string {
  if (isWhole || text.length <= MAX_SHOWN_CHARS) return text;
  const [head, tail] = [text.slice(0, MAX_SHOWN_CHARS / 2), text.slice(-MAX_SHOWN_CHARS / 2)];
  return `${head}… ${text.length - MAX_SHOWN_CHARS} ${LEFT_OUT}${tail}`;
}
