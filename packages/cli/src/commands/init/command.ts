import type { Cli } from "../flags.js";
import type { InitOptions } from "./run.js";

/** Adds `init`. */
export function addInit({ program, context, setExitCode }: Cli): void {
  program
    .command("init")
    .argument("[folder]", "default: the project that this folder is in, or this folder")
    .option("--no-add", "only make the store")
    .option("--force", "also where everything of yours would be taken in")
    .action(async (folder: string | undefined, options: Omit<InitOptions, "folder">) => {
      const { init } = await import("./run.js");
      setExitCode(await init(context, { folder, ...options }));
    });
}
