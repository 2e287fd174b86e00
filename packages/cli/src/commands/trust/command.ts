import type { Cli } from "../flags.js";
import type { TrustOptions } from "./run.js";

/** Adds `trust`. */
export function addTrust({ program, context, setExitCode }: Cli): void {
  program
    .command("trust")
    .option("--yes", "confirm without asking")
    .option("--list", "list the files that are confirmed")
    .option("--revoke", "take the confirmation of this project's files back")
    .action(async (options: TrustOptions) => {
      const { trust } = await import("./run.js");
      setExitCode(await trust(context, options));
    });
}
