// The value of a reference such as `${secret:NAME}`, outside of a server's entry.
import { homedir } from "node:os";
import { withoutForeignPrograms } from "@trunkline/client/internal";
import { parseSecretReference, resolveSecrets, secretEnvironment } from "@trunkline/config";
import { TrunklineError } from "@trunkline/core";
import type { CommandContext } from "../terminal/context.js";

export interface SecretRules {
  /** Whether a command may be run to get the secret: only if the reference is in the user's own settings. */
  readonly mayRun: boolean;
  /** Folders of repositories. They may be on the PATH, and must not provide the program that is given a secret. */
  readonly foreignFolders: () => Promise<readonly string[]>;
}

/** Returns the value behind `${…}`, given the text between the braces; undefined if it refers to nothing. */
export async function secretBehind(
  context: CommandContext,
  body: string,
  { mayRun, foreignFolders }: SecretRules,
): Promise<string | undefined> {
  const variable = /^env:(.+)$/.exec(body)?.[1];
  if (variable !== undefined) {
    const value = context.env[variable];
    if (value) return value;
    throw new TrunklineError("CONFIG_INVALID", `The variable ${variable} is not set.`);
  }
  const reference = parseSecretReference(body);
  if (reference === undefined) return undefined;
  if (reference.kind === "cmd" && !mayRun) {
    throw new TrunklineError("INVALID_ARGUMENT", "${cmd:…} works only in your own settings.");
  }
  const env = withoutForeignPrograms(secretEnvironment(context.env), await foreignFolders());
  const place = { env, cwd: homedir(), signal: context.signal, platform: process.platform };
  const [value] = (await resolveSecrets([reference], place)).values();
  return value;
}
