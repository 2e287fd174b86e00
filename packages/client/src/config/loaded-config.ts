// The shapes that configuration is read into. Every dialect ends here; nothing after this knows which one it was.
import type { ConfigSettings } from "./settings.js";

/** Where an entry came from. An `explicit` file was named by the user for this run. */
export type ConfigScope = "explicit" | "project" | "user";

/** The key that holds the servers tells the dialects apart. */
export type Dialect = "servers" | "mcpServers" | "metadata.mcp";

/** Which tools of a server are used: globs over its tool names. What is denied stays out even where it is allowed. */
export interface ToolFilter {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
}

/** Where an entry stands. */
export interface EntryOrigin {
  readonly file: string;
  readonly scope: ConfigScope;
  readonly dialect: Dialect;
}

/** What an entry says about a server whatever its transport, and nothing has to be expanded for. */
export interface EntrySettings {
  readonly disabled: boolean;
  /** Connect at the first use instead of at once. */
  readonly lazy: boolean;
  /** How long connecting may take. */
  readonly connectTimeoutMs: number;
  /** How long a call may go without an answer or progress. */
  readonly callTimeoutMs: number;
  readonly tools?: ToolFilter;
  /** False: the server never asks back during a call, so that its calls need not wait for one another. */
  readonly asks?: boolean;
  /** Tools that only read although the server does not declare it: globs over its tool names. */
  readonly readOnly?: readonly string[];
}

/** What all servers have, whatever their transport. Every value is expanded already. */
interface ServerCommon extends EntryOrigin, EntrySettings {
  /** The key in the configuration file. */
  readonly name: string;
  /** The line the entry starts at. */
  readonly line?: number;
  /** False for an entry of a project's file that nobody has confirmed: it is shown, and not started. */
  readonly trusted: boolean;
  /** Variables that the entry refers to and that are not set: the likely cause when it does not work. */
  readonly unset?: readonly string[];
  /** Why the entry cannot be started although it is well formed, for example an input that nobody could be asked for. */
  readonly unusable?: { readonly message: string; readonly hint?: string };
  /**
   * Present where values are looked up when the server is launched (`\${NAME}` in a skill): the definition with them
   * filled in, the names that are not set, and the values that must not be shown.
   */
  readonly atLaunch?: () => { definition: ServerDefinition; missing: readonly string[]; secrets: readonly string[] };
}

/** A server that is a program on this machine. */
export interface StdioServer extends ServerCommon {
  readonly type: "stdio";
  readonly command: string;
  readonly args: readonly string[];
  /** The entry's own variables, those of its `envFile` included. */
  readonly env: Readonly<Record<string, string>>;
  readonly envFile?: string;
  readonly cwd?: string;
}

/** A server that is reached over the network: `http` tries Streamable HTTP first, `sse` the older HTTP+SSE. */
export interface HttpServer extends ServerCommon {
  readonly type: "http" | "sse";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** How to sign in, where the entry says something about it. */
  readonly auth?: AuthSettings;
}

/** What an entry says about signing in: `auth`, or `oauth` as other programs call it. */
export interface AuthSettings {
  /** `authorization_code`: a person signs in. `client_credentials`: this program does, as itself. */
  readonly grant: "authorization_code" | "client_credentials";
  /** The client registered by hand, or the address of a client-id metadata document. */
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** The private key (PEM) of a client that signs instead of having a secret, and its algorithm. */
  readonly privateKey?: string;
  readonly algorithm?: string;
  /** What to ask for, in place of what the server suggests. */
  readonly scope?: string;
  /** The redirect address registered by hand; it must be on this machine. */
  readonly redirectUri?: string;
  /** The one authorization server that the client belongs to. */
  readonly issuer?: string;
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
  /** Said by every command, not only by `doctor`: the project's entry is used in place of the user's own. */
  readonly shadowing?: true;
}

/** An entry that could not be read; the diagnostics say why. */
export interface RejectedServer {
  readonly name: string;
  readonly scope: ConfigScope;
  readonly file: string;
  readonly type?: string;
}

/** One file that was looked at. */
export interface ConfigFile {
  readonly path: string;
  readonly scope: ConfigScope;
  readonly exists: boolean;
  /** Why a file that is there says nothing: what it is taken to say is in its diagnostics. */
  readonly unusable?: string;
  readonly dialect?: Dialect;
  /** What the file would run, as the trust in it is kept: names, commands, args, urls, names of env and headers. Never values. */
  readonly fingerprint?: string;
  /** One line for each server, for a person to confirm: what would be run or reached. Unexpanded, so without secrets. */
  readonly wouldRun: readonly { readonly name: string; readonly what: string }[];
}

/** The effective configuration: what {@link openHub} needs. */
export interface LoadedConfig {
  /** The file that gave the servers, or the one that would be looked for first. */
  readonly path: string;
  readonly exists: boolean;
  /** Every file that was looked at, the strongest first. */
  readonly files: readonly ConfigFile[];
  /** What `${workspaceFolder}` stands for. */
  readonly workspaceFolder: string;
  readonly servers: readonly ServerDefinition[];
  readonly rejected: readonly RejectedServer[];
  /** What the files set besides servers. Absent in a configuration that no file gave. */
  readonly settings?: ConfigSettings;
  readonly diagnostics: readonly Diagnostic[];
  /** Values that must not be shown: what came from headers, env, envFile, variables and inputs. */
  readonly secrets: readonly string[];
}

/** How long connecting may take when an entry says nothing. */
export const DEFAULT_CONNECT_TIMEOUT_MS = 30_000;
/** How long a call may go without an answer or progress when an entry says nothing. */
export const DEFAULT_CALL_TIMEOUT_MS = 60_000;
