// Builds a channel from typed answers, for programs that show questions to users: terminals, web pages, bots.
import { isRecord } from "@trunkline/core";
import { type FieldValue, formDefaults, readFormFields } from "@trunkline/core/schema";
import { methodNotFound } from "@trunkline/protocol";
import type { Abilities, Channel, Question, QuestionContext, Root } from "./channel.js";

/** A server asks for data with a form. */
export interface FormElicitation {
  readonly mode: "form";
  readonly message: string;
  /** A flat JSON Schema of the fields. */
  readonly requestedSchema: Readonly<Record<string, unknown>>;
  /** The request as the server sent it. */
  readonly raw: Readonly<Record<string, unknown>>;
}

/** A server asks the user to do something at a URL. */
export interface UrlElicitation {
  readonly mode: "url";
  readonly message: string;
  readonly url: string;
  readonly elicitationId?: string;
  readonly raw: Readonly<Record<string, unknown>>;
}

export type Elicitation = FormElicitation | UrlElicitation;

/** The user's answer. `content` is only for `accept` of a form. */
export interface ElicitationAnswer {
  readonly action: "accept" | "decline" | "cancel";
  readonly content?: Readonly<Record<string, FieldValue>>;
}

/** How a program answers. Omit the questions it cannot answer; they are then not advertised to servers. */
export interface ChannelAnswers extends Omit<Channel, "abilities" | "ask"> {
  /** The elicitation modes the program can show. Default: both. */
  readonly elicitationModes?: readonly Elicitation["mode"][];
  elicit?(elicitation: Elicitation, context: QuestionContext): Promise<ElicitationAnswer>;
  /** Lets a model complete the messages; takes and returns protocol values. */
  sample?(
    params: Readonly<Record<string, unknown>>,
    context: QuestionContext,
  ): Promise<Readonly<Record<string, unknown>>>;
  roots?(context: QuestionContext): Promise<readonly Root[]>;
}

/**
 * Creates a channel from typed answers. Form fields missing from the answer get their defaults.
 *
 * ```ts
 * const channel = createChannel({
 *   elicit: async ({ message }) => (confirm(message) ? { action: "accept" } : { action: "decline" }),
 * });
 * ```
 */
export function createChannel(answers: ChannelAnswers): Channel & Required<Pick<Channel, "abilities" | "ask">> {
  const { elicitationModes, elicit, sample, roots, ...channel } = answers;
  const modes = elicit === undefined ? [] : (elicitationModes ?? ["form", "url"]);
  const abilities: Abilities = {
    ...(modes.length === 0 ? {} : { elicitation: Object.fromEntries(modes.map((mode) => [mode, {}])) }),
    ...(sample === undefined ? {} : { sampling: { tools: {} } }),
    ...(roots === undefined ? {} : { roots: { listChanged: true } }),
  };
  const ask = async ({ method, params = {} }: Question, context: QuestionContext) => {
    if (method === "elicitation/create" && elicit !== undefined) {
      const elicitation = readElicitation(params);
      return elicitation === undefined
        ? { action: "decline" }
        : complete(elicitation, await elicit(elicitation, context));
    }
    if (method === "sampling/createMessage" && sample !== undefined) return await sample(params, context);
    if (method === "roots/list" && roots !== undefined) return { roots: await roots(context) };
    throw methodNotFound(method);
  };
  return { ...channel, abilities, ask };
}

/** Parses the parameters of `elicitation/create`; returns undefined if they are invalid. */
function readElicitation(params: Readonly<Record<string, unknown>>): Elicitation | undefined {
  const message = typeof params.message === "string" ? params.message : "";
  if (params.mode === "url") {
    const { url, elicitationId: id } = params;
    if (typeof url !== "string") return undefined;
    return { mode: "url", message, url, raw: params, ...(typeof id === "string" ? { elicitationId: id } : {}) };
  }
  const { requestedSchema } = params;
  return isRecord(requestedSchema) ? { mode: "form", message, requestedSchema, raw: params } : undefined;
}

function complete(elicitation: Elicitation, { action, content }: ElicitationAnswer): Readonly<Record<string, unknown>> {
  if (action !== "accept" || elicitation.mode !== "form") return { action };
  return { action, content: { ...formDefaults(readFormFields(elicitation.requestedSchema)), ...content } };
}
