import { PROGRAM_IDS } from "@trunkline/core";
import { type Cli, withJson } from "../flags.js";
import type { ImportOptions } from "./run.js";

export function addImport({ program, context, setExitCode }: Cli): void {
  withJson(program.command("import"))
    .argument("[source...]", `${PROGRAM_IDS.join(", ")}, or all`)
    .option("--from <file>", "read this file")
    .option("--user", "for you, in every folder: write to ~/.trunkline/settings.json")
    .option("--project", "for this project: write to its .trunkline/mcp.json, which others can share")
    .option("--dry-run", "only show what would be written")
    .option("--yes", "write without asking")
    .option("--move-secrets", "keep tokens and keys in the keychain, and write only references to the file")
    .option("--overwrite", "replace servers of the same name")
    .option("--move", "move the servers: also remove them there, and install Trunkline in their place")
    .option("--include-project", "with --move: also those in the project's files, which others may share")
    .action(async (programs: string[], options: Omit<ImportOptions, "programs">) => {
      if (options.move) {
        const { moveServers } = await import("./move-servers.js");
        setExitCode(await moveServers(context, { programs, ...options }));
        return;
      }
      const { importServers } = await import("./run.js");
      setExitCode(await importServers(context, { programs, ...options }));
    });
}
