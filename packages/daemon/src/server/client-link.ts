// The connection of one MCP client: its messages as the lines that a stdio endpoint reads and writes.
import { type Duplex, type PassThrough, Writable } from "node:stream";
import { LineReader } from "@trunkline/core";
import { encodeFrame, FRAME } from "../wire/frames.js";

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
  #frames: Buffer[] = [];
  readonly #lines = new LineReader({
    onLine: (message) => this.#frames.push(encodeFrame(FRAME.message, message)),
  });

  constructor(socket: Duplex) {
    super();
    this.#socket = socket;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    // The rest of this chunk is kept, and Node reuses no buffers of its own.
    this.#lines.push(chunk);
    const frames = this.#frames;
    this.#frames = [];
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
