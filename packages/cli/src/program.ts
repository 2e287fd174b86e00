// The commands and their options. Each action is loaded when it is run.
import { isTrunklineError, TrunklineError, toTrunklineError } from "@trunkline/core";
import { Command, CommanderError, Option } from "commander";
import { type CommandContext, createContext } from "./context.js";
import { EXIT, exitCodeOf } from "./exit-codes.js";

const EXAMPLES = `
Examples:
  trunkline serve --http                    one endpoint for your agent, at http://127.0.0.1:7411/mcp
  trunkline doctor                          what is configured, what answers, and what to do about the rest
  trunkline tools                           every tool of every server, with its parameters
  trunkline call hello.hello name=Ada       call one tool

Servers are read from .trunkline/mcp.json in this folder or above it, or from the file given with --mcp.
Exit codes: 0 success, 1 failure, 2 wrong usage or configuration, 3 sign-in needed, 130 interrupted.`;

/** Runs one command line and returns its exit code. Never throws. */
export async function runProgram(args: readonly string[], signal: AbortSignal): Promise<number> {
  const context = createContext(signal);
  let exitCode: number | undefined;
  const program = buildProgram(context, (code) => {
    exitCode = code;
  });
  if (args.length === 0) {
    program.outputHelp();
    return EXIT.success;
  }
  try {
    await program.parseAsync(args, { from: "user" });
    return exitCode ?? (signal.aborted ? interruptedCode(signal) : EXIT.success);
  } catch (error) {
    return report(error, context);
  }
}

type SetExitCode = (code: number) => void;

function buildProgram(context: CommandContext, setExitCode: SetExitCode): Command {
  const program = new Command("trunkline")
    .description("One line from an AI agent to every MCP server, and to everything it has read.")
    .version(context.version, "-V, --version", "print the version")
    .helpOption("-h, --help", "show help, also for a command: trunkline call --help")
    .addOption(mcpOption())
    .showSuggestionAfterError(true)
    .configureHelp({ sortSubcommands: false, showGlobalOptions: false })
    .exitOverride()
    .configureOutput({ outputError: () => {} })
    .addHelpText("after", EXAMPLES);

  program
    .command("serve")
    .description("serve MCP to an agent, over stdio or HTTP")
    .option("--http", "listen on HTTP instead of stdio")
    .addOption(
      new Option("--port <number>", "the port for --http; 0 takes any free one").default(7411).argParser(parsePort),
    )
    .option("--host <address>", "the address for --http", "127.0.0.1")
    .action(async (options: { http?: boolean; port: number; host: string }) => {
      const { serve } = await import("./commands/serve.js");
      await serve(context, options);
      // A supervisor that stops a server with SIGTERM expects a clean end.
      if (context.signal.reason === "SIGTERM") setExitCode(EXIT.success);
    });

  program
    .command("doctor")
    .description("check the configuration and every server in it, and say what to do next")
    .addOption(formatOption())
    .option("--pretty", "indent the JSON")
    .option("--strict", "exit with 1 when anything failed")
    .addOption(mcpOption())
    .action(async (options: { format: OutputFormat; pretty?: boolean; strict?: boolean }, command: Command) => {
      const { doctor } = await import("./commands/doctor.js");
      setExitCode(await doctor(context, { ...options, mcp: mcpPathOf(command) }));
    });

  program
    .command("tools")
    .description("list the tools of all servers")
    .option("--json", "print the tools as JSON, schemas included")
    .addOption(mcpOption())
    .action(async (options: { json?: boolean }, command: Command) => {
      const { tools } = await import("./commands/tools.js");
      setExitCode(await tools(context, { ...options, mcp: mcpPathOf(command) }));
    });

  program
    .command("call")
    .description("call one tool: key=value for text, key:=value for JSON")
    .argument("<tool>", "server.tool, as `trunkline tools` shows it")
    .argument("[arguments...]", "name=Ada count:=3")
    .option("--json <object>", "all arguments as one JSON object")
    .option("--raw", "print the result as the server sent it, as JSON")
    .addOption(mcpOption())
    .action(async (tool: string, pairs: string[], options: { json?: string; raw?: boolean }, command: Command) => {
      const { call } = await import("./commands/call.js");
      setExitCode(await call(context, { tool, pairs, ...options, mcp: mcpPathOf(command) }));
    });

  // Subcommands inherit these only when they are set before the command is made.
  for (const command of program.commands) command.exitOverride().configureOutput({ outputError: () => {} });
  return program;
}

/** How a command prints its result. */
export type OutputFormat = "text" | "json";

function mcpOption(): Option {
  return new Option("--mcp <path>", "use this configuration file and no other");
}

function formatOption(): Option {
  return new Option("--format <format>", "how to print the result").choices(["text", "json"]).default("text");
}

/** `--mcp` works before and after the command; the nearer one wins. */
function mcpPathOf(command: Command): string | undefined {
  return command.opts<{ mcp?: string }>().mcp ?? command.parent?.opts<{ mcp?: string }>().mcp;
}

function parsePort(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new TrunklineError("USAGE", `"${text}" is not a port.`, { hint: "A port is a number from 0 to 65535." });
}

function report(error: unknown, context: CommandContext): number {
  if (error instanceof CommanderError) {
    // Help and version arrive here too, as successes.
    if (error.exitCode === 0) return EXIT.success;
    context.note(`trunkline: ${error.message.replace(/^error: /, "")}`);
    context.note("  `trunkline --help` shows how it is used.");
    return EXIT.usage;
  }
  if (context.signal.aborted) return interruptedCode(context.signal);
  const known = toTrunklineError(error);
  context.note(`trunkline: ${known.message}`);
  if (known.hint !== undefined) context.note(`  ${known.hint}`);
  if (!isTrunklineError(error))
    context.logger.debug("unexpected error", { stack: error instanceof Error ? error.stack : String(error) });
  return exitCodeOf(known.code);
}

/** By custom a process that ended on a signal says which one it was. */
function interruptedCode(signal: AbortSignal): number {
  return signal.reason === "SIGTERM" ? 143 : EXIT.interrupted;
}
