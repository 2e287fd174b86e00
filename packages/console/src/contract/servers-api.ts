/** A server as the page shows it. */
export interface ServerRow {
  readonly name: string;
  readonly state:
    | "connected"
    | "connecting"
    | "idle"
    | "not-connected"
    | "failed"
    | "needs-auth"
    | "untrusted"
    | "disabled"
    | "rejected";
  /** Why it does not work, and what to do next, as `doctor` says it. */
  readonly problem?: { readonly message: string; readonly hint?: string };
  readonly transport: "stdio" | "in-process" | "http" | "sse" | "unknown";
  /** The command line or URL, without secrets. */
  readonly target: string;
  /** `user` or `project`, and the file with its entry. */
  readonly scope: string;
  readonly file: string;
  readonly share?: string;
  /** Why it is not shared, or not with another server of the same name. */
  readonly notShared?: string;
  /** The revision of the protocol. */
  readonly revision?: string;
  readonly serverInfo?: { readonly name: string; readonly version: string };
  readonly tools: number;
  readonly resources: number;
  readonly prompts: number;
  readonly pid?: number;
  readonly memoryBytes?: number;
  /** ISO 8601. */
  readonly connectedAt?: string;
  readonly lastCallAt?: string;
  /** Programs that have called it, such as `cursor in ~/shop`. */
  readonly usedBy: readonly string[];
  /** From the journal of this workspace. */
  readonly calls: number;
  readonly errors: number;
  readonly p50Ms?: number;
  /** The durations of its last calls in milliseconds, oldest first. */
  readonly latencies: readonly number[];
  /** The last lines of its stderr. */
  readonly stderr: readonly string[];
  readonly signIn?: { readonly signedIn: boolean; readonly issuer?: string };
  /** How many of its definitions are held. */
  readonly held: number;
}

export type ServerAction = "connect" | "restart" | "stop" | "enable" | "disable";

/** An entry to add. */
export interface NewServer {
  readonly name: string;
  readonly scope: "user" | "project";
  readonly command?: string;
  readonly args?: readonly string[];
  readonly url?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An entry that was added, or would be. */
export interface AddedServer {
  readonly file: string;
  /** The entry as JSON, with the values of env and headers hidden. */
  readonly entry: string;
  /** What the person should know about it. */
  readonly notes: readonly string[];
}

/** A server that another program has configured. */
export interface ImportRow {
  /** Identifies the entry with everything in it: if it changes, so does the id. */
  readonly id: string;
  readonly name: string;
  readonly program: string;
  readonly file: string;
  /** The command line or URL, without secrets. */
  readonly target: string;
  /** The entry that would be written, as JSON, with the values of env and headers hidden. */
  readonly entry?: string;
  /** The file that it would be written to. */
  readonly goesTo?: string;
  /** What was not imported, or has a slightly different meaning here. */
  readonly notes: readonly string[];
  /** Why it cannot be imported, or that it already is. */
  readonly note?: string;
  readonly canImport: boolean;
}

/** A line of a definition's diff. */
interface DiffLine {
  readonly sign: " " | "+" | "-";
  readonly field: string;
  readonly text: string;
}

/** A tool, prompt or instructions whose definition is held or has changed. */
export interface DefinitionRow {
  readonly id: string;
  readonly server: string;
  readonly kind: "tools" | "prompts" | "instructions";
  readonly name: string;
  readonly change: "new" | "wording" | "held" | "approved";
  /** ISO 8601. */
  readonly at: string;
  readonly reasons: readonly string[];
  readonly diff: readonly DiffLine[];
  /** Identifies the definition that would be approved. Only if it is held. */
  readonly hash?: string;
}
