// Questions that Trunkline itself asks the user through a client: whether an operation may run, and whether it may use
// a file. Clients that cannot ask get a refusal whose hint names the setting.
import { isRecord, isTrunklineError, printable, TrunklineError } from "@trunkline/core";
import type { Exchange } from "../interfaces/exchange.js";
import type { Operation, OperationContext, Params } from "../interfaces/operation.js";

/** How long an answer counts. */
export type Decision = "once" | "session" | "always" | "no";

interface UserQuestion {
  readonly context: Pick<OperationContext, "exchange" | "signal">;
  /** The operation that needs the answer. */
  readonly operation: string;
  /** The upstream server whose tool it is; absent for our own operations. */
  readonly server?: string | undefined;
  readonly message: string;
  /** The only field of the form. */
  readonly field: { readonly name: string; readonly schema: Readonly<Record<string, unknown>> };
}

/** Whether the client can show a form to its user. */
export function canAsk({ channel }: Exchange): boolean {
  return channel.ask !== undefined && channel.abilities?.elicitation?.form !== undefined;
}

/** Throws unless the user approves this run of an operation. */
export async function approveOperation(operation: Operation, params: Params, context: OperationContext): Promise<void> {
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
    message: `Allow ${printable(operation.name)} to run? ${shownParams(params)}`,
    field: { name: "run", schema },
  });
  if (answer === true) return;
  throw new TrunklineError("DENIED", `The user did not allow ${operation.name}.`, {
    hint: "Do something else, or ask the user what to do.",
  });
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

const LONGEST_VALUE = 200;
const LONGEST_MESSAGE = 2000;
const SECRET_NAME = /token|secret|passw|credential|authori[sz]ation|cookie|api_?-?key|private_?-?key/i;

/**
 * Formats the arguments for the user to review: on one line and quoted, so that nothing in them looks like part of the
 * question, and shortened, with likely secrets masked.
 */
function shownParams(params: Params): string {
  const shown: string[] = [];
  let length = 0;
  const given = Object.entries(params).filter(([, value]) => value !== undefined);
  for (const [name, value] of given) {
    const text = `${shortened(quoted(name))}: ${SECRET_NAME.test(name) ? "***" : shortened(quoted(value))}`;
    length += text.length;
    if (length > LONGEST_MESSAGE) break;
    shown.push(text);
  }
  if (given.length === 0) return "It has no arguments.";
  const more = given.length - shown.length;
  return `Its arguments: {${shown.join(", ")}}${more === 0 ? "" : ` and ${more} more not shown`}`;
}

function quoted(value: unknown): string {
  return printable(JSON.stringify(value, (name, inner: unknown) => (SECRET_NAME.test(name) ? "***" : inner)) ?? "null");
}

function shortened(text: string): string {
  if (text.length <= LONGEST_VALUE) return text;
  const head = [...text.slice(0, LONGEST_VALUE * 2)].slice(0, LONGEST_VALUE).join("");
  return `${head}…${text.startsWith('"') ? '"' : ""} (${text.length} characters)`;
}
