import { TrunklineError } from "@trunkline/core";
import type { Command } from "commander";
import type { TypedServerOptions } from "../../app/typed-server.js";
import {
  type Cli,
  hintOnUnknownOption,
  mcpOption,
  mcpPathOf,
  secondsOption,
  withJson,
  withTypedServer,
  wordsAround,
} from "../flags.js";
import type { CallOptions } from "./run.js";

const MORE = `
Ways to write it:
  trunkline call docs.get_sum a=2 b=3
  trunkline call 'docs.get_sum(a: 2, b: 3)'
  trunkline call --url https://example.com/mcp get_sum a=2 b=3
  trunkline call get_sum a=2 b=3 -- npx -y some-server

Exit codes: 0 success, 1 failure, 2 wrong usage or configuration, 3 sign-in
needed, 130 interrupted.`;

type WrittenOptions = Omit<CallOptions, "tool" | "pairs" | "mcp" | "typed"> & TypedServerOptions;

export function addCall({ program, context, setExitCode }: Cli): void {
  const command = withJson(program.command("call"), "print the result as the server sent it, as JSON")
    .usage("[options] <tool> [arguments...] [-- command...]")
    .argument("<tool>", "server.tool, as shown by `trunkline tools`, or 'server.tool(name: value)'")
    .argument("[arguments...]", "name=Ada count:=3")
    .option("--input <object>", "all arguments as one JSON object; @file reads it from a file, - from stdin")
    .option("-o, --output <file>", "save the image, audio or other binary of the result, or else its text; - is stdout")
    .addOption(secondsOption("how long the call may take without an answer or progress"))
    .option("--root <folder...>", "tell the server it may work in these folders");
  withTypedServer(command)
    .addOption(mcpOption())
    .addHelpText("after", MORE)
    .action(async (_tool: string, _pairs: string[], options: WrittenOptions, used: Command) => {
      const { before, after } = wordsAround(used);
      const [tool, ...pairs] = before;
      if (tool === undefined) {
        throw new TrunklineError("USAGE", "There is no tool before `--`.", {
          hint: "Name the tool and its arguments first: trunkline call <tool> name=value -- <command…>",
        });
      }
      const mcp = mcpPathOf(used);
      const [{ call }, { readTypedServer }] = await Promise.all([
        import("./run.js"),
        import("../../app/typed-server.js"),
      ]);
      const typed = readTypedServer({ ...options, command: after, mcp });
      setExitCode(await call(context, { ...options, tool, pairs, mcp, typed }));
    });
  hintOnUnknownOption(command, () => "Arguments of the tool are written as name=value.");
}
