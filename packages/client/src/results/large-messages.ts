// Large messages of one server, held by a thread of its own: a message that takes long to read, or too much memory,
// delays and fails only the calls to this server.
import {
  type LargeResult,
  LargeValue,
  messageOf,
  type PathReading,
  type Segment,
  type SerializedValue,
  type Shrunk,
  systemCodeOf,
  TrunklineError,
} from "@trunkline/core";
import { startThread, type Thread } from "@trunkline/core/threads";
import { refusedAnswer, unreadAnswer } from "@trunkline/protocol";
import type { Envelope } from "./large-message.js";
import type { Found, Reference, ThreadAnswers, ThreadRequest } from "./message-thread.js";

/** A message above this size is read on the thread. */
export const LARGE_MESSAGE_BYTES = 1024 * 1024;

/** The thread may use this much memory: a message of 64 MB needs a few times its size. */
const THREAD_MEMORY_MB = 1_024;
const IDLE_MS = 30_000;
/** How much of its messages the thread holds at most. */
const MOST_HELD_BYTES = 512 * 1024 * 1024;

/** What a message became. */
type Opened =
  | Exclude<Envelope, { kind: "result" }>
  | (Extract<Envelope, { kind: "result" }> & { readonly handle: OpenedResult });

export class LargeMessages {
  readonly #server: string;
  /** For values that were not released when they were last used. */
  readonly #collected = new FinalizationRegistry<{ thread: Thread; reference: number }>((value) =>
    this.#release(value),
  );
  /** The values that the main thread may still refer to, and their sizes; the least recently used first. */
  readonly #held = new Map<number, number>();
  #thread: Thread | undefined;

  constructor(server: string) {
    this.#server = server;
  }

  /** Reads a message. Takes the memory of `bytes` if they have it to themselves. */
  async open(bytes: Uint8Array): Promise<Opened> {
    this.#makeRoom(bytes.length);
    const isOwn = bytes.byteOffset === 0 && bytes.buffer instanceof ArrayBuffer && bytes.buffer.byteLength > 16_384;
    const { envelope, result } = await this.#ask(
      "open",
      { op: "open", bytes },
      isOwn ? [bytes.buffer as ArrayBuffer] : [],
    );
    if (envelope.kind !== "result" || result === undefined) return envelope as Exclude<Envelope, { kind: "result" }>;
    return { ...envelope, handle: new OpenedResult(this.#port(result), envelope) };
  }

  /** Ends the thread; whatever is asked of its values fails from now on. Idempotent. */
  async close(): Promise<void> {
    const thread = this.#thread;
    this.#thread = undefined;
    clearTimeout(thread?.idle.timer);
    thread?.rpc.break(new TrunklineError("CLOSED", "the connection was closed"));
    await thread?.worker.terminate();
  }

  /** Gives up the values that have not been used for longest, most likely garbage, if there are too many. */
  #makeRoom(bytes: number): void {
    let sum = bytes;
    for (const size of this.#held.values()) sum += size;
    for (const [reference, size] of this.#held) {
      if (sum <= MOST_HELD_BYTES) return;
      if (this.#thread !== undefined) this.#release({ thread: this.#thread, reference });
      sum -= size;
    }
  }

  #release({ thread, reference }: { thread: Thread; reference: number }): void {
    if (thread !== this.#thread || !this.#held.delete(reference)) return;
    thread.rpc.notify("release", reference);
  }

  /** Access to one value. `family` has the references to all values of the same message. */
  #port({ reference, sizeBytes }: Reference, family = new Set<number>()): ThreadPort {
    const thread = this.#thread;
    family.add(reference);
    const port: ThreadPort = {
      reference,
      sizeBytes,
      ask: (op, request) => {
        if (thread === undefined || thread !== this.#thread) return Promise.reject(this.#failure("it is gone"));
        // Moves the value to the end, unless it has been released.
        if (this.#held.delete(reference)) this.#held.set(reference, sizeBytes);
        // The request keeps the port alive until it is answered.
        return this.#ask(op, { ...request, reference } as ThreadRequest).finally(() => void port.sizeBytes);
      },
      valueOf: (found) => ("reference" in found ? new ThreadValue(this.#port(found, family)) : found.value),
      release: () => {
        if (thread !== undefined) for (const one of family) this.#release({ thread, reference: one });
        family.clear();
      },
    };
    this.#held.set(reference, sizeBytes);
    if (thread !== undefined) this.#collected.register(port, { thread, reference });
    return port;
  }

  async #ask<K extends keyof ThreadAnswers>(
    op: K,
    request: ThreadRequest,
    transfer?: ArrayBuffer[],
  ): Promise<ThreadAnswers[K]> {
    this.#thread ??= this.#start();
    try {
      return (await this.#thread.rpc.call(op, request, { transfer })) as ThreadAnswers[K];
    } catch (error) {
      throw this.#failure(messageOf(error));
    }
  }

  #start(): Thread {
    const thread: Thread = startThread(new URL("./message-thread.js", import.meta.url), {
      owner: "large message",
      name: "trunkline messages",
      execArgv: [],
      limits: { maxOldGenerationSizeMb: THREAD_MEMORY_MB },
      idle: {
        ms: IDLE_MS,
        end: () => {
          if (this.#held.size === 0) void this.close();
          else thread.idle.timer?.refresh();
        },
      },
      onLost: (error) => {
        if (this.#thread !== thread) return;
        this.#thread = undefined;
        this.#held.clear();
        const isFull = systemCodeOf(error) === "ERR_WORKER_OUT_OF_MEMORY";
        thread.rpc.break(new TrunklineError("CLOSED", isFull ? "it takes too much memory" : "its thread ended"));
      },
    });
    return thread;
  }

  #failure(why: string): TrunklineError {
    return new TrunklineError("RESULT_TOO_LARGE", `A large answer of "${this.#server}" cannot be read: ${why}.`, {
      hint: "Ask for less: a filter, a page, a range.",
    });
  }
}

type Without<T> = T extends { op: infer Op } ? { op: Op } & Omit<T, "reference" | "op"> : never;

/** Access to one value on the thread. */
interface ThreadPort {
  readonly reference: number;
  readonly sizeBytes: number;
  ask<K extends keyof ThreadAnswers>(op: K, request: Without<ThreadRequest>): Promise<ThreadAnswers[K]>;
  valueOf(found: Found): unknown;
  /** Gives up all values of the same message. */
  release(): void;
}

/** A large value on the thread. A block has some of its fields here, to describe it. */
class ThreadValue extends LargeValue {
  readonly #port: ThreadPort;
  readonly about: Readonly<Record<string, unknown>>;
  #serialized: Promise<SerializedValue> | undefined;

  constructor(port: ThreadPort, about: Readonly<Record<string, unknown>> = {}) {
    super();
    this.#port = port;
    this.about = about;
  }

  /** The same value with some of its fields, to describe it by. */
  describedBy(about: Readonly<Record<string, unknown>> = {}): ThreadValue {
    return new ThreadValue(this.#port, about);
  }

  get sizeBytes(): number {
    return this.#port.sizeBytes;
  }

  async shrink(maxBytes: number): Promise<Shrunk> {
    return await this.#port.ask("shrink", { op: "shrink", maxBytes });
  }

  serialized(): Promise<SerializedValue> {
    this.#serialized ??= this.#port.ask("serialize", { op: "serialize" });
    return this.#serialized;
  }

  async serializedAfter(before: readonly (LargeValue | Readonly<Record<string, unknown>>)[]): Promise<SerializedValue> {
    const parts = before.map((part) => (part instanceof ThreadValue ? part.#port.reference : JSON.stringify(part)));
    return await this.#port.ask("serializeAfter", { op: "serializeAfter", before: parts });
  }

  async read(path: readonly Segment[]): Promise<PathReading> {
    const { found, missing } = await this.#port.ask("read", { op: "read", path });
    return { value: this.#port.valueOf(found), missing };
  }

  async json(): Promise<string> {
    return await this.#port.ask("text", { op: "text" });
  }

  async whole(): Promise<unknown> {
    return JSON.parse(await this.json());
  }

  release(): void {
    this.#port.release();
  }
}

/** The large fields of a result on the thread. */
export class OpenedResult implements LargeResult {
  readonly #port: ThreadPort;
  readonly #names: readonly string[];
  readonly sizeBytes: number;
  readonly links: readonly string[];
  readonly textBytes: number;

  constructor(port: ThreadPort, envelope: Extract<Envelope, { kind: "result" }>) {
    this.#port = port;
    this.#names = envelope.large;
    this.sizeBytes = envelope.sizeBytes;
    this.links = envelope.links;
    this.textBytes = envelope.textBytes;
  }

  /** Whether this field is large. */
  has(name: string): boolean {
    return this.#names.includes(name);
  }

  async fields(): Promise<Readonly<Record<string, Uint8Array>>> {
    return await this.#port.ask("fields", { op: "fields", names: this.#names }).finally(() => this.release());
  }

  release(): void {
    this.#port.release();
  }

  async outcome(): ReturnType<LargeResult["outcome"]> {
    const { value, blocks } = await this.#port.ask("outcome", { op: "outcome" });
    return {
      value: this.#port.valueOf(value),
      blocks: blocks.map((block) => {
        const own = this.#port.valueOf(block);
        return own instanceof ThreadValue ? own.describedBy(block.about) : (own as Record<string, unknown>);
      }),
    };
  }

  async whole(): Promise<Record<string, unknown>> {
    const text = await this.#port.ask("text", { op: "text" }).finally(() => this.release());
    const whole = JSON.parse(text) as Record<string, unknown>;
    return Object.fromEntries(this.#names.map((name) => [name, whole[name]]));
  }

  /** The first items of a large list, built piece by piece, so that others get their turn in between. */
  async items(
    name: string,
    limits: { maxItems: number; maxBytes: number },
  ): Promise<{ items: unknown[]; isAll: boolean }> {
    const { pieces, isAll } = await this.#port
      .ask("items", { op: "items", name, ...limits })
      .finally(() => this.release());
    const items: unknown[] = [];
    for (const piece of pieces) {
      for (const item of JSON.parse(piece) as unknown[]) items.push(item);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return { items, isAll };
  }
}

/** Where a result refers to its large fields. */
const LARGE = Symbol("large fields");

type MaybeLarge = Record<string, unknown> & { [LARGE]?: OpenedResult };

/** Builds the message that takes the place of a large one: its small fields, and a reference to the others. */
function stubOf({ id, result, handle }: Extract<Opened, { kind: "result" }>): Record<string, unknown> {
  const small: MaybeLarge = { ...result, [LARGE]: handle };
  return { jsonrpc: "2.0", id, result: small };
}

/** The large fields of a result, if they are elsewhere. */
export function largeOf(result: Readonly<Record<string, unknown>>): OpenedResult | undefined {
  return (result as MaybeLarge)[LARGE];
}

/** Builds a result with its large fields, for a caller that needs all of it. */
export async function wholeResult(result: Record<string, unknown>): Promise<Record<string, unknown>> {
  const large = largeOf(result);
  return large === undefined ? result : { ...smallFieldsOf(result), ...(await large.whole()) };
}

/** A result without the reference to its large fields. */
export function smallFieldsOf(result: Record<string, unknown>): Record<string, unknown> {
  const { [LARGE]: _, ...small } = result as MaybeLarge;
  return small;
}

/**
 * Reads a large message and returns the messages that take its place: small ones, or an error for the request that it
 * answers.
 */
export async function messagesIn(large: LargeMessages, bytes: Uint8Array): Promise<unknown[]> {
  const opened = await large.open(bytes);
  switch (opened.kind) {
    case "result":
      return [stubOf(opened)];
    case "plain": {
      const parsed: unknown = JSON.parse(opened.text);
      return Array.isArray(parsed) ? parsed : [parsed];
    }
    case "refused": {
      const { id, reason } = opened;
      if (id === undefined || reason === "invalid") throw new Error("the message is not valid JSON");
      return [reason === "tooDeep" ? refusedAnswer(id, "tooDeep", 0) : unreadAnswer(id, "it has too many values")];
    }
  }
}
