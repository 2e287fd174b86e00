import { redactedArgs } from "@trunkline/core";
import { type Command, Option } from "commander";
import { commandLine } from "../../terminal/command-line.js";
import {
  type Cli,
  hintOnUnknownOption,
  mcpOption,
  mcpPathOf,
  refuseWord,
  repeatable,
  wholeNumberOption,
  withJson,
} from "../flags.js";
import type { RegistryAddOptions } from "./add-from-registry.js";
import type { AddOptions } from "./run.js";

const WHERE = `
Servers are read from .trunkline/mcp.json in this folder or a parent, from
settings.json in the project's .trunkline folder and in ~/.trunkline, or from
the file given with --mcp.`;

const ADD_NOTES = `
Without --user and --project, a server is added to the project if it has a
.trunkline folder, and otherwise to your own settings.

A name with a slash, such as io.github.ada/docs, is looked up in the registry:
  trunkline servers add io.github.ada/docs
Trunkline shows what would run and asks first. Any other name is your own choice,
followed by the server's URL or command:
  trunkline servers add docs https://example.com/mcp
  trunkline servers add files -- npx -y some-server`;

export function addServers({ program, context, setExitCode }: Cli): void {
  const servers = program.command("servers").addOption(mcpOption()).addHelpText("after", WHERE);
  withJson(servers.command("list", { isDefault: true }))
    .description("list what is configured, without connecting")
    .usage("[options]")
    .allowExcessArguments()
    .addOption(mcpOption())
    .action(async (options: { json?: boolean }, command: Command) => {
      refuseWord(servers, command.args[0]);
      const { listServers } = await import("./run.js");
      setExitCode(await listServers(context, { ...options, mcp: mcpPathOf(command) }));
    });
  const add = withJson(servers.command("add"))
    .description("add a server: by its URL, by its command after --, or by its name in the registry")
    .argument("<name>", "the server's name; with a slash, its name in the registry")
    .argument("[target...]", "https://example.com/mcp, or -- npx -y some-server")
    .addOption(repeatable("--header <header>", "'Name: value'"))
    .addOption(repeatable("--env <variable>", "NAME=value"))
    .addOption(new Option("--transport <transport>", "how to reach the URL").choices(["http", "sse"]))
    .option("--user", "for you, in every folder: write to ~/.trunkline/settings.json")
    .option("--project", "for this project: write to its .trunkline/mcp.json, which others can share")
    .option("--force", "replace a server of the same name")
    .option("--as <name>", "from the registry: your own name for the server")
    .option("--version <version>", "from the registry: this version instead of the latest")
    .addOption(
      repeatable("--input <value>", "from the registry: NAME=value; NAME from the environment, NAME=- from stdin"),
    )
    .addOption(new Option("--package <type>", "from the registry: run it this way").choices(PACKAGE_TYPES))
    .option("--remote", "from the registry: connect to its URL")
    .addOption(registryOption())
    .option("--yes", "from the registry: do not ask")
    .addOption(mcpOption())
    .addHelpText("after", ADD_NOTES)
    .action(
      async (
        name: string,
        target: string[],
        options: Omit<AddOptions, "name" | "target"> & RegistryAddOptions,
        command: Command,
      ) => {
        const { addServer } = await import("./run.js");
        const { header = [], env = [], ...rest } = options;
        setExitCode(await addServer(context, { ...rest, header, env, name, target, mcp: mcpPathOf(command) }));
      },
    );
  hintOnUnknownOption(add, ([name, program, ...args]) => {
    if (name === undefined || program === undefined || /^(-|[a-z]+:\/\/)/i.test(program)) return undefined;
    const words = commandLine(["trunkline", "servers", "add", name, "--", program, ...redactedArgs(args)]);
    return `Put \`--\` before the program: ${words}`;
  });
  for (const op of ["remove", "enable", "disable"] as const) {
    withJson(servers.command(op))
      .description(`${op} a server in the file that defines it`)
      .argument("<server>")
      .option("--user", "only in your own settings")
      .option("--project", "only in the project's files")
      .addOption(mcpOption())
      .action(
        async (name: string, options: { user?: boolean; project?: boolean; json?: boolean }, command: Command) => {
          const { changeServer } = await import("./run.js");
          setExitCode(await changeServer(context, op, { ...options, name, mcp: mcpPathOf(command) }));
        },
      );
  }
  withJson(servers.command("search"))
    .description("search the registry for servers")
    .argument("<words...>", "words in the name or the description")
    .addOption(wholeNumberOption("--limit <n>", "how many servers to show; default 20", { from: 1, to: 200 }))
    .addOption(registryOption())
    .action(async (words: string[], options: { limit?: number; registry?: string; json?: boolean }) => {
      const { searchServers } = await import("./search-registry.js");
      setExitCode(await searchServers(context, { ...options, words }));
    });
}

const PACKAGE_TYPES = ["npm", "pypi", "oci", "nuget"];

function registryOption(): Option {
  return new Option("--registry <url>", 'the registry; or TRUNKLINE_REGISTRY, or "registry" in your settings');
}
