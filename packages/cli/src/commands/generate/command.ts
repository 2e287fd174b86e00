import { type Command, Option } from "commander";
import type { TypedServerOptions } from "../../app/typed-server.js";
import { type Cli, mcpOption, mcpPathOf, withJson, withTypedServer, wordsAround } from "../flags.js";
import type { GenerateOptions } from "./run.js";

const MORE = `
  trunkline generate client --output tools.ts
  trunkline generate client 'docs.*' --output docs.ts
  trunkline generate client --output tools.ts --check     # in CI`;

type WrittenOptions = Pick<GenerateOptions, "output" | "check" | "force" | "json"> &
  TypedServerOptions & { out?: string };

export function addGenerate({ program, context, setExitCode }: Cli): void {
  const client = withJson(
    program.command("generate").command("client"),
    "print what was written or checked as JSON; without --output, with the source",
  )
    .description("write a TypeScript file with a typed function for each tool")
    .usage("[options] [tools...] [-- command...]")
    .argument("[tools...]", "names or globs such as 'docs.*'; default: all tools")
    .option("-o, --output <file>", "the file to write; default: print it")
    .addOption(new Option("--out <file>", "the former name of --output").hideHelp())
    .option("--check", "write nothing; exit with 1 if the file is missing or out of date")
    .option("--force", "replace a file that this command did not write");
  withTypedServer(client)
    .addOption(mcpOption())
    .addHelpText("after", MORE)
    .action(async (_tools: string[], options: WrittenOptions, used: Command) => {
      const { before: patterns, after } = wordsAround(used);
      const mcp = mcpPathOf(used);
      const [{ generateClient }, { readTypedServer }] = await Promise.all([
        import("./run.js"),
        import("../../app/typed-server.js"),
      ]);
      const typed = readTypedServer({ ...options, command: after, mcp });
      const { out, output = out, ...rest } = options;
      const file = output === undefined ? {} : { output };
      setExitCode(await generateClient(context, { ...rest, ...file, patterns, mcp, typed }));
    });
}
