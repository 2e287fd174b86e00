// Puts a server's question to a channel and turns the answer into what the protocol wants.
import { ProtocolError } from "@modelcontextprotocol/client";
import { abortable, type Logger, messageOf } from "@trunkline/core";
import { RPC_CODES } from "@trunkline/protocol";
import type { Channel, Elicitation, QuestionContext } from "./channel.js";

/** A question as it came. */
export interface Question {
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>> | undefined;
}

/** The code that the specification's own example gives for a refused sampling request. */
const REFUSED_CODE = -1;

/**
 * The answer of a channel. What it cannot or will not answer is declined: an elicitation as the protocol has it, sampling
 * and roots with an error that says why.
 */
export async function answerQuestion(
  channel: Channel | undefined,
  question: Question,
  context: QuestionContext & { logger: Logger },
): Promise<Record<string, unknown>> {
  const { logger, ...asked } = context;
  const { method, params = {} } = question;
  const from = { server: context.server, method, channel: channel?.name };
  try {
    switch (method) {
      case "elicitation/create": {
        const elicitation = readElicitation(params);
        if (elicitation === undefined || !canShow(channel, elicitation.mode)) return { action: "decline" };
        const { action, content } = await abortable(
          context.signal,
          (channel as Required<Channel>).elicit(elicitation, asked),
        );
        if (action !== "accept" || elicitation.mode !== "form") return { action };
        return { action, content: { ...defaultsOf(elicitation.requestedSchema), ...content } };
      }
      case "sampling/createMessage":
        if (channel?.sample === undefined) throw refusal("Nobody here can sample from a model.");
        return { ...(await abortable(context.signal, channel.sample(params, asked))) };
      case "roots/list":
        if (channel?.roots === undefined) throw refusal("There are no roots.");
        return { roots: await abortable(context.signal, channel.roots(asked)) };
      default:
        throw new ProtocolError(RPC_CODES.methodNotFound, `Method not found: ${method}`);
    }
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    logger.warn("a question was not answered", { ...from, error: messageOf(error) });
    if (method === "elicitation/create") return { action: "cancel" };
    throw refusal("The question was not answered.");
  }
}

/** The answer where there is nobody to ask, or no telling whom. */
export function declinedAnswer(method: string): Record<string, unknown> {
  if (method === "elicitation/create") return { action: "decline" };
  throw refusal("Nobody can be asked now.");
}

function readElicitation(params: Readonly<Record<string, unknown>>): Elicitation | undefined {
  const message = typeof params.message === "string" ? params.message : "";
  if (params.mode === "url") {
    if (typeof params.url !== "string") return undefined;
    const id = params.elicitationId;
    return {
      mode: "url",
      message,
      url: params.url,
      raw: params,
      ...(typeof id === "string" ? { elicitationId: id } : {}),
    };
  }
  const schema = params.requestedSchema;
  if (typeof schema !== "object" || schema === null) return undefined;
  return { mode: "form", message, requestedSchema: { ...schema }, raw: params };
}

/** What a form's fields hold when nobody touches them. */
function defaultsOf(schema: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const fields = Object.entries((schema.properties ?? {}) as Record<string, { default?: unknown } | undefined>);
  return Object.fromEntries(
    fields.flatMap(([name, field]) => (field?.default === undefined ? [] : [[name, field.default]])),
  );
}

function canShow(channel: Channel | undefined, mode: "form" | "url"): boolean {
  return channel?.elicit !== undefined && (channel.elicitationModes ?? ["form", "url"]).includes(mode);
}

function refusal(message: string): ProtocolError {
  return new ProtocolError(REFUSED_CODE, message);
}
