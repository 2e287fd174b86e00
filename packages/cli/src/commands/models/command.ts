import type { Command } from "commander";
import { type Cli, refuseWord, withJson } from "../flags.js";

export function addModels({ program, context, setExitCode }: Cli): void {
  const models = program.command("models");
  withJson(models.command("list", { isDefault: true }))
    .description("list the models, and check the installed ones")
    .usage("[options]")
    .allowExcessArguments()
    .action(async (options: { json?: boolean }, command: Command) => {
      refuseWord(models, command.args[0]);
      const { listModels } = await import("./run.js");
      setExitCode(await listModels(context, options));
    });
  withJson(models.command("pull"))
    .description(
      "download a model with npm; `setup`, `init` and `install` offer it, and nothing else downloads anything",
    )
    .argument("[name]", "default: minilm")
    .action(async (name: string | undefined, options: { json?: boolean }) => {
      const { pullModels } = await import("./run.js");
      setExitCode(await pullModels(context, { name, ...options }));
    });
}
