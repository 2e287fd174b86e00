// Registers sessions and watching.
import type { Command } from "commander";
import { EXIT } from "../../app/exit-codes.js";
import { storePathOf, wholeNumberOption, withCommonOptions } from "../flags.js";
import type { StoreGroup } from "./group.js";
import type { PinOptions, SessionsOptions, WatchOptions } from "./sessions.js";

const PINS = {
  pin: "keep a content from gc, and in front of what its session searches",
  unpin: "pin it no longer",
} as const;

export function registerSessions({ store, context, setExitCode }: StoreGroup): void {
  const watch = store
    .command("watch")
    .description("add files and folders, and take up every change of them until Ctrl-C")
    .argument("<path...>", "files and folders")
    .option("--collection <name>", "the collection they go to", "default")
    .option("--label <label>", "what the session is called (default: watch)")
    .option("--session <id>", "go on with this session");
  withCommonOptions(watch).action(
    async (paths: string[], options: Omit<WatchOptions, "paths" | "store">, command: Command) => {
      const sessions = await import("./sessions.js");
      const code = await sessions.watch(context, { ...options, paths, store: storePathOf(command) });
      // To be interrupted is how it ends.
      setExitCode(code, { inOrder: code === EXIT.success });
    },
  );

  const list = store
    .command("sessions")
    .description("list sessions, the newest first")
    .addOption(wholeNumberOption("--limit <number>", "how many (default: 100)", { from: 1 }))
    .option("--open", "only those under way");
  withCommonOptions(list).action(async (options: Omit<SessionsOptions, "store">, command: Command) => {
    const { listSessions } = await import("./sessions.js");
    setExitCode(await listSessions(context, { ...options, store: storePathOf(command) }));
  });

  const start = store
    .command("start")
    .description("begin a session and print its id, for --session of other commands")
    .option("--label <label>", "what it is called");
  withCommonOptions(start).action(async (options: { label?: string }, command: Command) => {
    const { startSession } = await import("./sessions.js");
    setExitCode(await startSession(context, { ...options, store: storePathOf(command) }));
  });

  const stop = store
    .command("stop")
    .description("end a session, and show what was added, changed, removed and pinned in it")
    .argument("<session>", "its id, as start and sessions print it");
  withCommonOptions(stop).action(async (session: string, options: object, command: Command) => {
    const { stopSession } = await import("./sessions.js");
    setExitCode(await stopSession(context, { ...options, session, store: storePathOf(command) }));
  });

  for (const name of ["pin", "unpin"] as const) {
    const pin = store
      .command(name)
      .description(PINS[name])
      .argument("<path|hash>", "a path or the end of one, or a hash or the first 8 digits of one")
      .requiredOption("--session <id>", "the session, as start and sessions print it");
    withCommonOptions(pin).action(
      async (target: string, options: Omit<PinOptions, "target" | "store">, command: Command) => {
        const sessions = await import("./sessions.js");
        const keep = name === "pin";
        setExitCode(await sessions.pin(context, { ...options, target, keep, store: storePathOf(command) }));
      },
    );
  }
}
