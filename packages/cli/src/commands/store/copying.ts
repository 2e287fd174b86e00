// Stores in a database: `init` creates one, `copy` moves a store between engines.
import { resolve } from "node:path";
import { printable, TrunklineError } from "@trunkline/core";
import { type AnyStore, copyStore } from "@trunkline/store";
import { openApp } from "../../app/app.js";
import { EXIT } from "../../app/exit-codes.js";
import { hasStore } from "../../app/folders.js";
import type { SecretRules } from "../../app/secret-behind.js";
import { isStoreAddress } from "../../app/store-address.js";
import { loginOf, openNamedStore } from "../../app/team-store.js";
import type { CommandContext } from "../../terminal/context.js";
import { counted, shownBytes, wantsJson } from "../../terminal/output.js";
import { progressLineFor } from "../../terminal/progress-line.js";
import { outJson } from "./out-json.js";

export async function initStore(
  context: CommandContext,
  address: string,
  options: { json?: boolean },
): Promise<number> {
  requireAddress(address);
  const login = await loginOf(context, address, rulesOf(context));
  const { initPostgresStore, placeOf } = await import("@trunkline/store-postgres");
  const { from, to } = await initPostgresStore({ ...login, logger: context.logger });
  const place = printable(placeOf(login.url));
  if (wantsJson(options)) outJson(context, { database: place, from: from ?? null, to });
  else if (from === undefined) context.out(`created a store in ${place}`);
  else
    context.out(
      from === to ? `${place} has a store already` : `migrated the store in ${place} from version ${from} to ${to}`,
    );
  return EXIT.success;
}

/** A store with other documents is changed only on request; one that an earlier copy has begun goes on. */
async function requireEmpty(from: string, target: AnyStore, name: string): Promise<void> {
  if ((await target.replayed(from)) > 0) return;
  const { total } = await target.list({ pathsOnly: true, limit: 1 });
  if (total === 0) return;
  throw new TrunklineError("INVALID_ARGUMENT", `The store in ${name} has ${counted(total, "document")} already.`, {
    hint: "With --merge, the copy is added to them. If both stores have a document with the same collection and path, the copied versions become its newest, and the copied tags and state replace the existing ones.",
  });
}

function rulesOf(context: CommandContext): SecretRules {
  const config = () => openApp(context, { config: "own" }).config();
  return { mayRun: false, foreignFolders: async () => (await config()).foreignFolders ?? [] };
}

/** Opening a folder creates a store in it, so a mistyped source would be an empty store and a successful copy. */
function requireStore({ cwd }: CommandContext, from: string): void {
  if (isStoreAddress(from)) return;
  const folder = resolve(cwd, from);
  if (hasStore(folder)) return;
  throw new TrunklineError("NOT_FOUND", `There is no store in ${printable(folder)}.`, {
    hint: "Give the folder of a store; `trunkline store status` shows where yours is. To store the files of a folder: trunkline store add <path>",
  });
}

function requireAddress(address: string): void {
  if (isStoreAddress(address)) return;
  throw new TrunklineError(
    "USAGE",
    "init creates a store in a database; a store in a folder is created on first use.",
    {
      hint: "Use: trunkline store init postgres://user@host/database",
    },
  );
}

export async function copy(
  context: CommandContext,
  { from, to }: { from: string; to: string },
  options: { json?: boolean; merge?: boolean },
): Promise<number> {
  requireStore(context, from);
  await using source = await openNamedStore(context, from, rulesOf(context));
  await using target = await openNamedStore(context, to, rulesOf(context));
  if (!options.merge) await requireEmpty(source.id, target, printable(isStoreAddress(to) ? "the database" : to));
  const line = progressLineFor(context);
  const result = await copyStore(source, target, {
    signal: context.signal,
    onProgress: ({ progress, total, message }) => line?.update(`copy ${message ?? ""} ${progress}/${total ?? "?"}`),
  });
  line?.clear();
  if (wantsJson(options)) outJson(context, result);
  else {
    const { documents, contents, newBytes, events, sessions, resumed } = result;
    const before = resumed === 0 ? "" : ` (${resumed === events ? "all" : resumed} copied before)`;
    context.out(
      `copied ${counted(documents, "document")}, ${counted(contents, "content")} (${shownBytes(newBytes)} new), ${counted(sessions, "session")} and ${counted(events, "change")}${before}; every content and document was verified`,
    );
  }
  return EXIT.success;
}
