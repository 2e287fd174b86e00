// Passwords that are not in the address: PGPASSWORD and the file that psql uses, `~/.pgpass`.
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { isAbsent } from "@trunkline/core";
import { parseAddress } from "./address.js";

interface PasswordPlaces {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The user's home folder. */
  readonly home: string;
}

interface FoundPassword {
  readonly password: string | undefined;
  /** A password file that was not read because others can read it, too. */
  readonly ignoredFile?: string;
}

/**
 * Finds the password for an address: in the address, in PGPASSWORD, or in the file named by PGPASSFILE, by default
 * `~/.pgpass`.
 *
 * ```ts
 * const { password } = await findPassword(url, { env: process.env, home: homedir() });
 * await using store = await openPostgresStore({ url, password });
 * ```
 */
export async function findPassword(url: string, places: PasswordPlaces): Promise<FoundPassword> {
  const { host, port, database, user, password } = parseAddress(url);
  if (password !== undefined) return { password };
  const { env } = places;
  if (env.PGPASSWORD) return { password: env.PGPASSWORD };
  const file = env.PGPASSFILE || defaultFile(places);
  const text = await readOwn(file);
  if (text === undefined) return { password: undefined, ignoredFile: file };
  // Sockets are looked up as localhost.
  const names = host.startsWith("/") ? [host, "localhost"] : [host];
  const wanted = [names, [String(port)], [database], [user]];
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith("#")) continue;
    const fields = fieldsOf(line);
    const secret = fields[4];
    if (secret === undefined) continue;
    const isMatch = wanted.every((values, at) => fields[at] === "*" || values.includes(fields[at] as string));
    if (isMatch) return { password: secret };
  }
  return { password: undefined };
}

function defaultFile({ env, home }: PasswordPlaces): string {
  if (process.platform === "win32") return join(env.APPDATA ?? home, "postgresql", "pgpass.conf");
  return join(home, ".pgpass");
}

/** Returns the text of a file that only its owner can read; empty if there is none, undefined if others can read it. */
async function readOwn(file: string): Promise<string | undefined> {
  try {
    const stats = await stat(file);
    if (!stats.isFile()) return "";
    if (process.platform !== "win32" && (stats.mode & 0o077) !== 0) return undefined;
    return await readFile(file, "utf8");
  } catch (error) {
    if (isAbsent(error)) return "";
    throw error;
  }
}

/** Splits `host:port:database:user:password`. A backslash makes the next character part of a field. */
function fieldsOf(line: string): string[] {
  const fields: string[] = [];
  let field = "";
  for (let at = 0; at < line.length; at++) {
    const char = line[at] as string;
    if (char === ":" && fields.length < 4) {
      fields.push(field);
      field = "";
    } else if (char === "\\" && at + 1 < line.length) field += line[++at];
    else field += char;
  }
  return [...fields, field];
}
