// A server inherits only the variables that programs cannot do without. It never sees the tokens in our environment.
import { platform } from "node:os";

const POSIX_NAMES = ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR"];

const WINDOWS_NAMES = [
  "APPDATA",
  "COMSPEC",
  "HOMEDRIVE",
  "HOMEPATH",
  "LOCALAPPDATA",
  "PATH",
  "PATHEXT",
  "PROCESSOR_ARCHITECTURE",
  "PROGRAMDATA",
  "PROGRAMFILES",
  "PROGRAMFILES(X86)",
  "PROGRAMW6432",
  "SYSTEMDRIVE",
  "SYSTEMROOT",
  "TEMP",
  "TMP",
  "USERNAME",
  "USERPROFILE",
  "WINDIR",
];

/** Certificate paths: behind a corporate proxy neither npx nor a server works without them. */
const CERTIFICATE_NAMES = ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR"];

/** Our variables that a server inherits. */
const INHERITED_NAMES: readonly string[] = [
  ...(platform() === "win32" ? WINDOWS_NAMES : POSIX_NAMES),
  ...CERTIFICATE_NAMES,
];

/** Builds a server's whole environment: the few variables it inherits, overridden by its own. */
export function serverEnvironment(
  own: Readonly<Record<string, string>>,
  ours: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const environment: Record<string, string> = {};
  // Names are case-insensitive on Windows, where the variable is usually spelled "Path".
  const spelled = new Map(Object.keys(ours).map((name) => [platform() === "win32" ? name.toUpperCase() : name, name]));
  for (const name of INHERITED_NAMES) {
    const value = ours[spelled.get(name) ?? name];
    // An exported shell function is code, not data.
    if (value !== undefined && !value.startsWith("()")) environment[name] = value;
  }
  return { ...environment, ...own };
}

/** The part of our environment that servers inherit, for a program that gives the hub no environment. */
export function inheritedEnvironment(): Record<string, string> {
  // biome-ignore lint/style/noProcessEnv: a server cannot start without a PATH.
  return serverEnvironment({}, process.env);
}
