import { type Cli, withJson } from "../flags.js";
import type { ImportOptions } from "./run.js";

export function addImport({ program, context, setExitCode }: Cli): void {
  withJson(program.command("import"))
    .argument(
      "[source...]",
      "vscode, cursor, claude-code, claude-desktop, codex, windsurf, zed, gemini, opencode, cline, or all",
    )
    .option("--from <file>", "read this file")
    .option("--user", "write to your own settings")
    .option("--project", "write to the project's .trunkline/mcp.json")
    .option("--dry-run", "only show what would be written")
    .option("--yes", "write without asking")
    .option("--move-secrets", "put tokens and keys into the keychain, and references to them into the file")
    .option("--overwrite", "replace servers of the same name")
    .action(async (programs: string[], options: Omit<ImportOptions, "programs">) => {
      const { importServers } = await import("./run.js");
      setExitCode(await importServers(context, { programs, ...options }));
    });
}
