import type { Command } from "commander";
import type { CommandContext } from "../../context.js";

/** What the registration of a group of `store` commands is given. */
export interface StoreGroup {
  readonly store: Command;
  readonly context: CommandContext;
  readonly setExitCode: (code: number) => void;
}
