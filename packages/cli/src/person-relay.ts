// A command that runs in the broker, with the streams and the terminal of this process.
import { fstatSync } from "node:fs";
import { type BrokerLink, encodeFrame, encodeJsonFrame, FRAME, type TerminalFacts } from "@trunkline/daemon/relay";

/** What a program on a terminal finds out about it. */
export function terminalFacts(): TerminalFacts {
  const { isatty } = process.getBuiltinModule("node:tty");
  // Without opening the streams, which takes longer.
  const [stdin = false, stdout = false, stderr = false] = [0, 1, 2].map((descriptor) => isatty(descriptor));
  const screen = stdout ? process.stdout : stderr ? process.stderr : undefined;
  return { stdin, stdout, stderr, columns: screen?.columns, rows: screen?.rows, pipedInput: hasPipedInput() };
}

function hasPipedInput(): boolean {
  try {
    const stats = fstatSync(0);
    return stats.isFIFO() || stats.isFile() || stats.isSocket();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EBADF") return false;
    throw error;
  }
}

/** By convention, the exit code shows which signal ended a process. */
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** How long an interrupted command waits for the reader of its output. */
const LAST_WORDS_MS = 500;

/** The broker ended while it ran a command. */
export const BROKER_LOST = -1;

/** Runs the command that `link` was opened for. Returns its exit code, or {@link BROKER_LOST}. */
export function relayPerson(link: BrokerLink): Promise<number> {
  const { socket } = link;
  const { stdin, stdout, stderr } = process;
  return new Promise((resolve) => {
    let exitCode: number | undefined;
    let hasInput = false;
    const send = (kind: Parameters<typeof encodeFrame>[0], payload?: Uint8Array | string) =>
      void socket.write(encodeFrame(kind, payload));
    // Input is read while the command asks for it and the broker takes it.
    let wantsInput = false;
    let isBehind = false;
    const readInput = () => {
      if (wantsInput && !isBehind) stdin.resume();
      else stdin.pause();
    };
    const startInput = () => {
      if (!hasInput) {
        hasInput = true;
        stdin.on("data", (chunk: Buffer) => {
          if (socket.write(encodeFrame(FRAME.stdin, chunk)) || isBehind) return;
          isBehind = true;
          readInput();
          socket.once("drain", () => {
            isBehind = false;
            readInput();
          });
        });
        stdin.once("end", () => send(FRAME.stdinEnd));
        stdin.once("error", () => send(FRAME.stdinEnd));
      }
      wantsInput = true;
      readInput();
    };
    // While the reader of the output does not read, nothing is read from the broker, not even that the command ended.
    const blocked = new Set<NodeJS.WriteStream>();
    const write = (stream: NodeJS.WriteStream, bytes: Buffer) => {
      // Frames that had already arrived are still written.
      if (stream.write(bytes) || blocked.has(stream)) return;
      blocked.add(stream);
      socket.pause();
      stream.once("drain", () => {
        blocked.delete(stream);
        if (blocked.size === 0) socket.resume();
      });
    };
    let lastSignal: "none" | "sent" | "handled" | "ending" = "none";
    // Before any output is shown: what it says may be answered with a signal at once.
    const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
    for (const name of signals) {
      process.on(name, () => {
        // The command is ending, or the broker does not react: end this process at once. The broker notices.
        if (lastSignal === "sent" || lastSignal === "ending") process.exit(EXIT_CODES[name]);
        lastSignal = "sent";
        send(FRAME.signal, name);
        setTimeout(() => {
          if (blocked.size > 0) process.exit(EXIT_CODES[name]);
        }, LAST_WORDS_MS).unref();
      });
    }
    link.onFrame = (kind, payload) => {
      switch (kind) {
        case FRAME.stdout:
          write(stdout, payload);
          return;
        case FRAME.stderr:
          write(stderr, payload);
          return;
        case FRAME.readStdin:
          startInput();
          return;
        case FRAME.pauseStdin:
          wantsInput = false;
          if (hasInput) readInput();
          return;
        case FRAME.rawMode:
          if (stdin.isTTY) stdin.setRawMode(payload[0] === 1);
          return;
        case FRAME.inputSettled:
          // Two turns: everything typed so far is read in the first, and sent before the answer.
          setImmediate(() => setImmediate(() => send(FRAME.inputSettled)));
          return;
        case FRAME.exit:
          exitCode = Number(payload.toString("utf8"));
          socket.end();
          return;
        case FRAME.signal:
          lastSignal = payload.toString("utf8") === "ending" ? "ending" : "handled";
          return;
      }
    };
    const onResize = () => {
      const { columns, rows } = stdout.isTTY ? stdout : stderr;
      socket.write(encodeJsonFrame(FRAME.resize, { columns, rows }));
    };
    process.on("SIGWINCH", onResize);
    stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));
    stderr.on("error", () => {});
    socket.on("error", () => {});
    socket.once("close", () => {
      if (stdin.isTTY && hasInput) stdin.setRawMode(false);
      if (hasInput) stdin.destroy();
      process.removeListener("SIGWINCH", onResize);
      for (const name of signals) process.removeAllListeners(name);
      resolve(exitCode ?? BROKER_LOST);
    });
  });
}
