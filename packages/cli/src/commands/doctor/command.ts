import type { Command } from "commander";
import { type Cli, mcpOption, mcpPathOf, secondsOption, withJson } from "../flags.js";
import type { DoctorOptions } from "./run.js";

export function addDoctor({ program, context, setExitCode }: Cli): void {
  withJson(program.command("doctor"))
    .option("--pretty", "indent the JSON")
    .option("--strict", "exit with 1 if anything failed")
    .addOption(secondsOption("time limit for all servers together").default(30))
    .addOption(mcpOption())
    .action(async (options: Omit<DoctorOptions, "mcp">, command: Command) => {
      const { doctor } = await import("./run.js");
      setExitCode(await doctor(context, { ...options, mcp: mcpPathOf(command) }));
    });
}
