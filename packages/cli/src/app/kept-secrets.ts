// The user's secrets in the keychain. A file in Trunkline's home lists their names, never their values.
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { withoutForeignPrograms } from "@trunkline/client/internal";
import {
  type KeychainPlace,
  keychainTitle,
  readKeychain,
  removeFromKeychain,
  secretEnvironment,
  writeKeychain,
} from "@trunkline/config";
import { isAbsent, isRecord, isString, MIN_SECRET_LENGTH, parseJson, writeFileAtomically } from "@trunkline/core";
import type { CommandContext } from "../terminal/context.js";
import { openApp } from "./app.js";

const FILE = "secrets.json";

/** Returns the names of the secrets that were saved with `trunkline secrets set` or by an import, sorted. */
export async function secretNames({ home }: Pick<CommandContext, "home">): Promise<string[]> {
  const text = await readFile(join(home, FILE), "utf8").catch((error: unknown) => {
    if (isAbsent(error)) return "";
    throw error;
  });
  const content = parseJson(text);
  const names = isRecord(content) && Array.isArray(content.names) ? content.names.filter(isString) : [];
  return [...new Set(names)].sort();
}

/** Returns a secret's value; undefined if the keychain has none of this name. */
export async function keptSecret(context: CommandContext, name: string): Promise<string | undefined> {
  return await readKeychain(name, await placeOf(context));
}

/** Saves a secret in the keychain. */
export async function keepSecret(context: CommandContext, name: string, value: string): Promise<void> {
  context.redactor.add(value);
  await writeKeychain(name, value, await placeOf(context));
  await writeNames(context, [...(await secretNames(context)), name]);
}

/** Removes a secret from the keychain; false if it was not there. */
export async function dropSecret(context: CommandContext, name: string): Promise<boolean> {
  const wasThere = await removeFromKeychain(name, await placeOf(context));
  const names = await secretNames(context);
  if (names.includes(name))
    await writeNames(
      context,
      names.filter((each) => each !== name),
    );
  return wasThere;
}

/** Whether a value is long enough to be recognised and hidden wherever it appears. */
export function isRecognisable(value: string): boolean {
  return [...value.trim()].length >= MIN_SECRET_LENGTH;
}

export const keychainName = keychainTitle(process.platform);

/** A repository's folder may be on the PATH, and must not provide the program that is given a secret. */
async function placeOf(context: CommandContext): Promise<KeychainPlace> {
  const { foreignFolders = [] } = await openApp(context, { config: "own" }).config();
  const env = withoutForeignPrograms(secretEnvironment(context.env), foreignFolders);
  return { env, cwd: homedir(), signal: context.signal, platform: process.platform };
}

async function writeNames({ home }: CommandContext, names: readonly string[]): Promise<void> {
  const text = `${JSON.stringify({ version: 1, names: [...new Set(names)].sort() }, null, 2)}\n`;
  await writeFileAtomically(join(home, FILE), text, { mode: 0o600, folderMode: 0o700, forceMode: true });
}
