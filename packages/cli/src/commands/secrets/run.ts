import { isSecretNameValid } from "@trunkline/config";
import { isTrunklineError, printableJson, TrunklineError } from "@trunkline/core";
import { EXIT } from "../../app/exit-codes.js";
import {
  dropSecret,
  isRecognisable,
  keepSecret,
  keptSecret,
  keychainName,
  secretNames,
} from "../../app/kept-secrets.js";
import { type CommandContext, isAtTerminal } from "../../terminal/context.js";
import { askLine } from "../../terminal/questions.js";

interface SecretOptions {
  name: string;
  json?: boolean;
}

/** Saves a secret. Its value is never an argument: other programs can read those, and shells remember them. */
export async function setSecret(context: CommandContext, { name, json }: SecretOptions): Promise<number> {
  checkName(name);
  const value = await readValue(context, name);
  if (value === "") throw new TrunklineError("USAGE", "The secret is empty.", { hint: "Nothing was saved." });
  const replaced = (await secretNames(context)).includes(name);
  await keepSecret(context, name, value);
  if (json) context.out(printableJson({ name, replaced }, 2));
  else context.out(`${replaced ? "Replaced" : "Saved"} "${name}" in ${keychainName}.`);
  if (!isRecognisable(value))
    context.note("It is so short that it cannot be recognised in output, so it is not hidden there.", "warning");
  if (replaced) context.note("Servers that are running use it after a restart.");
  return EXIT.success;
}

export async function listSecrets(context: CommandContext, { json }: { json?: boolean }): Promise<number> {
  const names = await secretNames(context);
  if (json) context.out(printableJson(names, 2));
  else for (const name of names) context.out(name);
  const problem = await keychainProblem(context);
  if (problem !== undefined) {
    const lost = names.length === 0 ? "Secrets cannot be saved here." : "Servers that need one of these do not start.";
    context.note(`warning: ${problem.message}`, "warning");
    context.note(`  ${lost} ${problem.hint ?? ""}`.trimEnd());
  } else if (names.length === 0 && !json) context.note("No secret is saved. Save one: trunkline secrets set <name>");
  return EXIT.success;
}

/** No secret has this name, so that no keychain asks for permission to read it. */
const NO_SECRET = "trunkline-check";

/** Why the keychain cannot be used; undefined if it can. The list of names is in a file, and does not need it. */
async function keychainProblem(context: CommandContext): Promise<TrunklineError | undefined> {
  try {
    await keptSecret(context, NO_SECRET);
    return undefined;
  } catch (error) {
    if (!isTrunklineError(error) || context.signal.aborted) throw error;
    return error;
  }
}

export async function removeSecret(context: CommandContext, { name, json }: SecretOptions): Promise<number> {
  checkName(name);
  if (!(await dropSecret(context, name))) {
    throw new TrunklineError("NOT_FOUND", `${keychainName} has no secret "${name}".`, {
      hint: "`trunkline secrets list` lists them.",
    });
  }
  if (json) context.out(printableJson({ name, removed: true }, 2));
  else context.out(`Removed "${name}" from ${keychainName}.`);
  return EXIT.success;
}

function checkName(name: string): void {
  if (isSecretNameValid(name)) return;
  // Not repeated: the value may have been typed in place of the name.
  throw new TrunklineError("USAGE", "That is not a valid name for a secret.", {
    hint: 'A name starts with a letter or "_", followed by letters, digits, "_", "." and "-", for example GITHUB_TOKEN.',
  });
}

async function readValue(context: CommandContext, name: string): Promise<string> {
  if (isAtTerminal(context)) return await askLine(context, `Value of ${name}: `, { hidden: true });
  const chunks: Buffer[] = [];
  for await (const chunk of context.io.stdin) chunks.push(Buffer.from(chunk));
  // The line break that `echo` and editors add.
  return Buffer.concat(chunks)
    .toString("utf8")
    .replace(/\r?\n$/, "");
}
