// Stores in a database, for a team.
import { createHash } from "node:crypto";
import { join, resolve } from "node:path";
import type { AnyStore } from "@trunkline/store";
import type { CommandContext } from "../terminal/context.js";

/** Whether the name of a store is the address of a database, not a folder. */
export function isStoreAddress(name: string): boolean {
  return /^postgres(?:ql)?:\/\//i.test(name);
}

/** Returns the folder for what belongs to a store in a database but stays on this machine, such as unfinished downloads. */
export function addressFolder(home: string, address: string): string {
  const digest = createHash("sha256").update(withoutPassword(address)).digest("hex");
  return join(home, "databases", digest.slice(0, 16));
}

/** A password that changes must not lead to another folder. */
function withoutPassword(address: string): string {
  return address.replace(/^([a-z]+:\/\/[^:/@]*):[^@/]*@/i, "$1@");
}

/** Keeps the password of an address out of everything that is shown. */
export function redactAddress({ redactor }: Pick<CommandContext, "redactor">, address: string): void {
  const password = /^[a-z]+:\/\/[^:/@]*:([^@/]+)@/i.exec(address)?.[1];
  if (password === undefined) return;
  redactor.add(password);
  try {
    redactor.add(decodeURIComponent(password));
  } catch (error) {
    // Not percent-encoded: the password is what is written.
    if (!(error instanceof URIError)) throw error;
  }
}

/** What a store in a database is opened with. */
export interface AddressOptions {
  readonly id?: string | undefined;
  readonly ownFolders?: readonly string[] | undefined;
  readonly unwritable?: readonly string[] | undefined;
}

/** Opens a store in a database. */
export async function openAddress(
  context: CommandContext,
  address: string,
  options: AddressOptions = {},
): Promise<AnyStore> {
  redactAddress(context, address);
  const { openPostgresStore } = await import("@trunkline/store-postgres");
  return await openPostgresStore({
    ...options,
    url: address,
    cwd: context.cwd,
    folder: addressFolder(context.home, address),
    logger: context.logger,
    openEmbedded,
  });
}

async function openEmbedded(folder: string): Promise<AnyStore> {
  const { openStore } = await import("@trunkline/store");
  return await openStore({ path: folder });
}

/** Opens a store that the user named, of either engine. */
export async function openNamedStore(context: CommandContext, name: string): Promise<AnyStore> {
  if (isStoreAddress(name)) return await openAddress(context, name);
  return await openEmbedded(resolve(context.cwd, name));
}
