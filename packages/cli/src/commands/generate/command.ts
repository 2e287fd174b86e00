import type { Command } from "commander";
import type { TypedServerOptions } from "../../app/typed-server.js";
import { type Cli, mcpOption, mcpPathOf, withJson, withTypedServer, wordsAround } from "../flags.js";
import type { GenerateOptions } from "./run.js";

const MORE = `
  trunkline generate client --out tools.ts
  trunkline generate client 'docs.*' --out docs.ts
  trunkline generate client --out tools.ts --check     # in CI`;

type WrittenOptions = Pick<GenerateOptions, "out" | "check" | "force" | "json"> & TypedServerOptions;

export function addGenerate({ program, context, setExitCode }: Cli): void {
  const client = withJson(
    program.command("generate").command("client"),
    "print what was written or checked as JSON; without --out, with the source",
  )
    .description("write a TypeScript file with a typed function for each tool")
    .usage("[options] [tools...] [-- command...]")
    .argument("[tools...]", "names or globs such as 'docs.*'; default: all tools")
    .option("--out <file>", "the file to write; default: print it")
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
      setExitCode(await generateClient(context, { ...options, patterns, mcp, typed }));
    });
}
