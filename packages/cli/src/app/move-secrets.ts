// Literal secrets in servers that are imported: the keychain gets the values, and the entry refers to them.
import type { ServerEntry } from "@trunkline/client/config";
import { isSecretName } from "@trunkline/core";

export interface MovedSecret {
  readonly name: string;
  readonly value: string;
}

/** Returns the entry with references in place of literal secrets in `env` and `headers`, and the secrets. */
export function withoutLiteralSecrets(
  server: string,
  entry: ServerEntry,
): { readonly entry: ServerEntry; readonly moved: readonly MovedSecret[] } {
  const moved: MovedSecret[] = [];
  const refer = (values: Readonly<Record<string, string>>, isSecret: (name: string) => boolean) =>
    Object.fromEntries(
      Object.entries(values).map(([key, value]) => {
        // In "Bearer abc" only the last word is the secret.
        const [, scheme = "", secret = ""] = /^((?:Bearer|Basic|Token|Bot|ApiKey)\s+)?(.*)$/is.exec(value) ?? [];
        if (!isSecret(key) || secret.length < SHORTEST || value.includes("${")) return [key, value];
        const name = secretNameFor(server, key);
        moved.push({ name, value: secret });
        return [key, `${scheme}\${secret:${name}}`];
      }),
    );
  const { env, headers } = entry;
  return {
    entry: {
      ...entry,
      ...(env === undefined ? {} : { env: refer(env, isSecretName) }),
      ...(headers === undefined ? {} : { headers: refer(headers, isSecretHeader) }),
    },
    moved,
  };
}

/** Returns the name under which a server's secret is kept: `github.GITHUB_TOKEN`. */
export function secretNameFor(server: string, key: string): string {
  const prefix = server.replace(/[^A-Za-z0-9_-]+/g, "-").replace(/^[^A-Za-z_]/, "_$&");
  return `${prefix}.${key.replace(/[^A-Za-z0-9_-]+/g, "-")}`.slice(0, LONGEST_NAME);
}

/** Shorter values are placeholders, and would not be recognised in output. */
const SHORTEST = 8;
const LONGEST_NAME = 128;

function isSecretHeader(name: string): boolean {
  return /^(?:proxy-)?authorization$|^cookie$/i.test(name) || isSecretName(name);
}
