import type { Command } from "commander";
import { type Cli, mcpOption, mcpPathOf, withJson } from "../flags.js";
import type { ReadOptions, ResourcesOptions } from "./run.js";

export function addResources({ program, context, setExitCode }: Cli): void {
  const resources = program.command("resources").addOption(mcpOption());
  withJson(resources.command("list", { isDefault: true }))
    .description("list the resources of all servers or of one")
    .argument("[server]")
    .option("--templates", "list the templates from which servers create resources instead")
    .addOption(mcpOption())
    .action(async (server: string | undefined, options: Omit<ResourcesOptions, "server" | "mcp">, command: Command) => {
      const { listResources } = await import("./run.js");
      setExitCode(await listResources(context, { ...options, server, mcp: mcpPathOf(command) }));
    });
  withJson(resources.command("read"), "print the result as the server sent it, as JSON")
    .description("print one resource")
    .argument("<server>")
    .argument("<uri>", "as shown by `trunkline resources`, or made from a template")
    .option("--watch", "print it again whenever it changes, until Ctrl-C")
    .addOption(mcpOption())
    .action(
      async (server: string, uri: string, options: Omit<ReadOptions, "server" | "uri" | "mcp">, command: Command) => {
        const { readResource } = await import("./run.js");
        setExitCode(await readResource(context, { ...options, server, uri, mcp: mcpPathOf(command) }));
      },
    );
}
