import { type Cli, withJson } from "../flags.js";
import type { SetupOptions } from "./run.js";

export function addSetup({ program, context, setExitCode }: Cli): void {
  withJson(program.command("setup"))
    .option("--yes", "do it without asking")
    .option("--dry-run", "only show what would be done")
    .option("--move-secrets", "keep tokens and keys in the keychain, and write only references to the file")
    .action(async (options: SetupOptions) => {
      const { setup } = await import("./run.js");
      setExitCode(await setup(context, options));
    });
}
