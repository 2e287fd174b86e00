import type { Command } from "commander";
import type { CommandContext } from "../../terminal/context.js";

/** What the registration of a group of `store` commands is given. */
export interface StoreGroup {
  readonly store: Command;
  readonly context: CommandContext;
  /** Called before a failure, it says with which code to fail. `inOrder`: to be interrupted is no failure. */
  readonly setExitCode: (code: number, options?: { inOrder: boolean }) => void;
}
