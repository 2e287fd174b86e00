import type { Command } from "commander";
import { type Cli, refuseWord, withJson } from "../flags.js";

const BROKER_NOTES = `
\`trunkline serve\` starts it with the first window. It ends 15 minutes after the
last one: "broker": {"idle": <seconds>} in your settings changes that.
--no-broker, or TRUNKLINE_BROKER=off, does without it. With TRUNKLINE_BROKER=on,
commands such as \`call\` start it, too.`;

export function addBroker({ program, context, setExitCode, runProgram }: Cli): void {
  const broker = program.command("broker").addHelpText("after", BROKER_NOTES);
  withJson(broker.command("status", { isDefault: true }))
    .allowExcessArguments()
    .description("show who uses it, which servers it runs for them, and what that saves")
    .action(async (options: { json?: boolean }, command: Command) => {
      refuseWord(broker, command.args[0]);
      const { showBroker } = await import("./run.js");
      setExitCode(await showBroker(context, options));
    });
  withJson(broker.command("stop"))
    .description("end the broker and its servers; the next request starts a new one")
    .action(async (options: { json?: boolean }) => {
      const { stopBroker } = await import("./run.js");
      setExitCode(await stopBroker(context, options));
    });
  withJson(broker.command("restart"))
    .description("let running calls finish, and hand all clients over to a new broker")
    .action(async (options: { json?: boolean }) => {
      const { restartBroker } = await import("./run.js");
      setExitCode(await restartBroker(context, options));
    });
  withJson(broker.command("logs"), "print one JSON object per line")
    .description("print the broker's log")
    .option("-f, --follow", "keep printing what is added, until Ctrl-C")
    .action(async (options: { follow?: boolean; json?: boolean }) => {
      const { showBrokerLog } = await import("./run.js");
      setExitCode(await showBrokerLog(context, options));
    });
  broker.command("run", { hidden: true }).action(async () => {
    const { runBrokerHere } = await import("./run.js");
    await runBrokerHere(context, runProgram);
  });
}
