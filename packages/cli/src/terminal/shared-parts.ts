// Parts that outlive a command, because the broker keeps them for the next one.
import type { ConnectionPool } from "@trunkline/client";
import type { Embedder, Redactor } from "@trunkline/core";
import type { AskThrough, CallRecorder } from "@trunkline/gateway";
import type { AnyStore } from "@trunkline/store";

/** Runs with the same key share a store. */
export interface StoreKey {
  readonly folder: string;
  readonly id: string | undefined;
  /** Where a store in a database is, to show; its folder is only for what stays on this machine. */
  readonly place?: string;
  /** The digest of the password, for a store in a database. */
  readonly password?: string;
}

/** The warm parts of a broker. An App in it borrows them instead of opening its own. */
export interface SharedParts {
  /** The connections to servers. */
  readonly connections: ConnectionPool;
  /** Returns the store in this folder, opening it if needed. The borrower closes the view that it makes of it. */
  store(key: StoreKey, open: () => Promise<AnyStore>): Promise<AnyStore>;
  /** Returns the embedded model, opening it if needed. It stays open. */
  embedder(open: () => Promise<Embedder | undefined>): Promise<Embedder | undefined>;
  /** Lets a person answer the questions of calls in this folder in the console, too. */
  askThrough(folder: string): AskThrough;
  /** Records calls of a workspace, as in `workspaceKey`, while a person wants that in the console. */
  recorder(workspace: string, redactor: Redactor): CallRecorder;
  /** Creates a link that opens the console once, at the workspace of this person's folder. */
  consoleLink(person: ConsolePerson): Promise<string>;
}

/** Whose console it is: the facts that decide which workspace a folder has. */
export interface ConsolePerson {
  readonly cwd: string;
  readonly userHome: string;
  readonly env: Readonly<NodeJS.ProcessEnv>;
}
