// Whether the literal secrets of imported servers go to the keychain, and under which names.
import { isTrunklineError, printable } from "@trunkline/core";
import type { ImportPlan } from "../app/import-plan.js";
import { freeName, type MovedSecret, secretNameFor, withSecretReferences } from "../app/move-secrets.js";
import type { CommandContext } from "../terminal/context.js";
import { askYesNo } from "../terminal/questions.js";
import { quantity } from "../terminal/trust-prompt.js";

/** Returns what the literal secrets would be called, if no name were taken. */
export async function literalSecrets(plans: readonly ImportPlan[]): Promise<string[]> {
  const names: string[] = [];
  for (const { server } of plans.flatMap(({ servers }) => servers)) {
    await withSecretReferences(server.entry, ({ key }) => {
      const name = secretNameFor(server.name, key);
      names.push(name);
      return name;
    });
  }
  return names;
}

/** What happens to literal secrets without a keychain; `isDone` if it happens now. */
export function literalNote(literal: readonly string[], { isDone = false } = {}): string {
  const count = quantity(literal.length, "secret");
  const verb = isDone ? (literal.length === 1 ? "is" : "are") : "would be";
  return `${count} ${verb} written as plain text: ${listed(literal)}. Use --move-secrets to keep them in the keychain instead.`;
}

function listed(names: readonly string[]): string {
  return [...new Set(names)].map((name) => printable(name)).join(", ");
}

/** Asks the user unless an option answers it. Changes nothing. */
export async function wantsKeychain(
  context: CommandContext,
  literal: readonly string[],
  { yes, moveSecrets: isAsked = false }: { yes?: boolean; moveSecrets?: boolean },
): Promise<boolean> {
  if (literal.length === 0 || isAsked) return isAsked;
  if (yes) {
    context.note(literalNote(literal, { isDone: true }));
    return false;
  }
  const { keychainName, keptSecret } = await import("../app/kept-secrets.js");
  try {
    // Over SSH and in containers there is often none: a yes could not be followed.
    await keptSecret(context, literal[0] ?? "");
  } catch (error) {
    if (!isTrunklineError(error) || error.code === "ABORTED") throw error;
    const count = quantity(literal.length, "secret");
    context.note(`${count} will be written as plain text, because ${printable(error.message)}`);
    return false;
  }
  const question = `Move ${quantity(literal.length, "secret")} to ${keychainName} (${listed(literal)}), instead of writing plain text?`;
  return await askYesNo(context, question);
}

interface Referring {
  readonly plans: readonly ImportPlan[];
  readonly secrets: readonly MovedSecret[];
}

/**
 * Returns the plans with references in place of literal secrets, and what to keep under which name: one that the
 * keychain does not have yet, or has with the same value.
 */
export async function referringToKeychain(context: CommandContext, plans: readonly ImportPlan[]): Promise<Referring> {
  const { keptSecret } = await import("../app/kept-secrets.js");
  const values = new Map<string, string>();
  const nameFor = async (wanted: string, value: string): Promise<string> => {
    const name = await freeName(wanted, async (each) => {
      const there = values.get(each) ?? (await keptSecret(context, each));
      return there === undefined || there === value;
    });
    values.set(name, value);
    return name;
  };
  const referring: ImportPlan[] = [];
  for (const plan of plans) {
    const servers: (typeof plan)["servers"] = [];
    for (const planned of plan.servers) {
      const { server } = planned;
      const entry = await withSecretReferences(server.entry, ({ key, value }) =>
        nameFor(secretNameFor(server.name, key), value),
      );
      servers.push({ ...planned, server: { ...server, entry } });
    }
    referring.push({ ...plan, servers });
  }
  return { plans: referring, secrets: [...values].map(([name, value]) => ({ name, value })) };
}

/** Fails before anything is written to a file. */
export async function keepInKeychain(context: CommandContext, secrets: readonly MovedSecret[]): Promise<void> {
  if (secrets.length === 0) return;
  const { keepSecret, keychainName } = await import("../app/kept-secrets.js");
  for (const { name, value } of secrets) await keepSecret(context, name, value);
  context.out(`Moved ${quantity(secrets.length, "secret")} to ${keychainName}.`);
}
