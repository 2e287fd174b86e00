// Whether the literal secrets of imported servers go to the keychain.
import { printable } from "@trunkline/core";
import type { ImportPlan } from "../app/import-plan.js";
import { type MovedSecret, withoutLiteralSecrets } from "../app/move-secrets.js";
import type { CommandContext } from "../terminal/context.js";
import { askYesNo } from "../terminal/questions.js";
import { quantity } from "../terminal/trust-prompt.js";

export function literalSecrets(plans: readonly ImportPlan[]): readonly MovedSecret[] {
  return plans.flatMap(({ servers }) =>
    servers.flatMap(({ server }) => withoutLiteralSecrets(server.name, server.entry).moved),
  );
}

export function literalNote(literal: readonly MovedSecret[]): string {
  const names = literal.map(({ name }) => printable(name)).join(", ");
  return `${quantity(literal.length, "secret")} would be written as plain text: ${names}. --move-secrets puts them into the keychain.`;
}

/** Asks the user unless an option answers it. Changes nothing. */
export async function wantsKeychain(
  context: CommandContext,
  literal: readonly MovedSecret[],
  { yes, moveSecrets: isAsked = false }: { yes?: boolean; moveSecrets?: boolean },
): Promise<boolean> {
  if (literal.length === 0 || isAsked) return isAsked;
  if (yes) {
    context.note(literalNote(literal));
    return false;
  }
  const { keychainName } = await import("../app/kept-secrets.js");
  const names = literal.map(({ name }) => printable(name)).join(", ");
  return await askYesNo(context, `Move ${quantity(literal.length, "secret")} to ${keychainName} (${names})?`);
}

/** Fails before anything is written to a file. */
export async function keepInKeychain(context: CommandContext, literal: readonly MovedSecret[]): Promise<void> {
  if (literal.length === 0) return;
  const { keepSecret, keychainName } = await import("../app/kept-secrets.js");
  for (const { name, value } of literal) await keepSecret(context, name, value);
  context.out(`Moved ${quantity(literal.length, "secret")} to ${keychainName}.`);
}
