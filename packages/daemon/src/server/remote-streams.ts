// The streams of a command that runs in the broker: they belong to the process that relays it.
import { Readable, Writable } from "node:stream";
import { encodeFrame, FRAME, type FrameKind } from "../wire/frames.js";

/** Far below what a frame can hold: the relay passes on what it has got. */
const PIECE_BYTES = 256 * 1024;

/** Standard input of the relaying process. Nothing is read there until something reads here. */
export class RemoteInput extends Readable {
  readonly isTTY: boolean;
  readonly #send: (frame: Buffer) => void;
  #isRead = false;
  #settled: (() => void)[] = [];

  constructor(isTTY: boolean, send: (frame: Buffer) => void) {
    super();
    this.isTTY = isTTY;
    this.#send = send;
  }

  override _read(): void {
    if (this.#isRead) return;
    this.#isRead = true;
    this.#send(encodeFrame(FRAME.readStdin));
  }

  setRawMode(isRaw: boolean): this {
    this.#send(encodeFrame(FRAME.rawMode, Buffer.from([isRaw ? 1 : 0])));
    return this;
  }

  override pause(): this {
    super.pause();
    this.#stop();
    return this;
  }

  override resume(): this {
    super.resume();
    this._read();
    return this;
  }

  /** Resolves when everything that was typed before has arrived. */
  async settled(): Promise<void> {
    if (this.destroyed || this.readableEnded) return;
    await new Promise<void>((resolve) => {
      this.#settled.push(resolve);
      this.#send(encodeFrame(FRAME.inputSettled));
    });
  }

  /** Handles the client's answer to {@link settled}. */
  onSettled(): void {
    this.#settled.shift()?.();
  }

  onData(bytes: Buffer): void {
    if (!this.push(bytes)) this.#stop();
  }

  onEnd(): void {
    this.push(null);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    for (const resolve of this.#settled.splice(0)) resolve();
    done(error);
  }

  #stop(): void {
    if (!this.#isRead) return;
    this.#isRead = false;
    this.#send(encodeFrame(FRAME.pauseStdin));
  }
}

interface RemoteOutputOptions {
  readonly isTTY: boolean;
  readonly columns?: number;
  readonly rows?: number;
  /** Sends a frame. Returns false if the relaying process is behind; {@link RemoteOutput.onRoom} follows. */
  readonly send: (frame: Buffer) => boolean;
}

/**
 * Standard output or standard error of the relaying process. Everything is sent at once, so that the two keep their
 * order; the return value of `write` says when to wait.
 */
export class RemoteOutput extends Writable {
  readonly isTTY: boolean;
  columns: number | undefined;
  rows: number | undefined;
  readonly #kind: FrameKind;
  readonly #send: (frame: Buffer) => boolean;
  #hasRoom = true;

  constructor(kind: typeof FRAME.stdout | typeof FRAME.stderr, { isTTY, columns, rows, send }: RemoteOutputOptions) {
    super({ highWaterMark: Number.MAX_SAFE_INTEGER });
    this.isTTY = isTTY;
    this.columns = isTTY ? columns : undefined;
    this.rows = isTTY ? rows : undefined;
    this.#kind = kind;
    this.#send = send;
  }

  onResize(columns: number | undefined, rows: number | undefined): void {
    if (!this.isTTY) return;
    this.columns = columns;
    this.rows = rows;
    this.emit("resize");
  }

  /** The relaying process has caught up, or is gone. */
  onRoom(): void {
    if (this.#hasRoom) return;
    this.#hasRoom = true;
    this.emit("drain");
  }

  // biome-ignore lint/suspicious/noExplicitAny: the overloads of Writable
  override write(chunk: any, encoding?: any, done?: any): boolean {
    super.write(chunk, encoding, done);
    return this.#hasRoom;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    for (let start = 0; start < chunk.length; start += PIECE_BYTES) {
      this.#hasRoom = this.#send(encodeFrame(this.#kind, chunk.subarray(start, start + PIECE_BYTES)));
    }
    done();
  }
}
