import { TrunklineError } from "@trunkline/core";
import type { Cli } from "../flags.js";
import { checkServeArgs } from "../serve/command.js";
import type { InstallOptions, UninstallOptions } from "./run.js";

/** Adds `install` and `uninstall`. */
export function addInstall({ program, context, setExitCode }: Cli): void {
  program
    .command("install")
    .argument("[program]", "claude-code, claude-desktop, cursor, vscode, codex, windsurf, zed or gemini")
    .argument("[options...]", "after --: what `trunkline serve` is started with")
    .usage("[program] [--project] [--yes] [-- options of serve…]")
    .option("--project", "in the project's file instead of your own")
    .option("--dry-run", "only show what would be written")
    .option("--yes", "write without asking")
    .option("--force", "replace an entry of that name that is not ours")
    .action(
      async (id: string | undefined, serveArgs: string[], options: Omit<InstallOptions, "program" | "serveArgs">) => {
        refuseSecondProgram(serveArgs);
        await checkServeArgs(serveArgs);
        const { install } = await import("./run.js");
        setExitCode(await install(context, { program: id, serveArgs, ...options }));
      },
    );

  program
    .command("uninstall")
    .argument("<program>")
    .option("--project", "out of the project's file instead of your own")
    .option("--dry-run", "only show what would be removed")
    .option("--yes", "write without asking")
    .option("--force", "also an entry of that name that is not ours")
    .action(async (id: string, options: Omit<UninstallOptions, "program">) => {
      const { uninstall } = await import("./run.js");
      setExitCode(await uninstall(context, { program: id, ...options }));
    });
}

/** What stands behind the program is for `serve`, and that takes nothing but options. */
function refuseSecondProgram([first]: readonly string[]): void {
  if (first === undefined || first.startsWith("-")) return;
  throw new TrunklineError("USAGE", `"${first}" is one too many: install takes one program.`, {
    hint: "Options of `trunkline serve` stand behind --.",
  });
}
