// The port to a model: messages in, a stream of events out. Providers implement it; loops, records and scripts know nothing
// else. What a model says wrong is data; what keeps it from answering is a rejection.

/** What a model says, and what it thinks before. */
type Words =
  | { readonly type: "text"; readonly text: string; readonly providerData?: unknown }
  | { readonly type: "reasoning"; readonly text: string; readonly providerData?: unknown };

/** A model wants a tool to be called. */
interface ToolCall {
  readonly type: "tool-call";
  readonly id: string;
  readonly name: string;
  readonly args: unknown;
  readonly providerData?: unknown;
}

/** One piece of a message. */
export type MessagePart =
  | Words
  /** An image, in base64 without a prefix. */
  | { readonly type: "image"; readonly data: string; readonly mediaType: string }
  | ToolCall
  | {
      readonly type: "tool-result";
      readonly id: string;
      readonly name: string;
      readonly text: string;
      readonly images?: readonly { readonly data: string; readonly mediaType: string }[];
      readonly isError?: boolean;
    };

/** One message of a conversation. */
export interface Message {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly parts: readonly MessagePart[];
}

/** A tool as a model is told of it. */
export interface ModelTool {
  /** The wire name: `^[A-Za-z0-9_-]{1,64}$`. */
  readonly name: string;
  /** The name for people. No provider is told; a script of the echo provider may use it. */
  readonly title?: string | undefined;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

/** What a model is asked. */
export interface ModelRequest {
  readonly messages: readonly Message[];
  readonly tools?: readonly ModelTool[] | undefined;
  /** `none`: the tools are there because earlier messages speak of them, and must not be called now. Default `auto`. */
  readonly toolChoice?: "auto" | "none" | undefined;
  /** The answer has to be JSON; with a schema, of that shape. */
  readonly format?:
    | { readonly type: "json"; readonly schema?: Readonly<Record<string, unknown>> | undefined }
    | undefined;
  /** Let the model think first, where it can. */
  readonly think?: boolean | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What a turn cost, as far as the provider tells. */
export interface TokenUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens?: number | undefined;
  readonly reasoningTokens?: number | undefined;
}

/** Why a turn ended. */
export type FinishReason = "stop" | "tool-calls" | "length" | "content-filter" | "other";

/** What comes while a model answers, in order; `finish` is the last one, always. */
export type ModelEvent =
  /** An event with `providerData`, of text or of reasoning, ends a piece of it: what follows is another one. */
  | Words
  /** Whole, however many pieces it came in. `args` is what could be parsed; `raw` is there where it could not. */
  | (ToolCall & { readonly raw?: string })
  /** What was said so far, if anything, is void: the turn begins anew (a rate limit, a dropped stream, tried again). */
  | { readonly type: "restart"; readonly reason: string }
  | { readonly type: "finish"; readonly reason: FinishReason; readonly usage?: TokenUsage | undefined };

/** A model at some provider. */
export interface Model {
  readonly provider: string;
  readonly id: string;
  /**
   * One turn. Rejects with a `TrunklineError`: `AUTH_REQUIRED` for a missing or refused key, `CONNECTION_FAILED`, `TIMEOUT`,
   * `UPSTREAM` for what the provider refuses, `INVALID_ARGUMENT` for a request it can never take, `ABORTED`.
   */
  stream(request: ModelRequest): AsyncIterable<ModelEvent>;
}
