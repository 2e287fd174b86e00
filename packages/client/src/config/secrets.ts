// Which values must not be shown. They are known by where they came from, not by what they look like.
import { existsSync } from "node:fs";
import { isAbsolute } from "node:path";

/** A value that may be a secret, with the name of its variable; a header has none. */
export interface SecretCandidate {
  readonly name?: string;
  readonly value: string;
}

/** Variables whose values every other line of a log holds anyway. */
const PLAIN_NAMES = new Set(["HOME", "PATH", "USERPROFILE"]);

/** The values to redact: not those of HOME and PATH, and not a path that exists. */
export function secretsAmong(candidates: readonly SecretCandidate[]): string[] {
  const secrets = new Set<string>();
  for (const { name, value } of candidates) {
    if (value === "" || PLAIN_NAMES.has(name?.toUpperCase() ?? "") || isExistingPath(value)) continue;
    // A variable that was not filled in is no secret, and hiding it would hide the advice about it.
    if (/^\$\{[^{}]*\}$/.test(value.trim())) continue;
    secrets.add(value);
  }
  return [...secrets];
}

/** A header's value, and the credential in it by itself: servers repeat the token without its "Bearer". */
export function headerSecrets(value: string): SecretCandidate[] {
  const [, scheme = "", credential] = /^([A-Za-z][\w-]*)\s+(\S+)$/.exec(value.trim()) ?? [];
  if (credential === undefined) return [{ value }];
  const found = [{ value }, { value: credential }];
  if (scheme.toLowerCase() !== "basic") return found;
  const decoded = Buffer.from(credential, "base64").toString("utf8");
  const password = decoded.slice(decoded.indexOf(":") + 1);
  return password === "" ? found : [...found, { value: password }];
}

/** Only a whole path counts: a password may well be the name of some file in the working directory. */
function isExistingPath(value: string): boolean {
  return isAbsolute(value) && existsSync(value);
}
