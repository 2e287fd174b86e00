// The command `trunkline store` and its subcommands. Each action is loaded when it is run.
import { type Cli, storeOption } from "../flags.js";
import { registerFinding } from "./register-finding.js";
import { registerGraph } from "./register-graph.js";
import { registerGrep } from "./register-grep.js";
import { registerHistory } from "./register-history.js";
import { registerMaintenance } from "./register-maintenance.js";
import { registerSessions } from "./register-sessions.js";
import { registerWriting } from "./register-writing.js";

const EXAMPLES = `
Examples:
  trunkline store add src docs --tag project        take up folders, as far as .gitignore lets them in
  curl -s https://example.com | trunkline store add --name example.html -
  trunkline store search parse http request         by words; identifiers are taken apart
  trunkline store grep -n 'fn\\s+open\\w+' src        lines that match, as grep and ripgrep do it
  trunkline store graph src/server.ts --depth 2     what it imports and calls; --reverse: who does so with it
  trunkline store list '*.md' --sort-by size        what there is
  trunkline store get README.md --lines 10-40       print a part of a document
  trunkline store get 3f2a91bc --output old.bin     write a content to a file, by the beginning of its hash
  trunkline store get src/server.ts --symbol listen print one function
  trunkline store watch src                         keep the store current until Ctrl-C
  trunkline store snapshot --label before           remember how things are now
  trunkline store diff before                       what has changed since then
  trunkline store restore before --to /tmp/before   bring it back, byte for byte
  trunkline store delete 'drafts/**' --dry-run      what a delete would take; undelete brings it back

The store is the folder given with --store or TRUNKLINE_STORE, else .trunkline/store in this folder or above it, up to the
git root (\`trunkline init\` makes it), else the folder "store" in ~/.trunkline. Several processes may use it at once.
Exit codes: 0 success, 1 failure, or nothing found by search, grep and list, 2 wrong usage
(for grep whatever goes wrong), 130 interrupted.`;

/** Adds `store` and its subcommands. */
export function registerStore({ program, context, setExitCode }: Cli): void {
  const store = program
    .command("store")
    .description("keep documents with their history, and find them again")
    .addOption(storeOption())
    .addHelpText("after", EXAMPLES);
  const group = { store, context, setExitCode };
  registerWriting(group);
  registerFinding(group);
  registerGrep(group);
  registerGraph(group);
  registerHistory(group);
  registerSessions(group);
  registerMaintenance(group);
}
