import type { Command } from "commander";
import { type Cli, mcpOption, mcpPathOf, withJson } from "../flags.js";
import type { LoginOptions, StatusOptions } from "./run.js";

export function addAuth({ program, context, setExitCode }: Cli): void {
  const auth = program.command("auth").addOption(mcpOption());
  withJson(auth.command("login"))
    .description("sign in to a server")
    .argument("<server>")
    .option("--no-browser", "only print the URL; then paste the URL that the browser ends on")
    .addOption(mcpOption())
    .action(async (server: string, options: Omit<LoginOptions, "server" | "mcp">, command: Command) => {
      const { login } = await import("./run.js");
      setExitCode(await login(context, { ...options, server, mcp: mcpPathOf(command) }));
    });
  withJson(auth.command("logout"))
    .description("sign out of a server and delete the saved sign-in")
    .argument("<server>")
    .addOption(mcpOption())
    .action(async (server: string, options: { json?: boolean }, command: Command) => {
      const { logout } = await import("./run.js");
      setExitCode(await logout(context, { ...options, server, mcp: mcpPathOf(command) }));
    });
  withJson(auth.command("status"))
    .description("show the state of sign-ins, without connecting")
    .argument("[server]", "only this server; exit with 3 if not signed in")
    .addOption(mcpOption())
    .action(async (server: string | undefined, options: Omit<StatusOptions, "server" | "mcp">, command: Command) => {
      const { status } = await import("./run.js");
      setExitCode(await status(context, { ...options, server, mcp: mcpPathOf(command) }));
    });
}
