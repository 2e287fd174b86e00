import { PROGRAM_IDS, redactedArgs, TrunklineError } from "@trunkline/core";
import { commandLine } from "../../terminal/command-line.js";
import { type Cli, hintOnUnknownOption, withJson } from "../flags.js";
import { readServeArgs } from "../serve/command.js";
import type { InstallOptions, UninstallOptions } from "./run.js";

const UNINSTALL_NOTES = `
Your data stays: ~/.trunkline, .trunkline in projects, ~/.cache/trunkline, secrets
in the keychain, and *.before-trunkline beside the files of programs.
Delete them to remove everything.`;

export function addInstall({ program, context, setExitCode }: Cli): void {
  const installing = withJson(program.command("install"))
    .argument("[program]", `${PROGRAM_IDS.slice(0, -1).join(", ")} or ${PROGRAM_IDS.at(-1)}`)
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
    .argument("[program]")
    .option("--restore", "undo `import --move` and `setup`: bring the servers and files back, of all programs or one")
    .option("--project", "from the project's file instead of your own")
    .option("--dry-run", "only show what would be removed")
    .option("--yes", "write without asking")
    .option("--force", "remove an entry even if it is not ours; with --restore, replace later edits")
    .addHelpText("after", UNINSTALL_NOTES)
    .action(async (id: string | undefined, options: Omit<UninstallOptions, "program"> & { restore?: boolean }) => {
      if (options.restore) {
        refuseProject(options.project);
        const { restoreServers } = await import("./restore-servers.js");
        setExitCode(await restoreServers(context, { program: id, ...options }));
        return;
      }
      if (id === undefined) {
        throw new TrunklineError("USAGE", "uninstall needs a program, or --restore.", {
          hint: "`trunkline install` lists the programs.",
        });
      }
      const { uninstall } = await import("./run.js");
      setExitCode(await uninstall(context, { program: id, ...options }));
    });
}

function refuseProject(isProject: boolean | undefined): void {
  if (!isProject) return;
  throw new TrunklineError("USAGE", "--restore brings back every file of a move.", { hint: "Omit --project." });
}

/** Arguments after the program go to `serve`, which takes only options. */
function refuseSecondProgram([first]: readonly string[]): void {
  if (first === undefined || first.startsWith("-")) return;
  throw new TrunklineError("USAGE", `Unexpected argument "${first}": install takes one program.`, {
    hint: "Put options of `trunkline serve` after --.",
  });
}
