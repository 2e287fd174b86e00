import { type Cli, withJson } from "../flags.js";
import type { InitOptions } from "./run.js";

export function addInit({ program, context, setExitCode }: Cli): void {
  withJson(program.command("init"))
    .argument("[folder]", "default: the project this folder is in, or this folder")
    .option("--no-add", "only create the store")
    .option("--exclude <glob...>", "skip paths that match")
    .option("--force", "even if it would index your whole home folder")
    .action(async (folder: string | undefined, options: Omit<InitOptions, "folder">) => {
      const { init } = await import("./run.js");
      setExitCode(await init(context, { folder, ...options }));
    });
}
