// The shapes that all dialects are read into; after this, the dialect no longer matters.
import { Redactor } from "@trunkline/core";
import { DEFAULT_CALL_TIMEOUT_MS, DEFAULT_CONNECT_TIMEOUT_MS, type EntrySettings } from "./entry-fields.js";
import type { SecretReference } from "./secrets/secret-reference.js";
import type { FileSettings } from "./setting-fields.js";
import type { ConfigSettings } from "./settings.js";

/** Where an entry came from. An `explicit` file was named by the user for this run. */
export type ConfigScope = "explicit" | "project" | "user";

/** Dialects are recognised by the key that holds the servers. */
export type Dialect = "servers" | "mcpServers" | "metadata.mcp";

/** Where an entry is defined. */
export interface EntryOrigin {
  readonly file: string;
  readonly scope: ConfigScope;
  readonly dialect: Dialect;
}

/** Common to all servers, whatever their transport. All values are expanded. */
interface ServerCommon extends EntryOrigin, EntrySettings {
  /** The key in the configuration file. */
  readonly name: string;
  /** Identifies what the entry runs or contacts, whatever its variables stand for: a hash. */
  readonly identity?: string;
  /** The line where the entry starts. */
  readonly line?: number;
  /** False for an entry in a project's file that has not been approved: it is listed but not started. */
  readonly trusted: boolean;
  /**
   * Whether the workspace may decide what the server runs: the entry comes from there, or the user approved the
   * workspace for their own servers. Otherwise programs of the workspace are not found.
   */
  readonly trustsWorkspace?: boolean;
  /** Set if the server is `unusable` only because the user has not approved the workspace for it. */
  readonly needsWorkspace?: boolean;
  /** Unset variables the entry refers to: the likely cause if the server fails. */
  readonly unset?: readonly string[];
  /** Why a well-formed entry cannot be started, for example an input that could not be asked for. */
  readonly unusable?: { readonly message: string; readonly hint?: string };
  /** Secrets that the entry refers to and may have, for {@link atLaunch}. Absent if there are none. */
  readonly secretReferences?: readonly SecretReference[];
  /** Labels of the secrets without which the server is `unusable`, because the file was not granted them. */
  readonly needsSecrets?: readonly string[];
  /**
   * Present if values are looked up at launch: secrets, and `\${NAME}` in a skill. Takes the values of the secrets by
   * label. Returns the completed definition, the unset names, and the values that must not be shown.
   */
  readonly atLaunch?: (secrets?: ReadonlyMap<string, string>) => {
    definition: ServerDefinition;
    missing: readonly string[];
    secrets: readonly string[];
  };
}

/** A server that runs as a local program. */
export interface StdioServer extends ServerCommon {
  readonly type: "stdio";
  readonly command: string;
  readonly args: readonly string[];
  /** The entry's own variables, including those of its `envFile`. */
  readonly env: Readonly<Record<string, string>>;
  readonly envFile?: string;
  readonly cwd?: string;
}

/** A remote server: `http` tries Streamable HTTP first, `sse` the older HTTP+SSE. */
export interface HttpServer extends ServerCommon {
  readonly type: "http" | "sse";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** How to sign in, if the entry says so. */
  readonly auth?: AuthSettings;
}

/** An entry's sign-in settings: `auth`, or `oauth` as other programs call it. */
export interface AuthSettings {
  /** `authorization_code`: a user signs in. `client_credentials`: this program signs in as itself. */
  readonly grant: "authorization_code" | "client_credentials";
  /** A manually registered client, or the URL of a client-id metadata document. */
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** The private key (PEM) of a client that signs instead of using a secret, and its algorithm. */
  readonly privateKey?: string;
  readonly algorithm?: string;
  /** The scope to request instead of the one the server suggests. */
  readonly scope?: string;
  /** The manually registered redirect URL; it must be a loopback URL. */
  readonly redirectUri?: string;
  /** The client's authorization server. */
  readonly issuer?: string;
}

/** A JSON-RPC message of a server in this process. */
export type InProcessMessage = Readonly<Record<string, unknown>>;

/** The client's end of a server in this process. */
export interface InProcessClient {
  /** Sends a message to the client. */
  send(message: InProcessMessage): void;
  /** The server has ended: requests that wait for an answer fail. */
  close(): void;
}

/** A server in this process. */
export interface InProcessPeer {
  /** Takes a message from the client. If it fails, so does the request. */
  receive(message: InProcessMessage): void | Promise<void>;
  /** Ends the server. */
  close?(): void | Promise<void>;
}

/** A server in this process: messages are passed as they are. It cannot come from a file, see `inProcessServer`. */
export interface InProcessServer extends ServerCommon {
  readonly type: "in-process";
  /** Starts the server, each time it is connected. */
  readonly start: (client: InProcessClient) => InProcessPeer | Promise<InProcessPeer>;
}

/** A server that a configuration file can describe. */
export type ConfiguredServer = StdioServer | HttpServer;

export type ServerDefinition = ConfiguredServer | InProcessServer;

/** A message for the owner of a configuration file. */
export interface Diagnostic {
  readonly severity: "error" | "warning" | "note";
  readonly message: string;
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
  readonly server?: string;
  readonly field?: string;
  /** Shown by every command, not only by `doctor`, because the project's entry replaces the user's own. */
  readonly shadowing?: true;
}

/** An unreadable entry; the diagnostics say why. */
export interface RejectedServer {
  readonly name: string;
  readonly scope: ConfigScope;
  readonly file: string;
  readonly type?: string;
}

/** Whether a server is reached over HTTP. */
export function isRemote(definition: ServerDefinition): definition is HttpServer {
  return definition.type === "http" || definition.type === "sse";
}

export interface ConfigFile {
  readonly path: string;
  readonly scope: ConfigScope;
  readonly exists: boolean;
  /** Why an existing file has no effect; its diagnostics say what is assumed instead. */
  readonly unusable?: string;
  readonly dialect?: Dialect;
  /**
   * What the file would run, as stored for trust: a hash of the project's folder and of everything in the entries that
   * decides what runs or where data goes.
   */
  readonly fingerprint?: string;
  /** The names of its disabled entries. Absent if there are none. */
  readonly disabledServers?: readonly string[];
  /**
   * One line per server for the user to approve: everything the fingerprint covers. Unexpanded; of env and headers
   * without literal secrets.
   */
  readonly wouldRun: readonly { readonly name: string; readonly what: string }[];
  /** Labels of the secrets that the entries ask for; those of the user's own files need no grant. */
  readonly secrets?: readonly string[];
  /** The settings that this file itself makes, other than servers. Absent if it makes none. */
  readonly settings?: FileSettings;
}

/** The loaded configuration: what {@link openHub} needs. */
export interface LoadedConfig {
  /** The file that defined the servers, or the first one that is searched for. */
  readonly path: string;
  readonly exists: boolean;
  /** Every file that was considered, strongest first. */
  readonly files: readonly ConfigFile[];
  /** The value of `${workspaceFolder}`. */
  readonly workspaceFolder: string;
  /**
   * Folders whose content is not the user's own: the workspace and the repository around it. Default: the workspace.
   */
  readonly foreignFolders?: readonly string[];
  readonly servers: readonly ServerDefinition[];
  readonly rejected: readonly RejectedServer[];
  /** Settings other than servers. Absent if no file defined any. */
  readonly settings?: ConfigSettings;
  readonly diagnostics: readonly Diagnostic[];
  /** Values that must not be shown: from headers, env, envFile, variables and inputs. */
  readonly secrets: readonly string[];
  /**
   * The same of servers that are not approved, by name. They are hidden where such an entry is listed, and nowhere else:
   * a project must not take words out of our messages.
   */
  readonly unapprovedSecrets?: ReadonlyMap<string, readonly string[]>;
}

/** Hides the secrets of a server that is not approved in the texts of its own entry. Does nothing for other servers. */
export function entryRedactor({ unapprovedSecrets }: Pick<LoadedConfig, "unapprovedSecrets">, name: string): Redactor {
  return new Redactor().add(...(unapprovedSecrets?.get(name) ?? []));
}

export function connectTimeoutOf({ connectTimeoutMs }: EntrySettings): number {
  return connectTimeoutMs || DEFAULT_CONNECT_TIMEOUT_MS;
}

/** `timeoutMs` is the caller's own limit. */
export function callTimeoutOf({ callTimeoutMs }: EntrySettings, timeoutMs?: number): number {
  return timeoutMs || callTimeoutMs || DEFAULT_CALL_TIMEOUT_MS;
}
