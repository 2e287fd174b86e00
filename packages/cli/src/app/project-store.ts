// Which project stores this user created or approved. A store is a database that SQLite opens with everything in it, so
// a project cannot bring its own: the record is in the user's own folder, and binds the id of the store to its real
// place. A store that was copied, moved or replaced is unknown until the user approves it.
import { lstat, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isAbsent, isRecord, parseJson, realPathOf, TrunklineError, writeFileAtomically } from "@trunkline/core";
import { type CommandContext, isAtTerminal } from "../terminal/context.js";

interface KnownStore {
  /** Its folder, with links resolved. */
  readonly path: string;
  readonly id: string;
  /** When it was created or approved, in ISO 8601. */
  readonly since: string;
}

/** The record, in `<home>/stores.json`. Every call reads the file again, because other processes also write to it. */
export class KnownStores {
  readonly #path: string;

  constructor(home: string) {
    this.#path = join(home, "stores.json");
  }

  async list(): Promise<readonly KnownStore[]> {
    const stores = await this.#read();
    return Object.entries(stores).map(([path, store]) => ({ path, ...store }));
  }

  /** Returns the id that the store in a folder must have, if it is known. */
  async idOf(folder: string): Promise<string | undefined> {
    const stores = await this.#read();
    const path = realPathOf(folder);
    return Object.hasOwn(stores, path) ? stores[path]?.id : undefined;
  }

  async remember(folder: string, id: string): Promise<void> {
    const stores = await this.#read();
    stores[realPathOf(folder)] = { id, since: new Date().toISOString() };
    await this.#write(stores);
  }

  /** Returns whether the store was known. */
  async forget(folder: string): Promise<boolean> {
    const stores = await this.#read();
    const path = realPathOf(folder);
    if (!Object.hasOwn(stores, path)) return false;
    delete stores[path];
    await this.#write(stores);
    return true;
  }

  async #read(): Promise<Record<string, { id: string; since: string }>> {
    let text: string;
    try {
      text = await readFile(this.#path, "utf8");
    } catch (error) {
      if (isAbsent(error)) return {};
      throw error;
    }
    const content = parseJson(text);
    const stores = isRecord(content) && isRecord(content.stores) ? content.stores : {};
    return Object.fromEntries(
      Object.entries(stores).flatMap(([path, store]) =>
        isRecord(store) && typeof store.id === "string"
          ? [[path, { id: store.id, since: String(store.since ?? "") }]]
          : [],
      ),
    );
  }

  async #write(stores: Record<string, { id: string; since: string }>): Promise<void> {
    const text = `${JSON.stringify({ version: 1, stores }, null, 2)}\n`;
    await writeFileAtomically(this.#path, text, { mode: 0o600, folderMode: 0o700 });
  }
}

/** How a project's store may be opened. */
export interface StoreApproval {
  /** The id it must have. Undefined: any. */
  readonly id?: string;
  /** Remembers the id of a store that the user has just approved. */
  onOpened?(id: string): Promise<void>;
}

/** Throws `STORE_UNTRUSTED` unless the user created or approved a project's store. At a terminal, the user is asked. */
export async function requireKnownStore(
  context: CommandContext,
  folder: string,
  { mayAsk }: { mayAsk: boolean },
): Promise<StoreApproval> {
  await rejectStoreLinks(folder);
  const known = new KnownStores(context.home);
  const id = await known.idOf(folder);
  if (id !== undefined) return { id };
  if (context.env.TRUNKLINE_TRUST === "all") return {};
  const message = `The store in ${folder} was not created here by you, or its folder was moved or copied.`;
  if (mayAsk && isAtTerminal(context)) {
    const { askApproval } = await import("../terminal/approval-question.js");
    context.note(`${message} Approve it only if you trust whoever made it.`);
    if (await askApproval(context, "store")) return { onOpened: (found) => known.remember(folder, found) };
  }
  throw new TrunklineError("STORE_UNTRUSTED", message, {
    hint: "If you trust it, run `trunkline trust --store` there. To use another store, pass --store or set TRUNKLINE_STORE.",
    data: { store: folder },
  });
}

/** Throws if the `.trunkline` folder of a project, or the store in it, is a link: it would lead to another store. */
export async function rejectStoreLinks(folder: string): Promise<void> {
  for (const path of [dirname(folder), folder]) {
    const found = await lstat(path).catch((error: unknown) => {
      if (isAbsent(error)) return undefined;
      throw error;
    });
    if (found?.isSymbolicLink() !== true) continue;
    throw new TrunklineError(
      "STORE_UNTRUSTED",
      `${path} is a symbolic link, and links in a project are not followed.`,
      {
        hint: "To use the store it leads to, pass its folder with --store.",
        data: { store: folder },
      },
    );
  }
}
