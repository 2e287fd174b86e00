// The command behind bin/trunkline.cjs. It stays small: what a command needs is loaded when the command runs, so that the
// first answer does not wait for the rest.
import { EXIT } from "./exit-codes.js";
import { interruptTaken } from "./interrupts.js";

process.exitCode = await run();

async function run(): Promise<number> {
  const interrupt = new AbortController();
  // The first Ctrl-C stops the work in order; the second one does not wait.
  const onSignal = (name: "SIGINT" | "SIGTERM" | "SIGHUP") => {
    if (interrupt.signal.aborted) process.exit(EXIT.interrupted);
    if (name === "SIGINT" && interruptTaken()) return;
    interrupt.abort(name);
  };
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, () => onSignal(name));
  // A reader that has gone (`trunkline tools | head`) is a normal end, not a crash.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    process.exit(error.code === "EPIPE" ? EXIT.success : EXIT.failure);
  });
  const { runProgram } = await import("./program.js");
  return await runProgram(process.argv.slice(2), interrupt.signal);
}
