// The options of `ask`, `chat` and `agent`, the commands that use a model.
import { TrunklineError } from "@trunkline/core";
import { type Command, Option } from "commander";
import { mcpOption, repeatable, storeOption, wholeNumberOption } from "./flags.js";

const MODEL_NOTES = `
Choose the model with --provider, --model and --endpoint, or with TRUNKLINE_PROVIDER, TRUNKLINE_MODEL and TRUNKLINE_ENDPOINT.
Otherwise the provider follows from the API key that is set: TRUNKLINE_API_KEY, OPENAI_API_KEY, ANTHROPIC_API_KEY or
GEMINI_API_KEY. OPENAI_BASE_URL and OLLAMA_HOST work too, and all of these can be in a .env file. Run \`trunkline doctor\` to
check that the model responds.

Tools that change things ask for approval. Without a terminal they are refused unless --yes, --allow or
"agent": {"allow": [...]} in ~/.trunkline/settings.json allows them.`;

/** Adds the options the three commands share. */
export function withAgentOptions(command: Command): Command {
  return (
    command
      .addOption(
        repeatable("--tool <name>", "a tool for the model: a name in any style, a URI or a glob such as 'docs.*'"),
      )
      .option("--no-tools", "give the model no tools")
      .addOption(
        new Option(
          "--surface <kind>",
          "composite: everything through query, execute and session; direct: the tools themselves, all of them without --tool",
        ).choices(["composite", "direct"]),
      )
      .option(
        "--provider <name>",
        "openai, anthropic, google, ollama, lmstudio, llamacpp, vllm, openai-compatible or echo",
      )
      .option("--model <name>", "the provider's name for the model")
      .option("--endpoint <url>", "the provider's URL, such as http://127.0.0.1:8000/v1")
      .option("--script <file>", "with --provider echo: what the model says, one turn on each line, as JSON")
      .option("--stream", "print the answer as it arrives, even in a pipe")
      .option("--json", "have the model answer in JSON, and print only that")
      // `text` and `json` are former spellings; `--json` is the one to use.
      .addOption(
        new Option(
          "--format <schema>",
          "have it answer in JSON that matches this JSON Schema: inline or a file",
        ).default("text", "any text"),
      )
      .on("option:json", () => {
        if (command.getOptionValue("format") === "text") command.setOptionValue("format", "json");
      })
      .option("--pretty", "indent the JSON")
      .option("--think", "let the model think first, and show its thoughts")
      .addOption(wholeNumberOption("--max-turns <number>", "maximum number of turns", { from: 1 }).default(10))
      .addOption(wholeNumberOption("--max-tokens <number>", "maximum number of tokens in total", { from: 1 }))
      .addOption(
        new Option("--max-time <seconds>", "time limit").argParser((text) => {
          const seconds = text.trim() === "" ? Number.NaN : Number(text);
          if (seconds === 0) return undefined;
          if (seconds > 0 && seconds <= 604_800) return seconds;
          throw new TrunklineError("USAGE", `"${text}" is not a number of seconds.`);
        }),
      )
      .option("--yes", "run tools that change things without asking")
      .addOption(repeatable("--allow <glob>", "run these tools or operations without asking"))
      .option("--usage", "print the cost in tokens and dollars")
      .option("--record <file>", "record everything that happens to a file")
      .option("--replay <file>", "replay a recorded run, without its model and tools")
      .addOption(repeatable("--root <folder>", "tell the servers they may work in this folder"))
      .addOption(storeOption())
      .addOption(mcpOption())
      .addHelpText("after", MODEL_NOTES)
  );
}
