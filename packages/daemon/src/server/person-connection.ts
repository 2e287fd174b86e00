// A command that runs in the broker, for the process that relays it: its streams, signals and exit code.
import type { Duplex } from "node:stream";
import { encodeFrame, FRAME } from "../wire/frames.js";
import type { PersonHello } from "../wire/hello.js";
import { endWith } from "./end-connection.js";
import { RemoteInput, RemoteOutput } from "./remote-streams.js";

const MAX_UNREAD_BYTES = 64 * 1024 * 1024;

/** A command's streams, and how its terminal interrupts it. */
export interface PersonLink {
  readonly stdin: RemoteInput;
  readonly stdout: RemoteOutput;
  readonly stderr: RemoteOutput;
  /** Called with each signal; returns whether the command is ending because of it. */
  onSignal: (name: string) => boolean;
}

/** Runs a command for the process at the other end. Returns what handles its further frames. */
export function runForPerson(
  socket: Duplex,
  hello: PersonHello,
  host: { run(hello: PersonHello, link: PersonLink): Promise<number> },
): (kind: number, payload: Buffer) => void {
  const { terminal } = hello;
  const { columns, rows } = terminal;
  const send = (frame: Buffer) => socket.destroyed || socket.write(frame);
  const link: PersonLink = {
    stdin: new RemoteInput(terminal.stdin, send),
    stdout: new RemoteOutput(FRAME.stdout, { isTTY: terminal.stdout, columns, rows, send }),
    stderr: new RemoteOutput(FRAME.stderr, { isTTY: terminal.stderr, columns, rows, send }),
    onSignal: () => false,
  };
  const onRoom = () => {
    link.stdout.onRoom();
    link.stderr.onRoom();
  };
  socket.on("drain", onRoom).once("close", onRoom);
  // The relaying process was killed: as if its terminal were gone.
  socket.once("close", () => {
    link.onSignal("SIGHUP");
    link.stdin.destroy();
  });
  void host.run(hello, link).then((code) => {
    if (!socket.destroyed) endWith(socket, encodeFrame(FRAME.exit, String(code)));
  });
  return (kind, payload) => {
    switch (kind) {
      case FRAME.stdin:
        link.stdin.onData(payload);
        // It was asked to stop long ago.
        if (link.stdin.readableLength > MAX_UNREAD_BYTES) socket.destroy();
        return;
      case FRAME.stdinEnd:
        link.stdin.onEnd();
        return;
      case FRAME.inputSettled:
        link.stdin.onSettled();
        return;
      case FRAME.signal:
        send(encodeFrame(FRAME.signal, link.onSignal(payload.toString("utf8")) ? "ending" : "handled"));
        return;
      case FRAME.resize: {
        const size = JSON.parse(payload.toString("utf8")) as { columns?: number; rows?: number };
        link.stdout.onResize(size.columns, size.rows);
        link.stderr.onResize(size.columns, size.rows);
        return;
      }
    }
  };
}
