// The shapes that configuration is read into. Every dialect ends here; nothing after this knows which one it was.

/** Where an entry came from. An `explicit` file was named by the user for this run. */
export type ConfigScope = "explicit" | "project" | "user";

/** What all servers have, whatever their transport. */
export interface ServerCommon {
  /** The key in the configuration file. */
  readonly name: string;
  readonly scope: ConfigScope;
  /** The file the entry stands in. */
  readonly file: string;
  readonly disabled: boolean;
  /** How long connecting may take. */
  readonly connectTimeoutMs: number;
  /** How long a call may go without an answer or progress. */
  readonly callTimeoutMs: number;
}

/** A server that is a program on this machine. */
export interface StdioServer extends ServerCommon {
  readonly type: "stdio";
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** A server that is reached over HTTP. */
export interface HttpServer extends ServerCommon {
  readonly type: "http";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** One server of the effective configuration. */
export type ServerDefinition = StdioServer | HttpServer;

/** Something about a configuration file that its owner should know. */
export interface Diagnostic {
  readonly severity: "error" | "warning" | "note";
  readonly message: string;
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
  readonly server?: string;
  readonly field?: string;
}

/** The effective configuration: what {@link openHub} needs. */
export interface LoadedConfig {
  /** The file that was used, or the one that was looked for first. */
  readonly path: string;
  readonly exists: boolean;
  readonly servers: readonly ServerDefinition[];
  readonly diagnostics: readonly Diagnostic[];
  /** Values that must not be shown: what stands under `env` and `headers`. */
  readonly secrets: readonly string[];
}

/** Seconds to connect when an entry says nothing. */
export const DEFAULT_CONNECT_TIMEOUT_MS = 30_000;
/** How long a call may go without an answer or progress when an entry says nothing. */
export const DEFAULT_CALL_TIMEOUT_MS = 60_000;
