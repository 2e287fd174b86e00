// Validates messages read from a file.
import { z } from "zod";
import type { Message } from "./model.js";

const image = z.object({ data: z.string(), mediaType: z.string() });

const part = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string(), providerData: z.unknown().optional() }),
  z.object({ type: z.literal("image"), data: z.string(), mediaType: z.string() }),
  z.object({ type: z.literal("reasoning"), text: z.string(), providerData: z.unknown().optional() }),
  z.object({
    type: z.literal("tool-call"),
    id: z.string(),
    name: z.string(),
    args: z.unknown(),
    providerData: z.unknown().optional(),
  }),
  z.object({
    type: z.literal("tool-result"),
    id: z.string(),
    name: z.string(),
    text: z.string(),
    images: z.array(image).optional(),
    isError: z.boolean().optional(),
  }),
]);

const message = z.object({ role: z.enum(["system", "user", "assistant", "tool"]), parts: z.array(part) });

/** Returns the value as a message, or undefined if it is not one. */
export function toMessage(value: unknown): Message | undefined {
  const parsed = message.safeParse(value);
  // Absent optional keys stay absent: zod's type says "or undefined", the value does not.
  return parsed.success ? (parsed.data as Message) : undefined;
}
