import type { Command } from "commander";
import { type Cli, mcpOption, mcpPathOf, secondsOption, withJson } from "../flags.js";
import type { CallOptions } from "./run.js";

const EXIT_CODES = `
Exit codes: 0 success, 1 failure, 2 wrong usage or configuration, 3 sign-in
needed, 130 interrupted.`;

export function addCall({ program, context, setExitCode }: Cli): void {
  withJson(program.command("call"), "print the result as the server sent it, as JSON")
    .argument("<tool>", "server.tool, as shown by `trunkline tools`")
    .argument("[arguments...]", "name=Ada count:=3")
    .option("--input <object>", "all arguments as one JSON object")
    .option("-o, --output <file>", "save the image, audio or other binary of the result, or else its text; - is stdout")
    .addOption(secondsOption("how long the call may take without an answer or progress"))
    .option("--root <folder...>", "tell the server it may work in these folders")
    .addOption(mcpOption())
    .addHelpText("after", EXIT_CODES)
    .action(
      async (tool: string, pairs: string[], options: Omit<CallOptions, "tool" | "pairs" | "mcp">, command: Command) => {
        const { call } = await import("./run.js");
        setExitCode(await call(context, { tool, pairs, ...options, mcp: mcpPathOf(command) }));
      },
    );
}
