// Registers what looks after the store itself.
import type { Command } from "commander";
import type { StoreOptions } from "../../terminal/output.js";
import { storePathOf, withCommonOptions } from "../flags.js";
import type { StoreGroup } from "./group.js";
import type { StatusOptions } from "./maintenance.js";

const CHECKS = {
  verify: "check every chunk, reference and index; exit with 1 when something is damaged",
  gc: "empty the trash and remove what nothing refers to",
  repair: "make the indexes anew, and take damaged chunks from files that still have them",
} as const;

export function registerMaintenance({ store, context, setExitCode }: StoreGroup): void {
  const status = store
    .command("status")
    .description("show what the store holds and what that costs")
    .option("--detailed", "with contents, chunks, versions and indexes")
    .option("--file-types", "by extension as well");
  withCommonOptions(status).action(async (options: Omit<StatusOptions, "store">, command: Command) => {
    const maintenance = await import("./maintenance.js");
    setExitCode(await maintenance.status(context, { ...options, store: storePathOf(command) }));
  });

  for (const name of ["verify", "gc", "repair"] as const) {
    withCommonOptions(store.command(name).description(CHECKS[name])).action(
      async (options: Omit<StoreOptions, "store">, command: Command) => {
        const maintenance = await import("./maintenance.js");
        setExitCode(await maintenance[name](context, { ...options, store: storePathOf(command) }));
      },
    );
  }

  const exporting = store
    .command("export")
    .description("write everything to one file, as it is at this moment")
    .argument("<file>")
    .option("--overwrite", "replace the file");
  withCommonOptions(exporting).action(async (file: string, options: { overwrite?: boolean }, command: Command) => {
    const { exportStore } = await import("./maintenance.js");
    setExitCode(await exportStore(context, { ...options, file, store: storePathOf(command) }));
  });

  const importing = store
    .command("import")
    .description("play the history of an export into this store; what is there already is not stored again")
    .argument("<file>");
  withCommonOptions(importing).action(async (file: string, options: Omit<StoreOptions, "store">, command: Command) => {
    const { importStore } = await import("./maintenance.js");
    setExitCode(await importStore(context, { ...options, file, store: storePathOf(command) }));
  });
}
