// The address of a database: `postgres://user@host:5432/database?sslmode=verify-full`. Everything a connection needs is read
// from it and passed on explicitly, because `pg` would otherwise take what is missing from the environment of the process,
// which can be that of another client.
import { readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { type ConnectionOptions, checkServerIdentity } from "node:tls";
import { messageOf, TrunklineError } from "@trunkline/core";

export interface PostgresAddress {
  /** A host, or the folder of a socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  /** As written in the address. */
  readonly password: string | undefined;
  readonly tls: ConnectionOptions | false;
  readonly applicationName: string;
}

const EXAMPLE = "Use postgres://user@host:5432/database; special characters in a password are percent-encoded.";
const DEFAULT_PORT = 5432;
const PARAMETERS = ["host", "port", "sslmode", "sslrootcert", "sslcert", "sslkey", "application_name"];

/** Whether text is the address of a PostgreSQL database. */
function isPostgresUrl(text: string): boolean {
  return /^postgres(?:ql)?:\/\//i.test(text);
}

/** Parses an address. Throws `INVALID_ARGUMENT` with a message that repeats no password. */
export function parseAddress(url: string): PostgresAddress {
  const parsed = parseUrl(url);
  const parameters = parsed.searchParams;
  for (const name of new Set(parameters.keys())) {
    if (PARAMETERS.includes(name)) continue;
    const hint =
      name === "password"
        ? "Write the password before the host: postgres://user:password@host/database."
        : `Known parameters: ${PARAMETERS.join(", ")}.`;
    throw invalid(`has the parameter "${name}", which is not supported`, hint);
  }
  const host = (parameters.get("host") ?? decoded(parsed.hostname, "host")) || "localhost";
  if (host.includes(",")) throw invalid("names several hosts, but only one is supported", EXAMPLE);
  const user = decoded(parsed.username, "user") || userInfo().username;
  return {
    host,
    port: portOf(parameters.get("port") ?? parsed.port),
    user,
    database: decoded(parsed.pathname.slice(1), "database") || user,
    password: parsed.password === "" ? undefined : decoded(parsed.password, "password"),
    // A socket is on this machine.
    tls: host.startsWith("/") ? false : tlsOf(parameters, host),
    applicationName: parameters.get("application_name") ?? "trunkline",
  };
}

/** Returns host, port and database of an address, without user and password. */
export function placeOf(url: string): string {
  const { host, port } = parseAddress(url);
  const name = decoded(parseUrl(url).pathname.slice(1), "database");
  return `${host}:${port}${name === "" ? "" : `/${name}`}`;
}

/** Returns the address without its password, for settings and messages. */
export function withoutPassword(url: string): string {
  const parsed = parseUrl(url);
  parsed.password = "";
  parsed.searchParams.delete("password");
  return parsed.href;
}

function parseUrl(url: string): URL {
  try {
    // A user without a host, as in `postgres://ada@/store?host=/run/postgresql`, is not a URL for Node.
    if (isPostgresUrl(url)) return new URL(url.replace(/^([a-z]+:\/\/[^/?#]*@)(?=[/?#]|$)/i, "$1localhost"));
  } catch {
    // Reported below: the message of URL would repeat a password.
  }
  throw invalid("is not valid", EXAMPLE);
}

function invalid(problem: string, hint: string): TrunklineError {
  return new TrunklineError("INVALID_ARGUMENT", `The address of the store's database ${problem}.`, { hint });
}

function decoded(text: string, what: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    throw invalid(`has a ${what} that is not percent-encoded correctly`, EXAMPLE);
  }
}

function portOf(text: string): number {
  const port = text === "" ? DEFAULT_PORT : Number(text);
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port;
  throw invalid("has an invalid port", EXAMPLE);
}

/** The modes of libpq. Those that would silently go on without encryption are refused. */
function tlsOf(parameters: URLSearchParams, host: string): ConnectionOptions | false {
  const mode = parameters.get("sslmode") ?? "disable";
  const root = parameters.get("sslrootcert");
  const files = {
    ...(root === null || root === "system" ? {} : { ca: fileOf(root, "sslrootcert") }),
    ...fileOption(parameters, "sslcert", "cert"),
    ...fileOption(parameters, "sslkey", "key"),
  };
  switch (mode) {
    case "disable":
      if (root !== null || "cert" in files || "key" in files) {
        throw invalid("has certificates but no sslmode", "Add sslmode=verify-full.");
      }
      return false;
    case "require":
      // With a certificate to compare, libpq checks it in this mode, too.
      return root === null ? { ...files, rejectUnauthorized: false } : chainOnly(files);
    case "verify-ca":
      return chainOnly(files);
    case "verify-full":
      // Of an IP address, pg does not tell Node which host it is, and Node would expect a certificate for localhost.
      return { ...files, checkServerIdentity: (_, certificate) => checkServerIdentity(host, certificate) };
    default:
      throw invalid(
        `has sslmode=${mode}, which is not supported`,
        "Use verify-full, verify-ca or require for an encrypted connection, or disable.",
      );
  }
}

/** Checks who signed the certificate, but not whose it is. */
function chainOnly(files: ConnectionOptions): ConnectionOptions {
  return { ...files, checkServerIdentity: () => undefined };
}

function fileOption(parameters: URLSearchParams, name: string, option: "cert" | "key"): ConnectionOptions {
  const path = parameters.get(name);
  return path === null ? {} : { [option]: fileOf(path, name) };
}

function fileOf(path: string, name: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new TrunklineError("INVALID_ARGUMENT", `Cannot read the file in ${name}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}
