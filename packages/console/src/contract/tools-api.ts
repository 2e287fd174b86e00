/** A JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** A tool of a server, as a line in a list: short, because there may be ten thousand. */
export interface ToolRow {
  readonly server: string;
  readonly tool: string;
  /** `<server>.<tool>`. */
  readonly name: string;
  readonly title?: string;
  /** The first line of its description. */
  readonly summary: string;
  /** `(a: number, b?: string)`. */
  readonly signature: string;
  /** It says that it changes nothing. */
  readonly isReadOnly?: boolean;
  /** It says that it may destroy something. */
  readonly isDestructive?: boolean;
  /** What its definition costs a model, in tokens. Absent until it has been counted. */
  readonly tokens?: number;
  /** Why it cannot be called: it is held, or the policy denies it. */
  readonly blocked?: string;
  /** Its server is not connected: this is what it listed last. A call connects it. */
  readonly isRemembered?: boolean;
}

/** Everything that a server says about a tool. */
export interface ToolDefinition extends ToolRow {
  readonly description: string;
  readonly inputSchema: Json;
  readonly outputSchema?: Json;
  readonly annotations?: Json;
}

export interface ToolList {
  readonly tools: readonly ToolRow[];
  /** About the search: it was by words only, for example. */
  readonly note?: string;
  /** Servers that are being connected for the first time. Their tools follow. */
  readonly connecting: readonly string[];
}

/** The result of a tool as the protocol defines it, with blocks of content. */
export interface ToolAnswer {
  readonly content: readonly Json[];
  readonly structured?: Json;
  readonly isError: boolean;
  readonly durationMs: number;
  /** What was left out because it is too large for a page. */
  readonly note?: string;
}

/** The result of one step of `query` or `execute`. */
export interface OperationAnswer {
  readonly result?: Json;
  /** Why the operation failed. */
  readonly error?: { readonly code: string; readonly message: string; readonly hint?: string };
  readonly durationMs: number;
}
