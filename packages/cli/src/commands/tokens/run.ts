// `trunkline tokens`: who may use `serve --http`.
import { TrunklineError } from "@trunkline/core";
import { EXIT } from "../../app/exit-codes.js";
import type { CommandContext } from "../../terminal/context.js";
import { table } from "../../terminal/table.js";
import {
  createToken,
  DEFAULT_TOKEN,
  readDefaultToken,
  readTokens,
  revokeToken,
  tokenFile,
} from "../../tokens/token-files.js";

const UNITS_MS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
};

export async function create(
  context: CommandContext,
  { name, expires, json }: { name: string; expires?: string; json?: boolean },
): Promise<number> {
  const now = context.clock.now();
  const expiresAt = expires === undefined ? undefined : new Date(now + durationMs(expires));
  const token = await createToken(context.home, { name, expiresAt, now: new Date(now) });
  context.out(json ? JSON.stringify({ name, token, expiresAt }, null, 2) : token);
  const until = expiresAt === undefined ? "until you revoke it" : `until ${expiresAt.toISOString()}`;
  context.note(`Copy it now: it is not shown again. Clients send it as Authorization: Bearer <token>, ${until}.`);
  return EXIT.success;
}

export async function list(context: CommandContext, { json }: { json?: boolean }): Promise<number> {
  const { home, clock } = context;
  const hasDefault = (await readDefaultToken(home)) !== undefined;
  const tokens = await readTokens(home);
  const stateOf = (expiresAt: string | undefined) =>
    expiresAt === undefined
      ? "valid until revoked"
      : `${Date.parse(expiresAt) <= clock.now() ? "expired" : "expires"} ${expiresAt}`;
  if (json) {
    const rows = tokens.map(({ name, createdAt, expiresAt }) => ({ name, createdAt, expiresAt }));
    context.out(JSON.stringify(hasDefault ? [{ name: DEFAULT_TOKEN, file: tokenFile(home) }, ...rows] : rows, null, 2));
    return EXIT.success;
  }
  const rows = tokens.map(({ name, createdAt, expiresAt }) => [name, `created ${createdAt}`, stateOf(expiresAt)]);
  if (hasDefault) rows.unshift([DEFAULT_TOKEN, `in ${tokenFile(home)}`, stateOf(undefined)]);
  for (const line of table(rows)) context.out(line);
  if (rows.length === 0) context.note("There are no tokens. `trunkline serve --http` creates one on first use.");
  return EXIT.success;
}

export async function revoke(
  context: CommandContext,
  { name, json }: { name: string; json?: boolean },
): Promise<number> {
  await revokeToken(context.home, name);
  context.out(json ? JSON.stringify({ revoked: [name] }, null, 2) : `Revoked: ${name}`);
  if (name === DEFAULT_TOKEN) context.note("The next `trunkline serve --http` creates a new one.");
  return EXIT.success;
}

function durationMs(text: string): number {
  const [, number = "", unit = ""] = /^(\d{1,6})([smhdw])$/.exec(text.trim()) ?? [];
  const duration = Number(number) * (UNITS_MS[unit] ?? 0);
  if (duration > 0) return duration;
  throw new TrunklineError("USAGE", "--expires is not a time.", {
    hint: "Use a number and a unit: 90m, 12h, 30d or 8w.",
  });
}
