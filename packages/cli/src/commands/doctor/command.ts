import type { Command } from "commander";
import { type Cli, mcpOption, mcpPathOf, secondsOption, withJson } from "../flags.js";
import type { DoctorOptions } from "./run.js";

const EXIT_NOTES = `
Exits with 1 if a server or the configured model failed, or a configuration file is
wrong. A server that you have not approved is a warning.`;

export function addDoctor({ program, context, setExitCode }: Cli): void {
  withJson(program.command("doctor"))
    .argument("[server...]", "check only these servers")
    .option("--pretty", "indent the JSON")
    .option("--strict", "exit with 1 for warnings too")
    .addOption(secondsOption("time limit for all servers together").default(30))
    .addOption(mcpOption())
    .addHelpText("after", EXIT_NOTES)
    .action(async (only: string[], options: Omit<DoctorOptions, "only" | "mcp">, command: Command) => {
      const { doctor } = await import("./run.js");
      setExitCode(await doctor(context, { ...options, only, mcp: mcpPathOf(command) }));
    });
}
