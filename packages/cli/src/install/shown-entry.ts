import type { ServerEntry } from "@trunkline/config";
import { maskedSecret, urlForApproval } from "@trunkline/core";

/**
 * Prepares an entry for a question about adding it: masks the values of env and headers in their own fields, and the
 * secrets in its URL. The command and its arguments stay as they are, even if they repeat a value of env: who could hide
 * them could hide what runs.
 */
export function shownEntry(entry: ServerEntry): ServerEntry {
  const { env, headers, ...rest } = entry;
  const { url } = entry;
  return {
    ...rest,
    ...(url === undefined ? {} : { url: urlForApproval(url) }),
    ...(env === undefined ? {} : { env: masked(env) }),
    ...(headers === undefined ? {} : { headers: masked(headers) }),
  };
}

function masked(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, maskedSecret(value)]));
}
