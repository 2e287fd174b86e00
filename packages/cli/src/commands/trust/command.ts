import type { Command } from "commander";
import { type Cli, mcpOption, mcpPathOf, repeatable, withJson } from "../flags.js";
import type { TrustOptions } from "./run.js";

export function addTrust({ program, context, setExitCode }: Cli): void {
  withJson(program.command("trust"))
    .option("--yes", "approve without asking")
    .option("--list", "list approved files, workspaces and stores")
    .option("--revoke", "withdraw the approval of this project's files")
    .option("--workspace", "let your own servers run in this workspace and read its .env; with --revoke, stop that")
    .option("--store", "use this project's store although you did not create it; with --revoke, stop using it")
    .addOption(repeatable("--secret <name>", "give this secret to the files that ask for it; --yes alone gives none"))
    .addOption(mcpOption())
    .action(async (options: Omit<TrustOptions, "mcp">, command: Command) => {
      const { trust } = await import("./run.js");
      setExitCode(await trust(context, { ...options, mcp: mcpPathOf(command) }));
    });
}
