// What the dialects of the scripted model have in common.

/** A tool call of the model. */
export interface Call {
  /** The name as the request has it; `namespace::name` if it is in a namespace. */
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Source text instead of arguments, for a tool that takes a program. */
  readonly program?: string;
}

/** What the model does in a turn: a call, or a text that ends its work. */
export type Move = Call | string;

/** What the model sees between one call and the next. */
export interface Result {
  readonly text: string;
  readonly images: number;
}

/** A request as the script sees it. */
export interface Turn {
  /** Names of the tools that can be called. */
  readonly tools: readonly string[];
  /** One result for each call so far. */
  readonly results: readonly Result[];
}

/** Marks the place of a call in a conversation. */
export const CALL = Symbol("call");

/** What a dialect reads from a request: the tools, and the conversation as calls and everything after them. */
export interface Conversation {
  readonly tools: readonly string[];
  readonly items: readonly unknown[];
}

export interface Reply {
  readonly type: "application/json" | "text/event-stream";
  readonly text: string;
}

export interface Dialect {
  /** Whether it answers requests to this path. */
  serves(path: string): boolean;
  read(body: Body): Conversation;
  reply(move: Move, request: { readonly path: string; readonly body: Body }): Reply;
}

/** The body of a request. Each dialect knows its own fields. */
export type Body = Readonly<Record<string, unknown>>;

export function turnOf({ tools, items }: Conversation): Turn {
  const calls: unknown[][] = [];
  for (const item of items) {
    if (item === CALL) calls.push([]);
    else calls.at(-1)?.push(item);
  }
  return { tools, results: calls.map((seen) => ({ text: textsIn(seen).join("\n"), images: imagesIn(seen) })) };
}

/** Keys whose values are not text for the model. */
const NO_TEXT = new Set(["data", "id", "call_id", "tool_use_id", "tool_call_id", "type", "role", "url", "image_url"]);

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => (NO_TEXT.has(key) ? [] : textsIn(inner)));
}

const IMAGE_TYPES = new Set<unknown>(["image", "input_image", "image_url"]);

function imagesIn(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  if ("inlineData" in value || ("type" in value && IMAGE_TYPES.has(value.type))) return 1;
  return Object.values(value).reduce((sum: number, inner) => sum + imagesIn(inner), 0);
}

let count = 0;

export function newId(prefix: string): string {
  count += 1;
  return `${prefix}_${String(count).padStart(8, "0")}`;
}

export function json(value: unknown): Reply {
  return { type: "application/json", text: JSON.stringify(value) };
}

/** An event stream; each event has its `type` as its name, if it has one. */
export function events(list: readonly object[]): Reply {
  const lines = list.map((event) => {
    const name = "type" in event ? `event: ${event.type}\n` : "";
    return `${name}data: ${JSON.stringify(event)}\n\n`;
  });
  return { type: "text/event-stream", text: lines.join("") };
}
