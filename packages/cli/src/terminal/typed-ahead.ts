// Drops what was typed before a question is shown. The terminal keeps such lines, and the next reader gets them: a "y"
// typed or pasted for something else would approve what the user has not seen.
import type { Interface } from "node:readline";
import { Writable } from "node:stream";
import type { ProgramIo } from "./program-io.js";

/** Where a reader writes its prompt and the keys it reads, which can be hidden. */
export class PromptScreen extends Writable {
  hidden = false;
  readonly #stderr: ProgramIo["stderr"];

  constructor(stderr: ProgramIo["stderr"]) {
    super();
    this.#stderr = stderr;
  }

  /** The reader wraps long lines. */
  get columns(): number | undefined {
    return this.#stderr.columns;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (!this.hidden) this.#stderr.write(chunk);
    done();
  }
}

/** Reads and drops all waiting input, including half a line. The caller drops the lines that `reader` has emitted. */
export async function dropTypedAhead(
  reader: Pick<Interface, "write" | "once">,
  { stdin, screen }: { stdin: ProgramIo["stdin"]; screen: PromptScreen },
): Promise<void> {
  let isRead = true;
  const onData = () => {
    isRead = true;
  };
  let isOpen = true;
  reader.once("close", () => {
    isOpen = false;
  });
  stdin.on("data", onData);
  screen.hidden = true;
  try {
    while (isRead && isOpen) {
      isRead = false;
      await stdin.settled?.();
      await inputTurn();
    }
    if (!isOpen) return;
    reader.write(null, { ctrl: true, name: "e" });
    reader.write(null, { ctrl: true, name: "u" });
  } finally {
    stdin.off("data", onData);
    screen.hidden = false;
  }
}

/** Waits until the event loop has asked the terminal for input: one turn may have begun before it was opened. */
async function inputTurn(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
}
