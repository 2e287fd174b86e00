// Registers what changes the store's documents.
import type { Command } from "commander";
import { repeatable, storePathOf, wholeNumberOption, withCommonOptions, withDescription } from "../flags.js";
import type { AddOptions, DownloadOptions } from "./adding.js";
import type { DeleteOptions, UpdateOptions } from "./changing.js";
import type { StoreGroup } from "./group.js";

export function registerWriting({ store, context, setExitCode }: StoreGroup): void {
  const add = store
    .command("add")
    .description("add files and folders, or stdin with - and a --name")
    .argument("<path...>", "files and folders; - is stdin")
    .option("--name <name>", "what content from stdin is called")
    .option("-r, --recursive", "with the folders below; this is the default")
    .option("--no-recursive", "only the files of the folder itself")
    .addOption(repeatable("--include <glob>", "of a folder, only what matches"))
    .addOption(repeatable("--exclude <glob>", "of a folder, not what matches"));
  withCommonOptions(withDescription(add).option("--label <label>", "take a snapshot with this label")).action(
    async (paths: string[], options: Omit<AddOptions, "paths" | "store">, command: Command) => {
      const { addDocuments } = await import("./adding.js");
      setExitCode(await addDocuments(context, { ...options, paths, store: storePathOf(command) }));
    },
  );

  const download = store
    .command("download")
    .description("download an address into the store; an interrupted download goes on where it was")
    .argument("<url>", "http or https")
    .option("--checksum <sha256>", "store nothing unless the content has this hash")
    .addOption(wholeNumberOption("--max-bytes <number>", "give up beyond this size", { from: 1 }))
    .addOption(repeatable("--header <header>", "'Name: value'"))
    .addOption(
      wholeNumberOption("--timeout <seconds>", "how long the server may be silent", { from: 1, to: 86_400 }).default(
        60,
      ),
    )
    .option("--no-resume", "begin anew")
    .option("--allow-private", "allow addresses in private networks and on this machine");
  withCommonOptions(withDescription(download)).action(
    async (url: string, options: Omit<DownloadOptions, "url" | "store">, command: Command) => {
      const adding = await import("./adding.js");
      setExitCode(await adding.download(context, { ...options, url, store: storePathOf(command) }));
    },
  );

  const update = store
    .command("update")
    .description("change tags and metadata of documents")
    .argument("[document]", "a path or the end of one, a glob in quotes, or a hash")
    .option("--pattern <glob>", "every document that matches")
    .addOption(repeatable("--tag <tag>", "add a tag"))
    .addOption(repeatable("--remove-tag <tag>", "take a tag away"))
    .addOption(repeatable("--metadata <key=value>", "set metadata"))
    .option("--collection <name>", "only in this collection");
  withCommonOptions(update).action(
    async (target: string | undefined, options: Omit<UpdateOptions, "target" | "store">, command: Command) => {
      const changing = await import("./changing.js");
      setExitCode(await changing.update(context, { ...options, target, store: storePathOf(command) }));
    },
  );

  const remove = store
    .command("delete")
    .description("move documents to the trash; snapshots keep their content")
    .argument("[document...]", "paths or ends of paths, or globs in quotes")
    .option("--pattern <glob>", "every document that matches")
    .option("--collection <name>", "only in this collection")
    .option("--session <id>", "it belongs to this session")
    .option("--dry-run", "only show what would be deleted");
  withCommonOptions(remove).action(
    async (names: string[], options: Omit<DeleteOptions, "names" | "store">, command: Command) => {
      const { deleteDocuments } = await import("./changing.js");
      setExitCode(await deleteDocuments(context, { ...options, names, store: storePathOf(command) }));
    },
  );

  const undelete = store
    .command("undelete")
    .description("bring documents back from the trash")
    .argument("<document>", "a path or the end of one, or a glob in quotes")
    .option("--collection <name>", "only in this collection");
  withCommonOptions(undelete).action(async (name: string, options: { collection?: string }, command: Command) => {
    const changing = await import("./changing.js");
    setExitCode(await changing.undelete(context, { ...options, name, store: storePathOf(command) }));
  });
}
