import type { Message, Model, ModelEvent, ModelRequest } from "@trunkline/agent";
import { textMessage } from "@trunkline/agent";
import { TrunklineError } from "@trunkline/core";

export async function eventsOf(
  model: Model,
  request: Partial<ModelRequest> & { prompt?: string } = {},
): Promise<ModelEvent[]> {
  const { prompt = "hi", ...rest } = request;
  const events: ModelEvent[] = [];
  for await (const event of model.stream({ messages: [textMessage("user", prompt)], ...rest })) events.push(event);
  return events;
}

/** Joins the text of all events, without text that a restart discarded. */
export function textOf(events: readonly ModelEvent[]): string {
  let text = "";
  for (const event of events) {
    if (event.type === "text") text += event.text;
    if (event.type === "restart") text = "";
  }
  return text;
}

/** Returns the error a promise rejects with. */
export async function errorOf(promise: Promise<unknown>): Promise<TrunklineError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof TrunklineError) return error;
    throw error;
  }
  throw new Error("It did not fail.");
}

export function user(text: string): Message {
  return textMessage("user", text);
}
