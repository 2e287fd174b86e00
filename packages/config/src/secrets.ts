// Determines which values must not be shown. They are recognised by where they come from; secrets that are written out
// in a URL or an argument are found by core.
import { existsSync } from "node:fs";
import { isAbsolute } from "node:path";

/** A value that may be a secret, with the name of its variable; a header value has none. */
export interface SecretCandidate {
  readonly name?: string;
  readonly value: string;
}

/** Variables whose values appear all over logs anyway. */
const PLAIN_NAMES = new Set(["HOME", "PATH", "USERPROFILE"]);

/** Returns the values to redact, leaving out HOME, PATH and existing paths. */
export function secretsAmong(candidates: readonly SecretCandidate[]): string[] {
  const secrets = new Set<string>();
  for (const { name, value } of candidates) {
    if (value === "" || PLAIN_NAMES.has(name?.toUpperCase() ?? "") || isExistingPath(value)) continue;
    // An unexpanded variable is not a secret, and hiding it would hide the advice about it.
    if (/^\$\{[^{}]*\}$/.test(value.trim())) continue;
    secrets.add(value);
  }
  return [...secrets];
}

/** Returns a header's value, plus the credential by itself: servers repeat the token without its "Bearer". */
export function headerSecrets(value: string): SecretCandidate[] {
  const [, scheme = "", credential] = /^([A-Za-z][\w-]*)\s+(\S+)$/.exec(value.trim()) ?? [];
  if (credential === undefined) return [{ value }];
  const found = [{ value }, { value: credential }];
  if (scheme.toLowerCase() !== "basic") return found;
  const decoded = Buffer.from(credential, "base64").toString("utf8");
  const password = decoded.slice(decoded.indexOf(":") + 1);
  return password === "" ? found : [...found, { value: password }];
}

/**
 * Leaves out the variables that a URL's host was built from: the user must be able to see a wrong host. If such a
 * variable holds more than the host, the secrets in the rest are found like those in any URL.
 */
export function withoutHost(candidates: readonly SecretCandidate[], url: string): SecretCandidate[] {
  const host = URL.canParse(url) ? new URL(url).host : "";
  const isPartOf = (value: string) => {
    const bare = value.toLowerCase();
    return host !== "" && bare !== "" && (host.includes(bare) || bare.includes(host));
  };
  return candidates.filter(({ value }) => !isPartOf(value));
}

/** Only a full path counts: a password could be the name of a file in the working directory. */
function isExistingPath(value: string): boolean {
  return isAbsolute(value) && existsSync(value);
}
