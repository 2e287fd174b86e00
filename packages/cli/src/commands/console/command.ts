import { type Cli, withJson } from "../flags.js";

const CONSOLE_NOTES = `
The link works once, within two minutes. The page is served on this machine only,
by the broker, and ends with it: \`trunkline broker\` shows it. With --no-broker it
is served by this command, until Ctrl-C.`;

export function addConsole({ program, context, setExitCode }: Cli): void {
  withJson(program.command("console"), "print the link as JSON, and open nothing")
    .option("--no-open", "print the link instead of opening it")
    .addHelpText("after", CONSOLE_NOTES)
    .action(async (options: { open: boolean; json?: boolean }) => {
      const { openConsole } = await import("./run.js");
      setExitCode(await openConsole(context, options), { inOrder: context.signal.reason === "SIGTERM" });
    });
}
