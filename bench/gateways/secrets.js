// Provides an environment with made-up secrets and counts those a server can read.

/** Values that no server should see unless it was given them. */
export const SECRETS = {
  BENCH_SECRET_TOKEN: "not-a-secret-1",
  AWS_SECRET_ACCESS_KEY: "not-a-secret-2",
  GITHUB_TOKEN: "not-a-secret-3",
  OPENAI_API_KEY: "not-a-secret-4",
  DATABASE_URL: "postgres://user:not-a-secret-5@localhost/db",
};
/** Other variables that a shell usually has. */
export const USUAL = {
  USER: "bench",
  LOGNAME: "bench",
  SHELL: "/bin/sh",
  TERM: "xterm",
  LANG: "C.UTF-8",
  EDITOR: "vi",
  KUBECONFIG: "/nowhere/kubeconfig",
  SSH_AUTH_SOCK: "/nowhere/agent",
};

/**
 * Counts how many of them are in a list of `name=value` lines. @param {string} listed @param {Record<string, string>}
 * wanted
 */
export function seen(listed, wanted) {
  const lines = new Set(listed.split("\n"));
  return Object.entries(wanted).filter(([name, value]) => lines.has(`${name}=${value}`)).length;
}
