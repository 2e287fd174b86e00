import { isGatewayName, LOG_LEVELS, TrunklineError } from "@trunkline/core";
import { Command, Option } from "commander";
import { EXIT } from "../../app/exit-codes.js";
import { type Cli, mcpOption, mcpPathOf, secondsOption, storeOption } from "../flags.js";
import type { ServeOptions } from "./run.js";

const SERVE_NOTES = `
Without --http it speaks MCP on stdin and stdout: \`trunkline install <program>\` writes the entry that starts it that way.
All windows then share one process, which runs each server once: \`trunkline broker\` shows it, and --no-broker does without it.
Clients over HTTP send a token, even on this machine: the first start creates one in Trunkline's home and prints it, and --show-token
prints it again; \`trunkline tokens\` makes others. From the environment: TRUNKLINE_TOKEN (used instead of that file), TRUNKLINE_STORE, TRUNKLINE_PROMPTS, TRUNKLINE_MCP_FILE and TRUNKLINE_LOG_LEVEL.
For operators, over HTTP: /healthz and /readyz need no token, /metrics does (Prometheus format).
SIGTERM stops it gracefully, with exit code 0.`;

export function addServe({ program, context, setExitCode }: Cli): void {
  addServeOptions(program.command("serve")).action(async (options: Omit<ServeOptions, "mcp">, command: Command) => {
    checkServeOptions(options, command);
    const { serve } = await import("./run.js");
    await serve(context, { ...options, mcp: mcpPathOf(command) });
    // A supervisor that stops a server with SIGTERM expects a clean exit.
    setExitCode(EXIT.success, { inOrder: context.signal.reason === "SIGTERM" });
  });
}

/**
 * Reads and validates the arguments of `serve` where no one would see its error: before they are written to another
 * program's file, and in the broker.
 */
export async function readServeArgs(args: readonly string[]): Promise<Omit<ServeOptions, "mcp">> {
  const command = addServeOptions(new Command("serve"))
    .helpOption(false)
    .exitOverride()
    .configureOutput({ outputError: () => {} });
  await command.parseAsync(args, { from: "user" });
  const options = command.opts<Omit<ServeOptions, "mcp">>();
  checkServeOptions(options, command);
  return options;
}

function addServeOptions(command: Command): Command {
  return command
    .option("--http", "listen on HTTP instead of stdio")
    .addOption(
      new Option("--port <number>", "the port for --http; 0 picks a free one").default(7411).argParser(parsePort),
    )
    .option("--host <address>", "the address for --http", "127.0.0.1")
    .option("--no-token", "let every program and user on this machine connect to --http")
    .option("--show-token", "print the token, not only when it is created")
    .option("--allow-host <name...>", "also answer to this host name, such as a proxy's")
    .addOption(
      secondsOption("after SIGTERM, keep taking requests for this long while /readyz says no", "--drain <seconds>"),
    )
    .addOption(
      new Option("--gateway <name>", "the name of this gateway among several on one store in PostgreSQL").argParser(
        parseGateway,
      ),
    )
    .addOption(
      new Option(
        "--surface <kind>",
        "the tools that clients see: what suits each client, a few that cover everything, every upstream tool, or both",
      )
        .choices(["auto", "composite", "direct", "both"])
        .default("auto"),
    )
    .addOption(
      new Option(
        "--names <style>",
        "how upstream tools are named: docs_lookup (auto), mcp__docs__lookup (direct, both) or lookup",
      ).choices(["wire", "prefixed", "plain"]),
    )
    .option("--echo", "also list mcp.echo, a tool to test the connection; it can be called either way")
    .addOption(mcpOption())
    .addOption(storeOption())
    .option("--watch <path...>", "index files as they change")
    .option("--exclude <glob...>", "with --watch, skip paths that match")
    .option("--prompts <folder>", "also offer the PROMPT-*.md files in this folder as prompts")
    .option("--allow-path <folder...>", "also let clients read and write here")
    .addOption(new Option("--allow-write <folder...>", "the former name of --allow-path").hideHelp())
    .option("--no-spill", "truncate long answers instead of storing them")
    .addOption(
      new Option("--ask-policy <policy>", "how to handle several clients of one server that asks questions")
        .choices(["serialize", "isolate", "decline"])
        .default("serialize"),
    )
    .addOption(secondsOption("how long a call waits behind another client's question", "--ask-wait <seconds>"))
    .addOption(new Option("--log-level <level>", "log level on stderr").choices([...LOG_LEVELS]))
    .addHelpText("after", SERVE_NOTES);
}

/** Rejects options that make no sense together. */
function checkServeOptions(options: Omit<ServeOptions, "mcp">, command: Command): void {
  const network = ["port", "host", "token", "showToken", "allowHost", "drain", "gateway"].find(
    (name) => command.getOptionValueSource(name) === "cli",
  );
  if (!options.http && network !== undefined) {
    const flag = network === "token" ? "no-token" : network.replace(/[A-Z]/, (letter) => `-${letter.toLowerCase()}`);
    throw new TrunklineError("USAGE", `--${flag} needs --http.`, { hint: "Without --http it serves stdio." });
  }
  if (options.surface === "composite" && command.getOptionValueSource("names") === "cli") {
    throw new TrunklineError("USAGE", "--names needs --surface auto, direct or both.");
  }
}

function parsePort(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new TrunklineError("USAGE", `"${text}" is not a port.`, { hint: "A port is a number from 0 to 65535." });
}

function parseGateway(text: string): string {
  if (isGatewayName(text)) return text;
  throw new TrunklineError("USAGE", `"${text}" cannot be the name of a gateway.`, {
    hint: "Use up to 32 letters, digits and -.",
  });
}
