// A server described on the command line, by its URL or its command, without a configuration.
import { normalizeName, programName, type ServerEntry } from "@trunkline/config";
import { isTrunklineError, TrunklineError } from "@trunkline/core";
import { checkServerUrl, readEntry } from "./server-entry.js";

export interface TypedServer {
  readonly name: string;
  readonly entry: ServerEntry;
}

export interface TypedServerOptions {
  url?: string;
  header?: readonly string[];
  env?: readonly string[];
  transport?: "http" | "sse";
  /** The words after `--`: the command that starts the server. Absent if there is no `--`. */
  command?: readonly string[];
  /** The file given with `--mcp`. */
  mcp?: string;
}

/** Returns the server that the command line describes; undefined if it describes none. */
export function readTypedServer(options: TypedServerOptions): TypedServer | undefined {
  const { url, header = [], env = [], transport, command, mcp } = options;
  if (url === undefined && command === undefined) {
    if (header.length + env.length === 0 && transport === undefined) return undefined;
    throw new TrunklineError("USAGE", "--header, --env and --transport describe a server, but none is named.", {
      hint: "Name it with --url <url>, or with -- <command…> at the end.",
    });
  }
  if (url !== undefined && command !== undefined)
    throw new TrunklineError("USAGE", "Name the server with --url or after --, not with both.");
  if (mcp !== undefined)
    throw new TrunklineError("USAGE", "--mcp names a configuration, and the command line names a server.", {
      hint: "Leave one of them out.",
    });
  if (url !== undefined) checkServerUrl(url);
  const target = url === undefined ? (command ?? []) : [url];
  if (target.length === 0)
    throw new TrunklineError("USAGE", "There is no command after --.", { hint: "For example: -- npx -y some-server" });
  const name = nameOf(target);
  return { name, entry: readEntry({ name, target, header, env, transport }) };
}

/** A name for messages: the host of a URL, or the program that a command starts. */
function nameOf([first = "", ...rest]: readonly string[]): string {
  const name = URL.canParse(first) && /^https?:/i.test(first) ? new URL(first).hostname : programName(first, rest);
  return normalizeName(name === "" ? "server" : name);
}

/** A typed server is the only one, so its tools need no server in front; with it, as messages show them, they work too. */
export function toolOfTyped(name: string, typed: TypedServer | undefined): string {
  return typed === undefined || name.startsWith(`${typed.name}.`) ? name : `${typed.name}.${name}`;
}

/** A hint about the configuration does not help with a server that is not in it. */
export function withTypedHint<E>(error: E): E | TrunklineError {
  if (!isTrunklineError(error, "AUTH_REQUIRED")) return error;
  return new TrunklineError(error.code, error.message, {
    cause: error,
    hint: "Send a token with --header 'Authorization: Bearer <token>', or sign in once: trunkline servers add <name> <url>, then trunkline auth login <name>",
  });
}
