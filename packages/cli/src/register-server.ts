// The commands around the server: starting it, what it was asked and what that cost, and giving it to a project or to
// another program. Each action is loaded when it is run.
import { LOG_LEVELS, TrunklineError } from "@trunkline/core";
import { Command, Option } from "commander";
import { EXIT } from "./app/exit-codes.js";
import { storeOption, wholeNumberOption } from "./commands/flags.js";
import type { InitOptions } from "./commands/init/run.js";
import type { InstallOptions, UninstallOptions } from "./commands/install/run.js";
import type { LogOptions } from "./commands/log/run.js";
import type { QueryOptions } from "./commands/query/run.js";
import type { ServeOptions } from "./commands/serve/run.js";
import type { StatsOptions } from "./commands/stats/run.js";
import type { CommandContext } from "./terminal/context.js";

/** What the commands are put into. */
export interface ServerCommands {
  readonly program: Command;
  readonly context: CommandContext;
  readonly setExitCode: (code: number, options?: { inOrder: boolean }) => void;
  /** What `--mcp` says, before or after the command. */
  readonly mcpPathOf: (command: Command) => string | undefined;
  readonly mcpOption: () => Option;
}

const SERVE_NOTES = `
Without --http it speaks MCP on stdin and stdout: \`trunkline install <program>\` writes the entry that starts it so.
From the environment: TRUNKLINE_TOKEN (what clients over HTTP have to send; outside loopback it is demanded),
TRUNKLINE_STORE, TRUNKLINE_PROMPTS, TRUNKLINE_MCP_FILE and TRUNKLINE_LOG_LEVEL.
SIGTERM ends it in order, with exit code 0.`;

/** Adds `serve`. */
export function registerServe({ program, context, setExitCode, mcpPathOf, mcpOption }: ServerCommands): void {
  addServeOptions(program.command("serve"), mcpOption).action(
    async (options: Omit<ServeOptions, "mcp">, command: Command) => {
      checkServeOptions(options, command);
      const { serve } = await import("./commands/serve/run.js");
      await serve(context, { ...options, mcp: mcpPathOf(command) });
      // A supervisor that stops a server with SIGTERM expects a clean end.
      setExitCode(EXIT.success, { inOrder: context.signal.reason === "SIGTERM" });
    },
  );
}

/** What is written into the file of another program has to be what `serve` takes: there nobody reads its complaint. */
async function checkServeArgs(args: readonly string[], mcpOption: () => Option): Promise<void> {
  const command = addServeOptions(new Command("serve"), mcpOption)
    .helpOption(false)
    .exitOverride()
    .configureOutput({ outputError: () => {} })
    .action((options: Omit<ServeOptions, "mcp">) => checkServeOptions(options, command));
  await command.parseAsync(args, { from: "user" });
}

function addServeOptions(command: Command, mcpOption: () => Option): Command {
  return command
    .description("serve MCP to an agent, over stdio or HTTP")
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

/** Adds `query` and `execute`. Their help comes from the operations, so it is not commander's. */
export function registerTools({ program, context, setExitCode, mcpPathOf, mcpOption }: ServerCommands): void {
  const tools = {
    query: "ask the store and the servers: operations that read, alone or in a pipeline",
    execute: "run operations: those that change the store, and any tool",
  } as const;
  for (const tool of ["query", "execute"] as const) {
    program
      .command(tool)
      .description(tools[tool])
      .usage("<operation> [key=value…] | <json> | <file> | -")
      .argument("[words...]")
      .helpOption(false)
      .option("-h, --help", "list the operations, or the parameters of one")
      .option("--pretty", "indent the JSON")
      .addOption(wholeNumberOption("--max-tokens <number>", "cut the answer as for an agent", { from: 1 }))
      .option("--allow-write <folder...>", "let `get` write here with outputPath")
      .addOption(storeOption())
      .addOption(mcpOption())
      .action(async (words: string[], options: Omit<QueryOptions, "tool" | "words" | "mcp">, command: Command) => {
        const { runTool } = await import("./commands/query/run.js");
        setExitCode(await runTool(context, { ...options, tool, words, mcp: mcpPathOf(command) }));
      });
  }
}

/** Adds `log`, `stats`, `init`, `install` and `uninstall`. */
export function registerAroundServer({ program, context, setExitCode, mcpPathOf, mcpOption }: ServerCommands): void {
  program
    .command("init")
    .description("give this project a store of its own, and take the project in")
    .argument("[folder]", "default: the project that this folder is in, or this folder")
    .option("--no-add", "only make the store")
    .option("--force", "also where everything of yours would be taken in")
    .action(async (folder: string | undefined, options: Omit<InitOptions, "folder">) => {
      const { init } = await import("./commands/init/run.js");
      setExitCode(await init(context, { folder, ...options }));
    });

  program
    .command("install")
    .description("put Trunkline into the configuration of another program; alone, list the programs")
    .argument("[program]", "claude-code, claude-desktop, cursor, vscode, codex, windsurf, zed or gemini")
    .argument("[options...]", "after --: what `trunkline serve` is started with")
    .usage("[program] [--project] [--yes] [-- options of serve…]")
    .option("--project", "in the project's file instead of your own")
    .option("--dry-run", "only show what would be written")
    .option("--yes", "write without asking")
    .option("--force", "replace an entry of that name that is not ours")
    .action(
      async (id: string | undefined, serveArgs: string[], options: Omit<InstallOptions, "program" | "serveArgs">) => {
        refuseSecondProgram(serveArgs);
        await checkServeArgs(serveArgs, mcpOption);
        const { install } = await import("./commands/install/run.js");
        setExitCode(await install(context, { program: id, serveArgs, ...options }));
      },
    );

  program
    .command("uninstall")
    .description("take Trunkline out of the configuration of another program")
    .argument("<program>")
    .option("--project", "out of the project's file instead of your own")
    .option("--dry-run", "only show what would be removed")
    .option("--yes", "write without asking")
    .option("--force", "also an entry of that name that is not ours")
    .action(async (id: string, options: Omit<UninstallOptions, "program">) => {
      const { uninstall } = await import("./commands/install/run.js");
      setExitCode(await uninstall(context, { program: id, ...options }));
    });

  program
    .command("log")
    .description("show what the server was asked: time, client, operation, duration, size, outcome")
    .option("-f, --follow", "go on with each call as it comes, until Ctrl-C")
    .addOption(wholeNumberOption("-n, --limit <number>", "the last so many calls").default(50))
    .option("--client <text>", "only clients with this in their name")
    .option("--operation <glob>", "only these operations, for example 'github.*'")
    .option("--failed", "only calls that failed or were cancelled")
    .addOption(formatOption("text, or one JSON object on each line"))
    .addOption(storeOption())
    .action(async (options: LogOptions) => {
      const { log } = await import("./commands/log/run.js");
      setExitCode(await log(context, options));
    });

  program
    .command("stats")
    .description("show what the server cost in tokens, beside what the upstream tools would have cost")
    .addOption(formatOption("how to print the result"))
    .addOption(storeOption())
    .addOption(mcpOption())
    .action(async (options: Omit<StatsOptions, "mcp">, command: Command) => {
      const { stats } = await import("./commands/stats/run.js");
      setExitCode(await stats(context, { ...options, mcp: mcpPathOf(command) }));
    });
}

function formatOption(description: string): Option {
  return new Option("--format <format>", description).choices(["text", "json"]).default("text");
}

/** What stands behind the program is for `serve`, and that takes nothing but options. */
function refuseSecondProgram([first]: readonly string[]): void {
  if (first === undefined || first.startsWith("-")) return;
  throw new TrunklineError("USAGE", `"${first}" is one too many: install takes one program.`, {
    hint: "Options of `trunkline serve` stand behind --.",
  });
}

function parsePort(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new TrunklineError("USAGE", `"${text}" is not a port.`, { hint: "A port is a number from 0 to 65535." });
}
