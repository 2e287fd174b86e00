// The options of `ask`, `chat` and `agent`, the commands with a model in the loop.
import { TrunklineError } from "@trunkline/core";
import { type Command, Option } from "commander";
import { mcpOption, repeatable, storeOption, wholeNumberOption } from "./flags.js";

const MODEL_NOTES = `
The model: --provider, --model and --endpoint, else TRUNKLINE_PROVIDER, TRUNKLINE_MODEL and TRUNKLINE_ENDPOINT, else what a
key stands for. Keys: TRUNKLINE_API_KEY, OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY; OPENAI_BASE_URL and OLLAMA_HOST
are read too. All of them may stand in a .env file. \`trunkline doctor\` says whether the model answers.
Tools that change things ask first; without a terminal they are refused unless --yes, --allow or "agent": {"allow": [...]} in
~/.trunkline/settings.json lets them run.`;

/** Adds the options that the three commands share. */
export function withAgentOptions(command: Command): Command {
  return command
    .addOption(
      repeatable("--tool <name>", "a tool for the model: a name in any style, a URI or a glob such as 'docs.*'"),
    )
    .option("--no-tools", "give the model no tools")
    .addOption(
      new Option(
        "--surface <kind>",
        "composite: everything behind query, execute and session; direct: the tools themselves, all of them without --tool",
      ).choices(["composite", "direct"]),
    )
    .option(
      "--provider <name>",
      "openai, anthropic, google, ollama, lmstudio, llamacpp, vllm, openai-compatible or echo",
    )
    .option("--model <name>", "the model, as the provider calls it")
    .option("--endpoint <url>", "where the provider is, such as http://127.0.0.1:8000/v1")
    .option("--script <file>", "with --provider echo: what the model says, one turn on each line, as JSON")
    .option("--stream", "print the answer as it comes")
    .option("--format <format>", "text, json, or a JSON Schema: inline or a file", "text")
    .option("--pretty", "indent the JSON")
    .option("--think", "let the model think first, and show what it thinks")
    .addOption(wholeNumberOption("--max-turns <number>", "how many turns the model may take", { from: 1 }).default(10))
    .addOption(wholeNumberOption("--max-tokens <number>", "how many tokens it may use in all", { from: 1 }))
    .addOption(
      new Option("--max-time <seconds>", "how long it may work").argParser((text) => {
        const seconds = Number(text);
        if (seconds > 0 && seconds <= 604_800) return seconds;
        throw new TrunklineError("USAGE", `"${text}" is not a number of seconds.`);
      }),
    )
    .option("--yes", "let tools run that change things, without asking")
    .addOption(repeatable("--allow <glob>", "let these tools or operations run without asking"))
    .option("--usage", "say what it cost: tokens and dollars")
    .option("--record <file>", "keep everything that happens in a file")
    .option("--replay <file>", "repeat a recorded run, without its model and its tools")
    .addOption(repeatable("--root <folder>", "tell the servers that they may work in this folder"))
    .addOption(storeOption())
    .addOption(mcpOption())
    .addHelpText("after", MODEL_NOTES);
}
