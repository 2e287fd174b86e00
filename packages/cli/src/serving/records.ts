// Journal and token account of one run, in the store's folder.
import type { LoadedConfig } from "@trunkline/client";
import { systemCodeOf } from "@trunkline/core";
import { FileJournal, FileTokenAccount, journalFolder, type TokenAccount } from "@trunkline/server/journal";
import { directTools } from "../direct-tools.js";
import type { CommandContext } from "../terminal/context.js";

/** What is noted while a server runs. */
export interface Records extends AsyncDisposable {
  readonly journal: FileJournal;
  readonly account: TokenAccount;
}

/** Where they are kept, and which servers they are compared with. */
export interface RecordsOptions {
  readonly storeFolder: string;
  /** Whether what is sent goes to a model. */
  readonly counts: boolean;
  config(): Promise<Pick<LoadedConfig, "servers">>;
}

/** Nothing is written before there is something to note; a folder that cannot be written costs one line on stderr. */
export function openRecords(context: CommandContext, { storeFolder, config, counts }: RecordsOptions): Records {
  const folder = journalFolder(storeFolder);
  let isSaid = false;
  const onProblem = (error: unknown) => {
    if (!isSaid)
      context.note(`Calls are not noted: ${folder} cannot be written (${systemCodeOf(error) ?? "unknown"}).`);
    isSaid = true;
  };
  const journal = new FileJournal({ folder, onProblem });
  const tools = async () => {
    const { servers } = await config();
    return await directTools(context, new Set(servers.filter(({ disabled }) => !disabled).map(({ name }) => name)));
  };
  const account = new FileTokenAccount({ folder, onProblem, directTools: tools });
  return {
    journal,
    // What a person reads at a terminal costs no tokens.
    account: counts ? account : { add: () => {}, report: () => account.report() },
    [Symbol.asyncDispose]: async () => {
      await Promise.all([journal.close(), account.close()]);
    },
  };
}
