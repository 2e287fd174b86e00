import { redactedArgs, TrunklineError } from "@trunkline/core";
import { commandLine } from "../../terminal/command-line.js";
import { type Cli, hintOnUnknownOption, withJson } from "../flags.js";
import { readServeArgs } from "../serve/command.js";
import type { InstallOptions, UninstallOptions } from "./run.js";

export function addInstall({ program, context, setExitCode }: Cli): void {
  const installing = withJson(program.command("install"))
    .argument("[program]", "claude-code, claude-desktop, cursor, vscode, codex, windsurf, zed or gemini")
    .argument("[options...]", "after --: options for `trunkline serve`")
    .usage("[program] [--project] [--yes] [-- options of serve…]")
    .option(
      "--http [url]",
      "connect to a running `trunkline serve --http`, with its token, instead of starting a server",
    )
    .option("--project", "in the project's file instead of your own")
    .option("--dry-run", "only show what would be written")
    .option("--yes", "write without asking")
    .option("--force", "replace an entry of that name even if it is not ours")
    .action(
      async (id: string | undefined, serveArgs: string[], options: Omit<InstallOptions, "program" | "serveArgs">) => {
        refuseSecondProgram(serveArgs);
        await readServeArgs(serveArgs);
        const { install } = await import("./run.js");
        setExitCode(await install(context, { program: id, serveArgs, ...options }));
      },
    );

  hintOnUnknownOption(installing, ([id, ...serveArgs]) => {
    if (id === undefined || id.startsWith("-")) return undefined;
    const words = commandLine(["trunkline", "install", id, "--", ...redactedArgs(serveArgs)]);
    return `Put \`--\` before options of \`trunkline serve\`: ${words}`;
  });

  withJson(program.command("uninstall"))
    .argument("<program>")
    .option("--project", "from the project's file instead of your own")
    .option("--dry-run", "only show what would be removed")
    .option("--yes", "write without asking")
    .option("--force", "remove an entry of that name even if it is not ours")
    .action(async (id: string, options: Omit<UninstallOptions, "program">) => {
      const { uninstall } = await import("./run.js");
      setExitCode(await uninstall(context, { program: id, ...options }));
    });
}

/** Arguments after the program go to `serve`, which takes only options. */
function refuseSecondProgram([first]: readonly string[]): void {
  if (first === undefined || first.startsWith("-")) return;
  throw new TrunklineError("USAGE", `Unexpected argument "${first}": install takes one program.`, {
    hint: "Put options of `trunkline serve` after --.",
  });
}
