import { TrunklineError } from "@trunkline/core";
import { Option } from "commander";
import { type Cli, withJson } from "../flags.js";
import type { EmbedOptions } from "./run.js";

export function addEmbed({ program, context, setExitCode }: Cli): void {
  withJson(program.command("embed"))
    .argument("<text...>", "one vector per text; quote text that has several words")
    .addOption(
      new Option("--dimensions <number>", "shorten the vectors to this many dimensions").argParser((text) => {
        const dimensions = Number(text);
        if (Number.isInteger(dimensions) && dimensions > 0) return dimensions;
        throw new TrunklineError("USAGE", `"${text}" is not a number of dimensions.`);
      }),
    )
    .option("--model <name>", "the model; with --endpoint, the endpoint's name for it")
    .option("--endpoint <url>", "an OpenAI-compatible API; its key is read from TRUNKLINE_EMBED_API_KEY")
    .action(async (texts: string[], options: Omit<EmbedOptions, "texts">) => {
      const { embed } = await import("./run.js");
      setExitCode(await embed(context, { texts, ...options }));
    });
}
