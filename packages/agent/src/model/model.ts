// The port to a model: messages in, a stream of events out. Providers implement it; loops, recordings and scripts
// depend on nothing else. A bad answer is data; a failure to answer is a rejection.

/** Text and reasoning. */
type Words =
  | { readonly type: "text"; readonly text: string; readonly providerData?: unknown }
  | { readonly type: "reasoning"; readonly text: string; readonly providerData?: unknown };

interface ToolCall {
  readonly type: "tool-call";
  readonly id: string;
  readonly name: string;
  readonly args: unknown;
  readonly providerData?: unknown;
}

export type MessagePart =
  | Words
  /** An image, base64 without a prefix. */
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

export interface Message {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly parts: readonly MessagePart[];
}

/** A tool as described to a model. */
export interface ModelTool {
  /** The wire name: `^[A-Za-z0-9_-]{1,64}$`. */
  readonly name: string;
  /** The display name. Not sent to providers; a script of the echo provider can use it. */
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

export interface ModelRequest {
  readonly messages: readonly Message[];
  readonly tools?: readonly ModelTool[];
  /** `none`: the tools are listed because earlier messages mention them, but must not be called now. Default `auto`. */
  readonly toolChoice?: "auto" | "none";
  /** Ask for a JSON answer, matching the schema if there is one. */
  readonly format?: { readonly type: "json"; readonly schema?: Readonly<Record<string, unknown>> };
  /** Let the model think first, if it can. */
  readonly think?: boolean;
  readonly maxOutputTokens?: number;
  readonly signal?: AbortSignal;
}

/** What a turn cost, if the provider reports it. */
export interface TokenUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens?: number;
  readonly reasoningTokens?: number;
}

export type FinishReason = "stop" | "tool-calls" | "length" | "content-filter" | "other";

/** Events while a model answers, in order; `finish` is always the last. */
export type ModelEvent =
  /** An event with `providerData` ends a piece of text or reasoning; what follows is a new piece. */
  | Words
  /**
   * A complete call, however many pieces it arrived in. `args` holds the parsed arguments; `raw` is set if they could
   * not be parsed.
   */
  | (ToolCall & { readonly raw?: string })
  /** Discards everything said so far: the turn starts over (after a rate limit or a dropped stream). */
  | { readonly type: "restart"; readonly reason: string }
  | { readonly type: "finish"; readonly reason: FinishReason; readonly usage?: TokenUsage };

export interface Model {
  readonly provider: string;
  readonly id: string;
  /**
   * Runs one turn. Rejects with a `TrunklineError`: `AUTH_REQUIRED` for a missing or rejected key, `CONNECTION_FAILED`,
   * `TIMEOUT`, `UPSTREAM` if the provider refuses, `INVALID_ARGUMENT` for a request it can never accept, `ABORTED`.
   */
  stream(request: ModelRequest): AsyncIterable<ModelEvent>;
}
