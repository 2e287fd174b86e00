// The command behind bin/trunkline.cjs. It stays small: each command's code is loaded only when it runs, so startup is
// fast.
import { statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { EXIT } from "./app/exit-codes.js";
import { Interrupts, type StopSignal } from "./terminal/interrupts.js";
import { processIo } from "./terminal/process-io.js";

/** How long an interrupted command waits for the reader of its output. */
const LAST_WORDS_MS = 500;

const interrupts = new Interrupts((signal) => void process.emit(signal));
void run().then((exitCode) => {
  process.exitCode = exitCode;
  // Unread output would keep the process alive forever.
  if (interrupts.signal.aborted) setTimeout(() => process.exit(exitCode), LAST_WORDS_MS).unref();
});

/** See `Hello.build` of the broker: the file with this code, and when it was written. */
function buildId(): string {
  const file = fileURLToPath(import.meta.url);
  return `${file}@${statSync(file).mtimeMs}`;
}

/** Loaded at most once a day. */
async function lookForUpdate(home: string): Promise<void> {
  try {
    const { startLookForUpdate } = await import("./updates/start-look-for-update.js");
    startLookForUpdate(home);
  } catch {
    // The next check is tomorrow.
  }
}

async function run(): Promise<number> {
  // The first Ctrl-C stops the work cleanly; the second ends it at once.
  const onSignal = (name: StopSignal) => {
    if (interrupts.signal.aborted) process.exit(EXIT.interrupted);
    interrupts.press(name);
  };
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, () => onSignal(name));
  // A reader that is gone (`trunkline tools | head`) is a normal end, not a crash.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    process.exit(error.code === "EPIPE" ? EXIT.success : EXIT.failure);
  });
  // There is no way to report an unwritable stderr.
  process.stderr.on("error", () => {});
  const { runProgram } = await import("./program.js");
  const io = processIo(interrupts, { build: buildId(), lookForUpdate: (home) => void lookForUpdate(home) });
  return await runProgram(process.argv.slice(2), io);
}
