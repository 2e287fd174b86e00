// Questions that Trunkline itself asks the user through a client: whether an operation may run, and whether it may use
// a file. Clients that cannot ask get a refusal whose hint names the setting.
import { isRecord, isTrunklineError, printable, TrunklineError } from "@trunkline/core";
import type { Exchange } from "../interfaces/exchange.js";
import type { Operation, OperationContext, Params } from "../interfaces/operation.js";
import { MOST_SHOWN_CHARS, type Redact, shownArguments } from "./shown-arguments.js";

/** How long an answer counts. */
export type Decision = "once" | "session" | "always" | "no";

interface UserQuestion {
  readonly context: Pick<OperationContext, "exchange" | "signal">;
  /** The operation that needs the answer. */
  readonly operation: string;
  /** The upstream server whose tool it is; absent for our own operations. */
  readonly server?: string;
  readonly message: string;
  /** The only field of the form. */
  readonly field: { readonly name: string; readonly schema: Readonly<Record<string, unknown>> };
}

/** Whether the client can show a form to its user. */
export function canAsk({ channel }: Exchange): boolean {
  return channel.ask !== undefined && channel.abilities?.elicitation?.form !== undefined;
}

/** Who asks for an approval, and what the question must not show. */
interface Approving extends Pick<OperationContext, "exchange" | "signal"> {
  /** Default: nothing is secret. */
  readonly redact?: Redact;
}

/** Throws unless the user approves this run of an operation. */
export async function approveOperation(
  operation: Operation,
  params: Params,
  { redact = (text) => text, ...context }: Approving,
): Promise<void> {
  if (!canAsk(context.exchange)) {
    throw new TrunklineError(
      "DENIED",
      `${operation.name} requires approval each time, but this client cannot ask the user.`,
      {
        hint: "Use a client that supports elicitation, or allow the operation in the policy of your own configuration.",
      },
    );
  }
  const schema = { type: "boolean", title: "Run it", description: aboutOperation(operation), default: false };
  const answer = await askUser({
    context,
    operation: operation.name,
    server: operation.server,
    message: `Allow ${printable(operation.name)} to run? ${saidOf(operation, params, redact)}`,
    field: { name: "run", schema },
  });
  if (answer === true) return;
  throw new TrunklineError("DENIED", `The user did not allow ${operation.name}.`, {
    hint: "Do something else, or ask the user what to do.",
  });
}

/** Throws if a person could not see all of the arguments. */
function saidOf({ name, schema }: Operation, params: Params, redact: Redact): string {
  if (Object.keys(params).length === 0) return "It has no arguments.";
  const shown = shownArguments(params, { schema, redact });
  if (shown !== undefined) return `Its arguments: ${shown}`;
  throw new TrunklineError(
    "DENIED",
    `${name} requires approval each time, but its arguments are too long to show: over ${MOST_SHOWN_CHARS.toLocaleString("en-US")} characters.`,
    { hint: "Call it with fewer arguments, or allow the operation in the policy of your own configuration." },
  );
}

/** Whether the user accepts a changed definition. The message is made of clauses that may quote the server. */
export async function acceptsDefinition(
  { name, server, reasons }: { name: string; server: string; reasons: readonly string[] },
  context: Pick<OperationContext, "exchange" | "signal">,
): Promise<boolean> {
  const why = shortened(printable(reasons.join("; ")));
  const answer = await askUser({
    context,
    operation: name,
    server,
    message: `${printable(name)} was held back, because ${why}. Use it anyway, now and later?`,
    field: { name: "accept", schema: { type: "boolean", title: "Accept the new definition", default: false } },
  });
  return answer === true;
}

/** A server's own words about its tool are quoted, so that they do not pass for ours. */
function aboutOperation({ summary, server }: Operation): string {
  return server === undefined ? printable(summary) : `${printable(server)} describes it as: "${printable(summary)}"`;
}

/** Asks whether something is allowed, and for how long. `offered` lists the answers besides "no". */
export async function askDecision(
  question: Omit<UserQuestion, "field">,
  offered: readonly Exclude<Decision, "no">[],
): Promise<Decision> {
  const values: readonly Decision[] = ["no", ...offered];
  const schema = {
    type: "string",
    title: "Allow it",
    enum: values,
    enumNames: values.map((value) => DECISION_TITLES[value]),
    default: "no",
  };
  const answer = await askUser({ ...question, field: { name: "allow", schema } });
  return values.find((value) => value === answer) ?? "no";
}

const DECISION_TITLES: Readonly<Record<Decision, string>> = {
  no: "No",
  once: "Yes, this time",
  session: "Yes, until this client disconnects",
  always: "Yes, always (saved in your settings)",
};

/** Returns the value of the field; undefined if the user declines. */
async function askUser({ context, operation, server, message, field }: UserQuestion): Promise<unknown> {
  const { exchange, signal } = context;
  const requestedSchema = { type: "object", properties: { [field.name]: field.schema }, required: [field.name] };
  const asking = exchange.channel.ask?.(
    { method: "elicitation/create", params: { mode: "form", message: `Trunkline asks: ${message}`, requestedSchema } },
    { server: server ?? "trunkline", isOwn: true, tool: operation, signal },
  );
  const answer = await asking?.catch((error: unknown) => {
    if (isTrunklineError(error, "ABORTED")) throw error;
    throw new TrunklineError("DENIED", `${operation} requires approval, but the client did not answer.`, {
      cause: error,
    });
  });
  return answer?.action === "accept" && isRecord(answer.content) ? answer.content[field.name] : undefined;
}

const LONGEST_REASONS = 200;

function shortened(text: string): string {
  if (text.length <= LONGEST_REASONS) return text;
  const head = [...text.slice(0, LONGEST_REASONS * 2)].slice(0, LONGEST_REASONS).join("");
  return `${head}… (${text.length} characters)`;
}
