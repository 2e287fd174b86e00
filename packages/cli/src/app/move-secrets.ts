// Literal secrets in servers that are imported: the keychain gets the values, and the entry refers to them.
import type { ServerEntry } from "@trunkline/config";
import { isSecretName } from "@trunkline/core";

export interface MovedSecret {
  readonly name: string;
  readonly value: string;
}

/** A secret that is written out in an entry. */
interface LiteralSecret {
  readonly field: "env" | "headers";
  readonly key: string;
  readonly value: string;
}

/** Returns the entry with references in place of literal secrets. `nameOf` says what the keychain calls each of them. */
export async function withSecretReferences(
  entry: ServerEntry,
  nameOf: (secret: LiteralSecret) => string | Promise<string>,
): Promise<ServerEntry> {
  const referring: { env?: Record<string, string>; headers?: Record<string, string> } = {};
  for (const field of ["env", "headers"] as const) {
    const values = entry[field];
    if (values === undefined) continue;
    const isSecret = field === "env" ? isSecretName : isSecretHeader;
    const shown: [string, string][] = [];
    for (const [key, value] of Object.entries(values)) {
      // In "Bearer abc" only the last word is the secret.
      const [, scheme = "", secret = ""] = /^((?:Bearer|Basic|Token|Bot|ApiKey)\s+)?(.*)$/is.exec(value) ?? [];
      const isLiteral = isSecret(key) && secret.length >= SHORTEST && !value.includes("${");
      shown.push([key, isLiteral ? `${scheme}\${secret:${await nameOf({ field, key, value: secret })}}` : value]);
    }
    referring[field] = Object.fromEntries(shown);
  }
  return { ...entry, ...referring };
}

/** Returns the name under which a server's secret is kept: `github.GITHUB_TOKEN`. */
export function secretNameFor(server: string, key: string): string {
  const prefix = server.replace(/[^A-Za-z0-9_-]+/g, "-").replace(/^[^A-Za-z_]/, "_$&");
  return `${prefix}.${key.replace(/[^A-Za-z0-9_-]+/g, "-")}`.slice(0, LONGEST_NAME);
}

/** Returns the first free one of `name`, `name-2`, `name-3` and so on: another server's secret is never replaced. */
export async function freeName(name: string, isFree: (name: string) => boolean | Promise<boolean>): Promise<string> {
  let free = name;
  for (let count = 2; !(await isFree(free)); count++) free = `${name.slice(0, LONGEST_NAME - 8)}-${count}`;
  return free;
}

/** Shorter values are placeholders, and would not be recognised in output. */
const SHORTEST = 8;
const LONGEST_NAME = 128;

function isSecretHeader(name: string): boolean {
  return /^(?:proxy-)?authorization$|^cookie$/i.test(name) || isSecretName(name);
}
