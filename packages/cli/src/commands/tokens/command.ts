import { type Cli, withJson } from "../flags.js";

export function addTokens({ program, context, setExitCode }: Cli): void {
  const tokens = program.command("tokens");
  withJson(tokens.command("create"))
    .description("create a token for one client of `serve --http`, and print it once")
    .argument("<name>", "who uses it: lower-case letters, digits, - and _")
    .option("--expires <time>", "how long it is valid, such as 12h, 30d or 8w; default: until revoked")
    .action(async (name: string, options: { expires?: string; json?: boolean }) => {
      const { create } = await import("./run.js");
      setExitCode(await create(context, { name, ...options }));
    });
  withJson(tokens.command("list"))
    .description("list the tokens, without their values")
    .action(async (options: { json?: boolean }) => {
      const { list } = await import("./run.js");
      setExitCode(await list(context, options));
    });
  withJson(tokens.command("revoke"))
    .description("revoke a token; a running server ends its sessions at once")
    .argument("<name>")
    .action(async (name: string, options: { json?: boolean }) => {
      const { revoke } = await import("./run.js");
      setExitCode(await revoke(context, { name, ...options }));
    });
}
