import { TrunklineError } from "@trunkline/core";
import type { Command } from "commander";
import type { TypedServerOptions } from "../../app/typed-server.js";
import { commandLine } from "../../terminal/command-line.js";
import { type Cli, mcpOption, mcpPathOf, withJson, withTypedServer, wordsAround } from "../flags.js";
import type { ToolsOptions } from "./run.js";

const MORE = `
By what they do, as an agent finds them:
  trunkline query describe find='add two numbers'

Without a configuration:
  trunkline tools --url https://example.com/mcp
  trunkline tools -- npx -y some-server`;

type WrittenOptions = Omit<ToolsOptions, "pattern" | "mcp" | "typed"> & TypedServerOptions;

export function addTools({ program, context, setExitCode }: Cli): void {
  const command = withJson(program.command("tools"), "print the tools as JSON, including schemas")
    .usage("[options] [tool] [-- command...]")
    .argument("[tool]", "a tool's name, a part of it, or a glob such as 'docs.*'")
    .argument("[command...]", "after --: a command that starts the server to list")
    .option("--tokens", "show what the list costs a model, by server and tool")
    .option("--changes", "show which definitions servers have changed, and what is held")
    .option("--approve <tool...>", "accept held definitions: names or globs such as 'docs.*'");
  withTypedServer(command)
    .addOption(mcpOption())
    .addHelpText("after", MORE)
    .action(async (_tool: string | undefined, _words: string[], options: WrittenOptions, used: Command) => {
      const { before, after } = wordsAround(used);
      const [pattern, excess] = before;
      if (excess !== undefined) {
        throw new TrunklineError("USAGE", "Only one tool or glob can be given.", {
          hint: `Find tools by what they do: ${commandLine(["trunkline", "query", "describe", `find=${before.join(" ")}`])}\n  A command that starts a server goes after \`--\`: trunkline tools -- npx -y some-server`,
        });
      }
      const mcp = mcpPathOf(used);
      const [{ tools }, { readTypedServer }] = await Promise.all([
        import("./run.js"),
        import("../../app/typed-server.js"),
      ]);
      const typed = readTypedServer({ ...options, command: after, mcp });
      setExitCode(await tools(context, { ...options, pattern, mcp, typed }));
    });
}
