import { LOG_LEVELS, TrunklineError } from "@trunkline/core";
import { Command, Option } from "commander";
import { EXIT } from "../../app/exit-codes.js";
import { type Cli, mcpOption, mcpPathOf, storeOption } from "../flags.js";
import type { ServeOptions } from "./run.js";

const SERVE_NOTES = `
Without --http it speaks MCP on stdin and stdout: \`trunkline install <program>\` writes the entry that starts it so.
From the environment: TRUNKLINE_TOKEN (what clients over HTTP have to send; outside loopback it is demanded),
TRUNKLINE_STORE, TRUNKLINE_PROMPTS, TRUNKLINE_MCP_FILE and TRUNKLINE_LOG_LEVEL.
SIGTERM ends it in order, with exit code 0.`;

/** Adds `serve`. */
export function addServe({ program, context, setExitCode }: Cli): void {
  addServeOptions(program.command("serve")).action(async (options: Omit<ServeOptions, "mcp">, command: Command) => {
    checkServeOptions(options, command);
    const { serve } = await import("./run.js");
    await serve(context, { ...options, mcp: mcpPathOf(command) });
    // A supervisor that stops a server with SIGTERM expects a clean end.
    setExitCode(EXIT.success, { inOrder: context.signal.reason === "SIGTERM" });
  });
}

/** What is written into the file of another program has to be what `serve` takes: there nobody reads its complaint. */
export async function checkServeArgs(args: readonly string[]): Promise<void> {
  const command = addServeOptions(new Command("serve"))
    .helpOption(false)
    .exitOverride()
    .configureOutput({ outputError: () => {} })
    .action((options: Omit<ServeOptions, "mcp">) => checkServeOptions(options, command));
  await command.parseAsync(args, { from: "user" });
}

function addServeOptions(command: Command): Command {
  return command
    .option("--http", "listen on HTTP instead of stdio")
    .addOption(
      new Option("--port <number>", "the port for --http; 0 takes any free one").default(7411).argParser(parsePort),
    )
    .option("--host <address>", "the address for --http", "127.0.0.1")
    .option("--allow-host <name...>", "answer to this name too, such as that of a proxy in front")
    .addOption(
      new Option("--surface <kind>", "a few tools with everything behind them, every upstream tool, or both")
        .choices(["composite", "direct", "both"])
        .default("composite"),
    )
    .addOption(
      new Option("--names <style>", "how the direct surface names tools")
        .choices(["prefixed", "plain"])
        .default("prefixed"),
    )
    .addOption(mcpOption())
    .addOption(storeOption())
    .option("--watch <path...>", "take changed files into the store as they change")
    .option("--prompts <folder>", "where PROMPT-*.md files are")
    .option("--allow-path <folder...>", "let clients over HTTP read and write here too")
    .option("--allow-write <folder...>", "let `get` write here with outputPath")
    .option("--no-spill", "cut answers that are too long instead of storing them")
    .addOption(
      new Option("--ask-policy <policy>", "what to do when several clients use one server that asks back")
        .choices(["serialize", "isolate", "decline"])
        .default("serialize"),
    )
    .addOption(new Option("--log-level <level>", "what is logged to stderr").choices([...LOG_LEVELS]))
    .addHelpText("after", SERVE_NOTES);
}

/** Options that make no sense together. */
function checkServeOptions(options: Omit<ServeOptions, "mcp">, command: Command): void {
  const network = ["port", "host", "allowHost", "allowPath"].find(
    (name) => command.getOptionValueSource(name) === "cli",
  );
  if (!options.http && network !== undefined) {
    const flag = network.replace(/[A-Z]/, (letter) => `-${letter.toLowerCase()}`);
    throw new TrunklineError("USAGE", `--${flag} goes with --http.`, { hint: "Without --http it serves stdio." });
  }
  if (options.surface === "composite" && command.getOptionValueSource("names") === "cli") {
    throw new TrunklineError("USAGE", "--names goes with --surface direct or both.");
  }
}

function parsePort(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new TrunklineError("USAGE", `"${text}" is not a port.`, { hint: "A port is a number from 0 to 65535." });
}
