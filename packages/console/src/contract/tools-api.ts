/** A JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** A tool of a server, as a line in a list: short, because there may be ten thousand. */
export interface ToolRow {
  readonly server: string;
  readonly tool: string;
  /** `<server>.<tool>`. */
  readonly name: string;
  readonly title?: string | undefined;
  /** The first line of its description. */
  readonly summary: string;
  /** `(a: number, b?: string)`. */
  readonly signature: string;
  /** It says that it changes nothing. */
  readonly isReadOnly?: boolean | undefined;
  /** It says that it may destroy something. */
  readonly isDestructive?: boolean | undefined;
  /** What its definition costs a model, in tokens. Absent until it has been counted. */
  readonly tokens?: number | undefined;
  /** Why it cannot be called: it is held, or the policy denies it. */
  readonly blocked?: string | undefined;
  /** Its server is not connected: this is what it listed last. A call connects it. */
  readonly isRemembered?: boolean | undefined;
}

/** Everything that a server says about a tool. */
export interface ToolDefinition extends ToolRow {
  readonly description: string;
  readonly inputSchema: Json;
  readonly outputSchema?: Json | undefined;
  readonly annotations?: Json | undefined;
}

export interface ToolList {
  readonly tools: readonly ToolRow[];
  /** About the search: it was by words only, for example. */
  readonly note?: string | undefined;
  /** Servers that are being connected for the first time. Their tools follow. */
  readonly connecting: readonly string[];
}

/** The result of a tool as the protocol defines it, with blocks of content. */
export interface ToolAnswer {
  readonly content: readonly Json[];
  readonly structured?: Json | undefined;
  readonly isError: boolean;
  readonly durationMs: number;
  /** What was left out because it is too large for a page. */
  readonly note?: string | undefined;
}

/** The result of one step of `query` or `execute`. */
export interface OperationAnswer {
  readonly result?: Json | undefined;
  /** Why the operation failed. */
  readonly error?: { readonly code: string; readonly message: string; readonly hint?: string | undefined } | undefined;
  readonly durationMs: number;
}
