import { existsSync } from "node:fs";
import type { ServerEntry } from "@trunkline/client/config";
import { REDACTED, Redactor, redactedArgs, redactedUrl } from "@trunkline/core";

/**
 * Prepares an entry for display: hides the values of env and headers, both in their own fields and anywhere else in the
 * entry, and secrets in its arguments and URL.
 */
export function shownEntry(entry: ServerEntry): ServerEntry {
  const { env, headers, ...rest } = entry;
  const { args, url } = entry;
  const redactor = new Redactor();
  for (const value of [...Object.values(env ?? {}), ...Object.values(headers ?? {})]) {
    // Variable names and paths are not secrets.
    if (value.includes("${") || existsSync(value)) continue;
    // In "Bearer abc" the last word is the secret.
    redactor.add(value, value.split(/\s+/).at(-1) ?? "");
  }
  return {
    ...redactor.value({
      ...rest,
      ...(args === undefined ? {} : { args: redactedArgs(args) }),
      ...(url === undefined ? {} : { url: redactedUrl(url) }),
    }),
    ...(env === undefined ? {} : { env: hidden(env) }),
    ...(headers === undefined ? {} : { headers: hidden(headers) }),
  };
}

function hidden(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.keys(values).map((name) => [name, REDACTED]));
}
