// `trunkline store`: one command per operation of the contract. Arguments and options come from the table; this file
// adds the options that only a terminal needs, and the module of each command, which is loaded on demand.
import { OPERATIONS, type OperationName, type OperationParams } from "@trunkline/store/contract";
import { type Command, Option } from "commander";
import { EXIT } from "../../app/exit-codes.js";
import type { CommandContext } from "../../terminal/context.js";
import { type Cli, repeatable, secondsOption, storeOption, storePathOf, withJson } from "../flags.js";
import { addParameters, helpOf } from "./parameter-options.js";

const EXAMPLES = `
Examples:
  trunkline store add src docs --tag project        add folders; files that .gitignore names are left out
  curl -s https://example.com | trunkline store add --name example.html -
  trunkline store search parse http request         by words; identifiers are split into words
  trunkline store grep -n 'fn\\s+open\\w+' src        lines that match, like grep and ripgrep
  trunkline store graph src/server.ts --depth 2     what it imports and calls; --reverse: what imports and calls it
  trunkline store list '*.md' --sort-by size        list documents
  trunkline store get README.md --lines 10-40       print a part of a document
  trunkline store get 3f2a91bc --output old.bin     write content to a file; the first digits of its hash are enough
  trunkline store get src/server.ts --symbol listen print one function
  trunkline store watch src                         keep the store up to date until Ctrl-C
  trunkline store snapshot --label before           take a snapshot
  trunkline store diff before                       what has changed since then
  trunkline store restore before --to /tmp/before   bring it back, byte for byte
  trunkline store delete 'drafts/**' --dry-run      what a delete would remove; undelete brings it back

The store is the folder given with --store or TRUNKLINE_STORE, else .trunkline/store in this folder or above it, up to the
git root (\`trunkline init\` creates it), else the folder "store" in ~/.trunkline. Several processes may use it at once.
For a team, the store can be in a PostgreSQL database: --store postgres://user@host/database, or "store" in your settings.
Exit codes: 0 success, 1 failure, or nothing found by search, grep and list, 2 wrong usage
(for grep any error), 130 interrupted.`;

interface StoreCommand<Name extends OperationName> {
  /** Options that are not parameters of the operation. */
  readonly options?: (command: Command) => Command;
  /** Besides text and JSON. */
  readonly formats?: readonly string[];
  /** The exit code for any error, if it differs from the usual one. */
  readonly errorCode?: number;
  /** Whether the command runs until it is interrupted. */
  readonly untilInterrupted?: boolean;
  /** Loads the implementation. It gets the parameters and the options that `options` declares. */
  readonly load: () => Promise<
    (context: CommandContext, params: OperationParams<Name>, options: never) => Promise<number>
  >;
}

/** The commands in help order. */
const COMMANDS: { readonly [Name in OperationName]?: StoreCommand<Name> } = {
  add: {
    options: (add) => add.option("-r, --recursive", "include subfolders; this is the default"),
    load: async () => (await import("./adding.js")).add,
  },
  download: {
    options: (download) =>
      download
        .addOption(repeatable("--header <header>", "'Name: value'"))
        .addOption(secondsOption("how long the server may stay silent").default(60))
        .option("--allow-private", "allow addresses in private networks and on this machine"),
    load: async () => (await import("./adding.js")).download,
  },
  update: { load: async () => (await import("./changing.js")).update },
  delete: { load: async () => (await import("./changing.js")).deleteDocuments },
  undelete: { load: async () => (await import("./changing.js")).undelete },
  search: { load: async () => (await import("./finding.js")).search },
  list: { load: async () => (await import("./finding.js")).list },
  get: { load: async () => (await import("./finding.js")).get },
  grep: {
    options: (grep) =>
      grep
        .option("-e, --regexp <pattern>", "the pattern, if it starts with a dash")
        .option("-S, --smart-case", "ignore case, unless the pattern has a capital letter")
        .option("-q, --quiet", "print nothing; the exit code says whether something matches")
        .option("-N, --no-line-number", "without line numbers")
        .option("--heading", "print the path once, above its lines; this is the default at a terminal")
        .option("--no-heading", "print the path in front of each line; this is the default in a pipe")
        .option("-0, --null", "with -l: end each path with a zero byte, for xargs -0")
        .addOption(repeatable("-g, --glob <glob>", "the same as --include, or with a leading ! as --exclude"))
        .option("--page", "stop after one page, and print the cursor to continue with")
        // Accepted out of grep habit: folders are always searched recursively, paths always shown, patterns always
        // extended.
        .addOption(new Option("-r, --recursive").hideHelp())
        .addOption(new Option("-H, --with-filename").hideHelp())
        .addOption(new Option("-E, --extended-regexp").hideHelp()),
    // 1 means that nothing matches, so errors need another code.
    errorCode: EXIT.usage,
    load: async () => (await import("./grep.js")).grep,
  },
  graph: { formats: ["mermaid"], load: async () => (await import("./graph.js")).graph },
  snapshot: { load: async () => (await import("./history.js")).snapshot },
  list_snapshots: { load: async () => (await import("./history.js")).listSnapshots },
  list_collections: { load: async () => (await import("./history.js")).listCollections },
  diff: { load: async () => (await import("./history.js")).diff },
  restore: { load: async () => (await import("./history.js")).restore },
  watch: {
    options: (watch) =>
      watch
        .option("--label <label>", "the label of the session (default: watch)")
        .option("--session <id>", "continue this session"),
    untilInterrupted: true,
    load: async () => (await import("./sessions.js")).watch,
  },
  list_sessions: { load: async () => (await import("./sessions.js")).listSessions },
  start: { load: async () => (await import("./sessions.js")).startSession },
  stop: {
    options: (stop) => stop.argument("<session>", "its id, as start and sessions print it"),
    load: async () => (await import("./sessions.js")).stopSession,
  },
  pin: { load: async () => (await import("./sessions.js")).pin },
  unpin: { load: async () => (await import("./sessions.js")).unpin },
  status: { load: async () => (await import("./maintenance.js")).status },
  verify: { load: async () => (await import("./maintenance.js")).verify },
  gc: { load: async () => (await import("./maintenance.js")).gc },
  repair: { load: async () => (await import("./maintenance.js")).repair },
  export: { load: async () => (await import("./maintenance.js")).exportStore },
  import: { load: async () => (await import("./maintenance.js")).importStore },
};

export function registerStore({ program, context, setExitCode }: Cli): void {
  const store = program.command("store").addOption(storeOption()).addHelpText("after", EXAMPLES);
  for (const name of Object.keys(COMMANDS) as OperationName[]) registerOperation(store, name, { context, setExitCode });
  registerDatabases(store, { context, setExitCode });
}

/** Commands about stores as a whole. */
function registerDatabases(store: Command, { context, setExitCode }: Pick<Cli, "context" | "setExitCode">): void {
  const init = store
    .command("init")
    .description("create a store in a PostgreSQL database, or migrate an older one")
    .argument(
      "<address>",
      "postgres://user@host/database; the password may also come from PGPASSWORD, ~/.pgpass or ${secret:NAME}",
    );
  withJson(init).action(async (address: string) => {
    setExitCode(await (await import("./copying.js")).initStore(context, address, init.opts()));
  });
  const copy = store
    .command("copy")
    .description("copy a store with its history into another one; an interrupted copy continues where it stopped")
    .argument("<from>", "a folder, or the address of a database")
    .argument("<to>", "a folder, or the address of a database with a store")
    .option(
      "--merge",
      "copy into a store that has other documents; for a path in both, the copied versions become the newest",
    );
  withJson(copy).action(async (from: string, to: string) => {
    setExitCode(await (await import("./copying.js")).copy(context, { from, to }, copy.opts()));
  });
}

function registerOperation(
  store: Command,
  name: OperationName,
  { context, setExitCode }: Pick<Cli, "context" | "setExitCode">,
): void {
  const operation = OPERATIONS[name];
  // Each name has one command, and the table above checks its parameters.
  const entry = COMMANDS[name] as StoreCommand<never>;
  const { command: alias = name, about = helpOf(operation.summary) } = operation.cli ?? {};
  const command = store.command(alias).description(about);
  const readParams = addParameters(command, operation.params);
  if (operation.inSession === true) command.option("--session <id>", "the session it belongs to");
  entry.options?.(command);
  withJson(command, undefined, entry.formats)
    .addOption(storeOption())
    .action(async () => {
      if (entry.errorCode !== undefined) setExitCode(entry.errorCode);
      const run = await entry.load();
      const { params, rest } = readParams();
      const options = { ...command.opts(), store: storePathOf(command), rest };
      const code = await run(context, params as never, options as never);
      setExitCode(code, { inOrder: entry.untilInterrupted === true && code === EXIT.success });
    });
}
