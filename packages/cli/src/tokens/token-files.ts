// The tokens of `serve --http`, in Trunkline's home: `token` is the default one, as text, so that a person can copy it;
// `tokens.json` has the hashes of the others. Both are readable only by their owner, and never links.
import { createHash, randomBytes } from "node:crypto";
import { writeSync } from "node:fs";
import { lstat, mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { isRecord, parseJson, placeFileSync, systemCodeOf, TrunklineError, writeFileAtomically } from "@trunkline/core";

/** A token as stored: its hash, never itself. */
interface StoredToken {
  readonly name: string;
  /** SHA-256, in hexadecimal. The token has 256 random bits, so a slow hash would add nothing. */
  readonly sha256: string;
  readonly createdAt: string;
  readonly expiresAt?: string;
}

/** The principal of the default token. */
export const DEFAULT_TOKEN = "default";
const RESERVED: readonly string[] = ["local", DEFAULT_TOKEN, "anonymous"];
const NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/;
const FORMAT = 1;
const ATTEMPTS = 5;

export function tokenFile(home: string): string {
  return join(home, "token");
}

function tokensFile(home: string): string {
  return join(home, "tokens.json");
}

/** A new token with 256 random bits. */
function newToken(): string {
  return `tkl_${randomBytes(32).toString("base64url")}`;
}

function sha256(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

/** Returns the default token, creating it on first use. */
export async function defaultToken(home: string): Promise<string> {
  const known = await readDefaultToken(home);
  if (known !== undefined) return known;
  await mkdir(home, { recursive: true, mode: 0o700 });
  // Without overwriting: another process may be faster.
  placeFileSync(tokenFile(home), (fd) => writeSync(fd, `${newToken()}\n`), { mode: 0o600, overwrite: false });
  const made = await readDefaultToken(home);
  if (made !== undefined) return made;
  throw new TrunklineError("IO", `${tokenFile(home)} was removed while it was being created.`, { retryable: true });
}

/** Returns the default token; undefined if there is none yet. */
export async function readDefaultToken(home: string): Promise<string | undefined> {
  const text = await readPrivateFile(tokenFile(home));
  if (text === undefined) return undefined;
  const token = text.trim();
  if (/^\S{16,}$/.test(token)) return token;
  throw new TrunklineError("CONFIG_INVALID", `${tokenFile(home)} has no usable token.`, {
    hint: "Delete the file: the next `trunkline serve --http` creates a new one.",
  });
}

/** Returns the stored tokens, including expired ones, by name. */
export async function readTokens(home: string): Promise<readonly StoredToken[]> {
  const text = await readPrivateFile(tokensFile(home));
  if (text === undefined) return [];
  const value = parseJson(text);
  if (isRecord(value) && value.format === FORMAT && Array.isArray(value.tokens) && value.tokens.every(isStoredToken)) {
    return value.tokens;
  }
  throw new TrunklineError(
    "CONFIG_INVALID",
    `${tokensFile(home)} cannot be read: it is damaged or from a newer version.`,
    {
      hint: "Delete the file to revoke all tokens, then create new ones with `trunkline tokens create`.",
    },
  );
}

/** Creates a token for a new principal and returns it. Only its hash is stored. */
export async function createToken(
  home: string,
  { name, expiresAt, now }: { name: string; expiresAt?: Date; now: Date },
): Promise<string> {
  if (!NAME.test(name)) {
    throw new TrunklineError("USAGE", "That is not a valid token name.", {
      hint: "Use up to 63 lower-case letters, digits, - and _, beginning with a letter or a digit.",
    });
  }
  if (RESERVED.includes(name)) {
    throw new TrunklineError("USAGE", `"${name}" is reserved.`, { hint: "Choose another name for the token." });
  }
  const token = newToken();
  const stored: StoredToken = {
    name,
    sha256: sha256(token),
    createdAt: now.toISOString(),
    ...(expiresAt === undefined ? {} : { expiresAt: expiresAt.toISOString() }),
  };
  await change(home, (tokens) => {
    if (tokens.some((other) => other.name === name)) {
      throw new TrunklineError("USAGE", `There is already a token "${name}".`, {
        hint: `Revoke it first: trunkline tokens revoke ${name}`,
      });
    }
    return [...tokens, stored];
  });
  return token;
}

/** Revokes a token. Running servers end the sessions of its principal. */
export async function revokeToken(home: string, name: string): Promise<void> {
  if (name === DEFAULT_TOKEN && (await readDefaultToken(home)) !== undefined) {
    await rm(tokenFile(home));
    return;
  }
  await change(home, (tokens) => {
    const rest = tokens.filter((token) => token.name !== name);
    if (rest.length < tokens.length) return rest;
    throw new TrunklineError("USAGE", `There is no token "${name}".`, {
      hint: "`trunkline tokens list` shows all tokens.",
    });
  });
}

/** Writes the changed list. Repeats the change if another process has written at the same time. */
async function change(home: string, edit: (tokens: readonly StoredToken[]) => readonly StoredToken[]): Promise<void> {
  let tokens = edit(await readTokens(home));
  for (let attempt = 1; ; attempt++) {
    const text = `${JSON.stringify({ format: FORMAT, tokens }, null, 2)}\n`;
    await writeFileAtomically(tokensFile(home), text, { mode: 0o600, folderMode: 0o700, forceMode: true });
    const written = await readTokens(home);
    if (JSON.stringify(written) === JSON.stringify(tokens) || attempt === ATTEMPTS) return;
    tokens = edit(written);
  }
}

/** Reads a file that only its owner may read; undefined if it does not exist. */
async function readPrivateFile(path: string): Promise<string | undefined> {
  try {
    const found = await lstat(path);
    const user = process.getuid?.();
    const problem = !found.isFile()
      ? "is not an ordinary file"
      : user !== undefined && found.uid !== user
        ? "belongs to another user"
        : user !== undefined && (found.mode & 0o077) !== 0
          ? "can be read or changed by other users"
          : undefined;
    if (problem === undefined) return await readFile(path, "utf8");
    throw new TrunklineError("CONFIG_INVALID", `${path} ${problem}, so the tokens in it are not secret.`, {
      hint: "Delete the file, and start again with new tokens.",
    });
  } catch (error) {
    if (systemCodeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

function isStoredToken(value: unknown): value is StoredToken {
  return (
    isRecord(value) &&
    typeof value.name === "string" &&
    NAME.test(value.name) &&
    !RESERVED.includes(value.name) &&
    typeof value.sha256 === "string" &&
    /^[0-9a-f]{64}$/.test(value.sha256) &&
    typeof value.createdAt === "string" &&
    (value.expiresAt === undefined ||
      (typeof value.expiresAt === "string" && !Number.isNaN(Date.parse(value.expiresAt))))
  );
}
