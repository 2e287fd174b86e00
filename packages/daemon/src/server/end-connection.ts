// How a connection ends.
import type { Duplex } from "node:stream";

/** How long the other side may take to close its end. */
const CLOSE_MS = 5_000;

/** Ends a connection, with a last frame. A client that has got everything and does not close its end is disconnected. */
export function endWith(socket: Duplex, frame: Buffer = Buffer.alloc(0)): void {
  socket.end(frame, () => {
    const timer = setTimeout(() => socket.destroy(), CLOSE_MS).unref();
    socket.once("close", () => clearTimeout(timer));
  });
  socket.resume();
}
