// The connection of one MCP client: its messages as the lines that a stdio endpoint reads and writes.
import { type Duplex, type PassThrough, Writable } from "node:stream";
import { encodeFrame, FRAME } from "../wire/frames.js";

const NEWLINE = 0x0a;

/** What the composition needs to serve a client. */
export interface ClientLink {
  /** One message per line. Ends when the client has left. */
  readonly input: PassThrough;
  readonly output: Writable;
  /** Asks the client to attach again, to the next broker or to another workspace. */
  handOver(): void;
  /** Aborted when the client has agreed to attach again: finish what runs, and start nothing new. */
  readonly handover: AbortSignal;
  /** Shows the client's user a text, on the stderr of its relay. */
  note(text: string): void;
}

/** Collects what an endpoint writes and sends it message by message. */
export class MessageOutput extends Writable {
  readonly #socket: Duplex;
  #parts: Buffer[] = [];

  constructor(socket: Duplex) {
    super();
    this.#socket = socket;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    const frames: Buffer[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const last = chunk.subarray(start, end);
      const message = this.#parts.length === 0 ? last : Buffer.concat([...this.#parts, last]);
      this.#parts = [];
      frames.push(encodeFrame(FRAME.message, message));
      start = end + 1;
    }
    // The rest of this chunk is kept, and Node reuses no buffers of its own.
    if (start < chunk.length) this.#parts.push(chunk.subarray(start));
    if (frames.length === 0 || this.#socket.destroyed) {
      done();
      return;
    }
    const isSent = this.#socket.write(frames.length === 1 ? (frames[0] as Buffer) : Buffer.concat(frames));
    if (isSent) done();
    else {
      const onRoom = () => {
        this.#socket.off("drain", onRoom).off("close", onRoom);
        done();
      };
      this.#socket.once("drain", onRoom).once("close", onRoom);
    }
  }
}
