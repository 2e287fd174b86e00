// Stores in a database, for a team: where the password comes from, and what happens to a schema of an older version.
import { resolve } from "node:path";
import { isTrunklineError, printable, TrunklineError } from "@trunkline/core";
import type { AnyStore } from "@trunkline/store";
import { type CommandContext, isAtTerminal } from "../terminal/context.js";
import type { SecretRules } from "./secret-behind.js";
import { addressFolder, isStoreAddress, redactAddress, referenceIn, withoutReference } from "./store-address.js";

/** An address to connect to, and the password if it is not in it. */
interface Login {
  readonly url: string;
  readonly password: string | undefined;
}

/**
 * Finds the password of an address: in it, behind a reference to a secret, in PGPASSWORD or in ~/.pgpass of this client.
 */
export async function loginOf(context: CommandContext, address: string, rules: SecretRules): Promise<Login> {
  redactAddress(context, address);
  const url = withoutReference(address);
  const body = referenceIn(address);
  if (body === undefined) {
    if (/\$\{[^}]*\}/.test(address)) throw misplacedReference();
    const { findPassword } = await import("@trunkline/store-postgres");
    const { password, ignoredFile } = await findPassword(url, { env: context.env, home: context.userHome });
    if (ignoredFile !== undefined) {
      const file = printable(ignoredFile);
      context.note(`${file} was not read, because others can read it. Fix it: chmod 600 ${file}`, "warning");
    }
    if (password !== undefined) context.redactor.add(password);
    return { url, password };
  }
  const { secretBehind } = await import("./secret-behind.js");
  const password = await secretBehind(context, body, rules);
  if (password === undefined) throw misplacedReference();
  context.redactor.add(password);
  return { url, password };
}

function misplacedReference(): TrunklineError {
  return new TrunklineError("INVALID_ARGUMENT", "A reference in the address of a store can only be its password.", {
    hint: "Write postgres://user:${secret:NAME}@host/database, or ${env:NAME} or ${op://vault/item/field} in its place.",
  });
}

/** What a store in a database is opened with. */
interface AddressOptions {
  readonly id?: string;
  readonly ownFolders?: readonly string[];
  readonly unwritable?: readonly string[];
  /** Whether the user may be asked to migrate the store. */
  readonly mayAsk?: boolean;
}

/** Opens a store in a database. A store of an older version is migrated only if the user at the terminal agrees. */
export async function openLogin(context: CommandContext, login: Login, options: AddressOptions): Promise<AnyStore> {
  const { mayAsk, ...others } = options;
  const { openPostgresStore } = await import("@trunkline/store-postgres");
  const open = (migrate: boolean) =>
    openPostgresStore({
      ...{ ...others, ...login, migrate, openEmbedded },
      cwd: context.cwd,
      folder: addressFolder(context.home, login.url),
      // A store that others use as well outlives this run's streams.
      logger: context.shared === undefined ? context.logger : undefined,
    });
  try {
    return await open(false);
  } catch (error) {
    if (!mayAsk || !isTrunklineError(error) || error.data?.needsMigration !== true || !isAtTerminal(context))
      throw error;
    const { askYesNo } = await import("../terminal/questions.js");
    context.note(error.message);
    if (!(await askYesNo(context, "Migrate it now? Gateways of earlier versions cannot use it afterwards.")))
      throw error;
    return await open(true);
  }
}

async function openEmbedded(folder: string): Promise<AnyStore> {
  const { openStore } = await import("@trunkline/store");
  return await openStore({ path: folder });
}

/** Opens a store that the user named on the command line, of either engine. */
export async function openNamedStore(context: CommandContext, name: string, rules: SecretRules): Promise<AnyStore> {
  if (isStoreAddress(name)) return await openLogin(context, await loginOf(context, name, rules), { mayAsk: true });
  return await openEmbedded(resolve(context.cwd, name));
}
