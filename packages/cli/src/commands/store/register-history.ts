// Registers collections, snapshots and what goes with them.
import type { Command } from "commander";
import type { StoreOptions } from "../../terminal/output.js";
import { repeatable, storePathOf, wholeNumberOption, withCommonOptions } from "../flags.js";
import type { StoreGroup } from "./group.js";
import type { DiffOptions, RestoreOptions } from "./history.js";

export function registerHistory({ store, context, setExitCode }: StoreGroup): void {
  const snapshot = store
    .command("snapshot")
    .description("remember a collection as it is now; it costs next to nothing")
    .option("--collection <name>", "of this collection", "default")
    .option("--label <label>", "a name to find it again by");
  withCommonOptions(snapshot).action(async (options: { collection: string; label?: string }, command: Command) => {
    const history = await import("./history.js");
    setExitCode(await history.snapshot(context, { ...options, store: storePathOf(command) }));
  });

  const snapshots = store
    .command("snapshots")
    .description("list snapshots, the newest first")
    .option("--collection <name>", "only of this collection")
    .addOption(wholeNumberOption("--limit <number>", "how many (default: 100)", { from: 1 }))
    .option("--cursor <cursor>", "go on where an earlier list ended");
  withCommonOptions(snapshots).action(
    async (options: { collection?: string; limit?: number; cursor?: string }, command: Command) => {
      const history = await import("./history.js");
      setExitCode(await history.listSnapshots(context, { ...options, store: storePathOf(command) }));
    },
  );

  const collections = store.command("collections").description("list collections and the folders they come from");
  withCommonOptions(collections).action(async (options: Omit<StoreOptions, "store">, command: Command) => {
    const history = await import("./history.js");
    setExitCode(await history.listCollections(context, { ...options, store: storePathOf(command) }));
  });

  const diff = store
    .command("diff")
    .description("show what changed between two snapshots, or since one")
    .argument("<from>", "a snapshot's id or label")
    .argument("[to]", "another; without it, how things are now")
    .option("--path <path>", "show how the text of this document changed")
    .option("--collection <name>", "look for labels in this collection only");
  withCommonOptions(diff).action(
    async (from: string, to: string | undefined, options: Omit<DiffOptions, "from" | "to" | "store">, command) => {
      const history = await import("./history.js");
      setExitCode(await history.diff(context, { ...options, from, to, store: storePathOf(command) }));
    },
  );

  const restore = store
    .command("restore")
    .description("write a snapshot or a collection to a folder, byte for byte, with modes and times")
    .argument("[snapshot|collection]", "a snapshot's id or label, or a collection")
    .requiredOption("--to <folder>", "where to; nothing is written outside it")
    .option("--collection <name>", "this collection, or a snapshot of it")
    .option("--dry-run", "only show what would be written")
    .option("--overwrite", "replace files that are in the way")
    .addOption(repeatable("--include <glob>", "only what matches"))
    .addOption(repeatable("--exclude <glob>", "not what matches"));
  withCommonOptions(restore).action(
    async (source: string | undefined, options: Omit<RestoreOptions, "source" | "store">, command: Command) => {
      const history = await import("./history.js");
      setExitCode(await history.restore(context, { ...options, source, store: storePathOf(command) }));
    },
  );
}
