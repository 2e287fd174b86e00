import { type Cli, refuseWord } from "../flags.js";

export function addModels({ program, context, setExitCode }: Cli): void {
  const models = program.command("models");
  models
    .command("list", { isDefault: true })
    .description("list the models, and check the installed ones")
    .usage("[options]")
    .argument("[word]")
    .option("--json", "print the models as JSON")
    .action(async (word: string | undefined, options: { json?: boolean }) => {
      refuseWord(models, word);
      const { listModels } = await import("./run.js");
      setExitCode(await listModels(context, options));
    });
  models
    .command("pull")
    .description("download a model with npm; no other command downloads anything")
    .argument("[name]", "default: minilm")
    .option("--json", "print the outcome as JSON")
    .action(async (name: string | undefined, options: { json?: boolean }) => {
      const { pullModels } = await import("./run.js");
      setExitCode(await pullModels(context, { name, ...options }));
    });
}
