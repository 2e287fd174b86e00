// Looks up the secrets that a server needs, when it starts. Nothing is kept: each start asks again.
import { homedir } from "node:os";
import { TrunklineError } from "@trunkline/core";
import { keychainTitle, readKeychain } from "./keychain.js";
import { type KeychainOutcome, runKeychainCommand } from "./keychain-command.js";
import { referenceProblem, type SecretReference, secretLabel } from "./secret-reference.js";

/** The variables that keychains and their programs need. Nothing else of our environment is passed on. */
const NAMES = [
  ...["PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TMPDIR", "SHELL"],
  ...["DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "DISPLAY", "WAYLAND_DISPLAY"],
  ...["APPDATA", "COMSPEC", "LOCALAPPDATA", "PATHEXT", "PROGRAMDATA", "PROGRAMFILES", "SYSTEMROOT", "TEMP", "TMP"],
  ...["USERNAME", "USERPROFILE", "WINDIR"],
];

/** Returns the part of an environment that the programs which know secrets get: also what 1Password is told by. */
export function secretEnvironment(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  // Reading one by one: a broker remembers which variables were used.
  const names = Object.keys(env).filter((name) => NAMES.includes(name.toUpperCase()) || name.startsWith("OP_"));
  return Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}

interface SecretPlace {
  /** From {@link secretEnvironment}, without programs of the workspace. */
  readonly env: Readonly<Record<string, string>>;
  readonly platform: string;
  readonly signal?: AbortSignal;
}

/** Returns the values by label. Rejects with the first reference that has none. */
export async function resolveSecrets(
  references: readonly SecretReference[],
  place: SecretPlace,
): Promise<ReadonlyMap<string, string>> {
  const values = new Map<string, string>();
  // In sequence: a locked keychain asks the user, and should ask once.
  for (const reference of references) {
    const label = secretLabel(reference);
    if (!values.has(label)) values.set(label, await resolveOne(reference, place));
  }
  return values;
}

async function resolveOne(reference: SecretReference, place: SecretPlace): Promise<string> {
  const problem = referenceProblem(reference);
  if (problem !== undefined) throw new TrunklineError("CONFIG_INVALID", `That is not a valid secret name: ${problem}.`);
  const { kind, name } = reference;
  const { env, platform, signal } = place;
  // Not the workspace: a program may read files there.
  const where = { env, cwd: homedir(), signal };
  switch (kind) {
    case "secret": {
      const value = await readKeychain(name, { ...where, platform });
      if (value !== undefined) return usable(value, `The secret "${name}"`);
      throw new TrunklineError("CONFIG_INVALID", `${keychainTitle(platform)} has no secret "${name}".`, {
        hint: `Save it: trunkline secrets set ${name}`,
      });
    }
    case "op": {
      const outcome = await runKeychainCommand({ ...where, program: "op", args: ["read", "--no-newline", name] });
      if (outcome.code === 0) return usable(outcome.stdout, name);
      throw new TrunklineError("CONFIG_INVALID", `1Password did not return ${name}: ${reasonOf(outcome)}`, {
        hint: "Check that you are signed in: op whoami",
      });
    }
    case "cmd": {
      const shell =
        platform === "win32"
          ? { program: "cmd.exe", args: ["/d", "/s", "/c", `"${name}"`], isVerbatim: true }
          : { program: "/bin/sh", args: ["-c", name] };
      const { code, stdout } = await runKeychainCommand({ ...where, ...shell });
      if (code === 0) return usable(stdout.replace(/\r?\n$/, ""), "The command in ${cmd:…}");
      // What it wrote to stderr may be a part of the secret.
      throw new TrunklineError("CONFIG_INVALID", `The command in \${cmd:…} failed with exit code ${code}.`, {
        hint: "Run it in a shell to see why. It gets only a few of your variables, and starts in your home folder.",
      });
    }
  }
}

function usable(value: string, what: string): string {
  if (value === "") throw new TrunklineError("CONFIG_INVALID", `${what} is empty.`);
  if (value.includes("\0")) throw new TrunklineError("CONFIG_INVALID", `${what} has a NUL character.`);
  return value;
}

function reasonOf({ code, complaint }: KeychainOutcome): string {
  return complaint === "" ? `exit code ${code}.` : complaint;
}
