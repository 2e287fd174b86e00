// Makes conversations acceptable to providers: every call needs a result.
import type { Message, MessagePart } from "../model/model.js";

const NEVER_RAN = "This call was interrupted; it may or may not have taken effect.";

/** Adds a result for every call without one. An interrupted run leaves such calls behind. */
export function closeOpenCalls(messages: readonly Message[]): Message[] {
  const closed: Message[] = [];
  messages.forEach((message, index) => {
    closed.push(message);
    if (message.role !== "assistant") return;
    const calls = message.parts.filter((part) => part.type === "tool-call");
    const next = messages[index + 1];
    const answered = new Set(
      (next?.role === "tool" ? next.parts : []).map((part) => (part.type === "tool-result" ? part.id : "")),
    );
    const open = calls.filter(({ id }) => !answered.has(id));
    if (open.length === 0) return;
    const results = open.map(
      ({ id, name }): MessagePart => ({ type: "tool-result", id, name, text: NEVER_RAN, isError: true }),
    );
    closed.push({ role: "tool", parts: results });
  });
  return mergedTools(closed);
}

/** Merges consecutive result messages. */
function mergedTools(messages: readonly Message[]): Message[] {
  const merged: Message[] = [];
  for (const message of messages) {
    const last = merged.at(-1);
    if (message.role === "tool" && last?.role === "tool") {
      merged[merged.length - 1] = { role: "tool", parts: [...last.parts, ...message.parts] };
    } else merged.push(message);
  }
  return merged;
}

export function messageText(message: Message): string {
  return message.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}

export function textMessage(role: Message["role"], text: string): Message {
  return { role, parts: [{ type: "text", text }] };
}
