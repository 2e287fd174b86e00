// `trunkline serve` as a relay: passes the lines of one MCP client to the broker and back. If the broker ends, it
// attaches to the next one and repeats what that one has to know: the handshake, subscriptions, the log level, and the
// requests that were not answered. A broker that makes room answers what it has got, while the next one gets the rest.
import type { Readable, Writable } from "node:stream";
import { encodeFrame, FRAME } from "../wire/frames.js";
import { lostRequest, MAY_HAVE_RUN } from "../wire/lost-request.js";
import { ClientLines } from "./client-lines.js";
import type { BrokerLink } from "./reach-broker.js";

interface ClientRelayOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly errors: Writable;
  /** Attaches to a broker, or to a process that does the same. Rejects if there is neither. */
  attach(generation: number): Promise<BrokerLink>;
}

type Id = string | number;

interface Message {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: { readonly uri?: unknown; readonly requestId?: unknown };
}

const NEWLINE = 0x0a;
/** How several messages in one line begin. */
const BATCH = 0x5b;
const SHORT_BYTES = 64 * 1024;
/** How the broker's messages begin: an id, and whether they are an answer or a question. */
const HEAD = /^\{"jsonrpc":"2\.0","id":(-?\d+|"(?:[^"\\]|\\.)*"),"(result|error|method)"/;
const HEAD_BYTES = 1024;
/** The prefix of the ids of what the relay repeats on its own. */
const OWN = "trunkline-relay:";
const SUBSCRIBE = "resources/subscribe";
const UNSUBSCRIBE = "resources/unsubscribe";
const INITIALIZED = "notifications/initialized";
const CANCELLED = "notifications/cancelled";
/** A request that this many brokers did not survive may be the reason. */
const MAX_REPEATS = 5;
/** How many brokers may end one after the other without a single message before the relay stops trying. */
const MAX_SILENT = 10;
/** If a broker lived this long after it got a request, the request is not why it ended. */
const STABLE_MS = 10_000;

/** How long the relay waits for answers after its input has ended: longer than the broker does. */
const LAST_ANSWERS_MS = 10_000;

/** A request that is not answered yet. */
interface InFlight {
  readonly line: Buffer;
  /** Whether it stays open to deliver notifications. */
  readonly isStream: boolean;
  repeats: number;
}

/** A broker that serves the client. */
interface Attached {
  readonly link: BrokerLink;
  /** How many brokers have served the client before. */
  readonly generation: number;
  /** The ids of its questions that the client has not answered, as the client knows them. */
  readonly questions: Set<string>;
}

/** Relays one client until its input ends. */
export class ClientRelay {
  readonly #options: ClientRelayOptions;
  readonly #lines = new ClientLines((line) => this.#fromClient(line));
  #current: Attached | undefined;
  /** Brokers that make room and still answer what they have got. */
  readonly #leaving = new Set<Attached>();
  #generation = 0;
  readonly #inFlight = new Map<Id, InFlight>();
  /** Which broker has got a line. */
  readonly #holders = new WeakMap<Buffer, Attached>();
  /** Lines that no broker has got yet. */
  #waiting: Buffer[] = [];
  /** Whether the broker knows the client and takes its lines. */
  #isReady = true;
  #isAttaching = false;
  #silentLinks = 0;
  #resumedMs = 0;
  #initialize: Message | undefined;
  #initialized: Buffer | undefined;
  #logLevel: Message | undefined;
  readonly #subscriptions = new Map<string, Message>();
  /** Subscriptions that are asked for or given up, by the id of the request. */
  readonly #changing = new Map<Id, Message>();
  /** What the relay repeated, and waits for. */
  readonly #repeating = new Map<string, () => void>();
  #lastRepeat = 0;
  #hasEnded = false;
  /** The user stopped the broker: none is needed before the client's next message. */
  #isStopped = false;
  #finish: (error?: Error) => void = () => {};

  constructor(options: ClientRelayOptions) {
    this.#options = options;
  }

  /** Relays on this link, and on others if it breaks. Resolves when the client and the broker are done. */
  run(link: BrokerLink, signal: AbortSignal): Promise<void> {
    const { input } = this.#options;
    return new Promise((resolve, reject) => {
      this.#finish = (error) => (error === undefined ? resolve() : reject(error));
      this.#use(link);
      const onEnd = () => {
        input.removeAllListeners("data");
        this.#lines.flush();
        this.#hasEnded = true;
        // The broker answers what is running, for a few seconds. One that hangs must not keep this process.
        setTimeout(() => this.#finish(), LAST_ANSWERS_MS).unref();
        if (this.#isReady) this.#current?.link.socket.end();
        this.#finishIfDone();
      };
      input.on("data", (chunk: Buffer) => this.#lines.push(chunk));
      input.once("end", onEnd).once("error", onEnd);
      signal.addEventListener("abort", () => {
        input.pause();
        onEnd();
      });
      if (signal.aborted) onEnd();
    });
  }

  #use(link: BrokerLink): Attached {
    const attached = { link, generation: this.#generation, questions: new Set<string>() };
    this.#current = attached;
    this.#isStopped = false;
    const { socket } = link;
    socket.on("error", () => {});
    socket.once("close", () => this.#onLost(attached));
    // A broker that was killed right after its welcome has closed the socket before anyone listened.
    if (socket.closed) setImmediate(() => this.#onLost(attached));
    link.onFrame = (kind, payload) => this.#onFrame(attached, kind, payload);
    return attached;
  }

  #finishIfDone(): void {
    const isServed = this.#current !== undefined || this.#leaving.size > 0 || this.#isAttaching;
    if (this.#hasEnded && !isServed) this.#finish();
  }

  // From the client.

  #fromClient(line: Buffer): void {
    const value = parsed(line);
    if (isMessage(value) && value.method === undefined && value.id !== undefined) {
      this.#answerQuestion(value, line);
      return;
    }
    if (isMessage(value) && value.method === CANCELLED && this.#cancel(value.params?.requestId, line)) return;
    for (const each of Array.isArray(value) ? value : [value]) if (isMessage(each)) this.#note(each, line);
    if (this.#isReady && this.#current !== undefined) this.#send(this.#current, FRAME.message, line);
    else {
      this.#waiting.push(line);
      if (this.#current === undefined) this.#attachAgain();
    }
  }

  /** Cancels a request at the broker that has got it. Returns false if that is unknown. */
  #cancel(id: unknown, line: Buffer): boolean {
    const request = isId(id) ? this.#inFlight.get(id) : undefined;
    if (request === undefined) return false;
    const isAlone = [...this.#inFlight.values()].filter((each) => each.line === request.line).length === 1;
    const at = this.#waiting.indexOf(request.line);
    // The other requests of a batch are still wanted.
    if (at !== -1 && !isAlone) return false;
    this.#inFlight.delete(id as Id);
    if (at !== -1) this.#waiting.splice(at, 1);
    const holder = this.#holderOf(request);
    if (holder !== undefined) this.#send(holder, FRAME.message, line);
    return true;
  }

  /** Passes on an answer to the broker that asked, unless that one has ended. */
  #answerQuestion(answer: Message, line: Buffer): void {
    const shown = JSON.stringify(answer.id);
    const brokers = [...this.#leaving, ...(this.#current === undefined ? [] : [this.#current])];
    const asking = brokers.find(({ questions }) => questions.delete(shown));
    if (asking === undefined) return;
    if (asking.generation === 0) this.#send(asking, FRAME.message, line);
    else {
      const asked = Number(String(answer.id).slice(String(answer.id).indexOf(".") + 1));
      this.#send(asking, FRAME.message, Buffer.from(JSON.stringify({ ...answer, id: asked })));
    }
  }

  /** Remembers what a new broker has to know. */
  #note(message: Message, line: Buffer): void {
    const { id, method } = message;
    if (isId(id)) {
      this.#inFlight.set(id, { line, isStream: method === "subscriptions/listen", repeats: 0 });
      if (method === "initialize") this.#initialize = message;
      else if (method === "logging/setLevel") this.#logLevel = message;
      else if (method === SUBSCRIBE || method === UNSUBSCRIBE) this.#changing.set(id, message);
    } else if (method === INITIALIZED) this.#initialized = line;
  }

  /** The broker that works on a request; undefined if it waits, or if its broker has ended. */
  #holderOf({ line }: InFlight): Attached | undefined {
    const holder = this.#holders.get(line);
    return holder !== undefined && (holder === this.#current || this.#leaving.has(holder)) ? holder : undefined;
  }

  // From the broker.

  #onFrame(from: Attached, kind: number, payload: Buffer): void {
    this.#silentLinks = 0;
    switch (kind) {
      case FRAME.message:
        this.#fromBroker(from, payload);
        return;
      case FRAME.stderr:
        this.#options.errors.write(payload);
        return;
      case FRAME.drain:
        this.#leave(from);
        return;
      case FRAME.stop:
        if (from !== this.#current) return;
        this.#isReady = false;
        this.#isStopped = true;
        return;
      case FRAME.exit:
        // The end of this client, not of the broker.
        if (from !== this.#current || !this.#isReady) return;
        this.#current = undefined;
        this.#hasEnded = true;
        this.#finishIfDone();
        return;
    }
  }

  /** Everything sent so far was for this broker; the next one gets the rest. */
  #leave(from: Attached): void {
    if (from !== this.#current) return;
    from.link.socket.write(encodeFrame(FRAME.drain));
    if (this.#hasEnded) return;
    this.#current = undefined;
    this.#isReady = false;
    this.#leaving.add(from);
    this.#generation += 1;
    this.#attachAgain();
  }

  #fromBroker(from: Attached, payload: Buffer): void {
    const head = HEAD.exec(payload.toString("latin1", 0, Math.min(payload.length, HEAD_BYTES)));
    let line = payload;
    if (payload[0] === BATCH) this.#onAnswers(parsed(payload));
    else if (head !== null) {
      const [start, text = "", field] = head;
      const id = JSON.parse(Buffer.from(text, "latin1").toString("utf8")) as Id;
      if (field === "method") {
        // Every broker numbers its questions from 1, and the client still remembers the last broker's numbers.
        const shown = from.generation === 0 ? text : JSON.stringify(`${from.generation}.${id}`);
        from.questions.add(shown);
        if (shown !== text) {
          const rest = payload.subarray(Buffer.byteLength(start, "latin1"));
          line = Buffer.concat([Buffer.from(`{"jsonrpc":"2.0","id":${shown},"method"`), rest]);
        }
      } else if (this.#onAnswer(id, field === "result")) return;
    }
    const { output } = this.#options;
    if (writeLine(output, line)) return;
    const { socket } = from.link;
    // Several messages may have arrived together.
    if (socket.isPaused()) return;
    socket.pause();
    output.once("drain", () => socket.resume());
  }

  #onAnswers(batch: unknown): void {
    for (const answer of Array.isArray(batch) ? batch : []) {
      if (isMessage(answer) && isId(answer.id)) this.#onAnswer(answer.id, "result" in answer);
    }
  }

  /** Returns whether the answer is for the relay itself. */
  #onAnswer(id: Id, isResult: boolean): boolean {
    if (typeof id === "string" && id.startsWith(OWN)) {
      this.#repeating.get(id)?.();
      this.#repeating.delete(id);
      return true;
    }
    this.#inFlight.delete(id);
    const change = this.#changing.get(id);
    this.#changing.delete(id);
    if (change !== undefined && isResult) {
      const uri = String(change.params?.uri);
      if (change.method === SUBSCRIBE) this.#subscriptions.set(uri, change);
      else this.#subscriptions.delete(uri);
    }
    return false;
  }

  // When a broker ends.

  #onLost(lost: Attached): void {
    const wasLeaving = this.#leaving.delete(lost);
    if (!wasLeaving && this.#current !== lost) return;
    for (const id of lost.questions) this.#cancelQuestion(id);
    if (!wasLeaving) {
      this.#current = undefined;
      this.#isReady = false;
      this.#generation += 1;
      if (performance.now() - this.#resumedMs > STABLE_MS)
        for (const request of this.#inFlight.values()) request.repeats = 0;
    }
    const isIdle =
      this.#waiting.length === 0 && [...this.#inFlight.values()].every((request) => this.#holderOf(request));
    if (this.#current !== undefined) {
      if (this.#isReady) this.#repeatRequests(this.#current);
    } else if (isIdle && this.#hasEnded) this.#finishIfDone();
    else if (!isIdle || !(this.#isStopped && this.#subscriptions.size === 0)) this.#replace();
  }

  #replace(): void {
    if (this.#isAttaching) return;
    this.#silentLinks += 1;
    if (this.#silentLinks <= MAX_SILENT) this.#attachAgain();
    else this.#giveUp("it ends as soon as it is started");
  }

  /** The broker that asked has ended, so an answer would reach no one. */
  #cancelQuestion(id: string): void {
    this.#options.output.write(
      `{"jsonrpc":"2.0","method":"${CANCELLED}","params":{"requestId":${id},"reason":"The server was restarted."}}\n`,
    );
  }

  #attachAgain(): void {
    if (this.#isAttaching) return;
    this.#isAttaching = true;
    const attached = this.#options.attach(this.#generation).finally(() => {
      this.#isAttaching = false;
    });
    attached
      .then(
        (link) => this.#resume(this.#use(link)),
        (error: unknown) => this.#giveUp((error as Error).message),
      )
      .catch((error: unknown) => this.#finish(error as Error));
  }

  /** Tells a new broker what it has to know. Stops if that one is lost, too, or makes room. */
  async #resume(next: Attached): Promise<void> {
    const handshake = isId(this.#initialize?.id) ? this.#inFlight.get(this.#initialize.id) : undefined;
    // Otherwise the client's own handshake is sent, or answered by the broker that it leaves.
    let hasInitialized = false;
    if (this.#initialize !== undefined && (handshake === undefined || this.#holderOf(handshake) !== undefined)) {
      if (!(await this.#repeat(next, this.#initialize))) return;
      hasInitialized = this.#initialized !== undefined;
      if (this.#initialized !== undefined) this.#send(next, FRAME.message, this.#initialized);
      const known = [...(this.#logLevel === undefined ? [] : [this.#logLevel]), ...this.#subscriptions.values()];
      for (const message of known) if (!(await this.#repeat(next, message))) return;
    }
    this.#resumedMs = performance.now();
    this.#repeatRequests(next);
    const wasSent = this.#initialized !== undefined && !this.#waiting.includes(this.#initialized);
    if (!hasInitialized && wasSent) this.#send(next, FRAME.message, this.#initialized as Buffer);
    for (const line of this.#waiting.splice(0)) {
      if (line !== this.#initialized || !hasInitialized) this.#send(next, FRAME.message, line);
    }
    this.#isReady = true;
    if (this.#hasEnded) next.link.socket.end();
  }

  /** Sends the requests again whose broker got them and ended without an answer. */
  #repeatRequests(to: Attached): void {
    const waiting = new Set(this.#waiting);
    const repeated = new Set<Buffer>();
    for (const [id, request] of this.#inFlight) {
      const { line } = request;
      if (waiting.has(line) || (this.#holderOf(request) !== undefined && !repeated.has(line))) continue;
      if (!request.isStream) request.repeats += 1;
      if (request.repeats > MAX_REPEATS)
        this.#fail(id, { message: "The broker ended each time it got this request.", mayHaveRun: false });
      else if (line[0] === BATCH) this.#fail(id, { message: MAY_HAVE_RUN, mayHaveRun: true });
      // The answer to a handshake must not be waited for behind the check whether it can be repeated.
      else if (id === this.#initialize?.id) this.#send(to, FRAME.message, line);
      else if (!repeated.has(line)) this.#send(to, FRAME.repeated, line);
      repeated.add(line);
    }
  }

  /** There is no broker and nothing in its place. The session goes on: the client's next message tries again. */
  #giveUp(why: string): void {
    this.#silentLinks = 0;
    const waiting = new Set(this.#waiting);
    for (const [id, request] of this.#inFlight) {
      if (this.#holderOf(request) !== undefined) continue;
      const mayHaveRun = !waiting.has(request.line);
      const effect = mayHaveRun
        ? "This request may or may not have taken effect. Check before you try again."
        : "This request has not run. Try again.";
      const message = `Trunkline's broker ended and cannot be started again: ${why}. ${effect}`;
      this.#fail(id, { message, mayHaveRun });
    }
    // The end of the handshake is repeated from memory; other notifications were about the requests.
    this.#waiting = [];
    this.#finishIfDone();
  }

  #fail(id: Id, lost: Parameters<typeof lostRequest>[1]): void {
    this.#inFlight.delete(id);
    this.#changing.delete(id);
    this.#options.output.write(`${lostRequest(id, lost)}\n`);
  }

  /** Sends a message again under an id of the relay. Returns false if the broker was lost meanwhile, or makes room. */
  async #repeat(to: Attached, message: Message): Promise<boolean> {
    this.#lastRepeat += 1;
    const id = `${OWN}${this.#lastRepeat}`;
    const answered = new Promise<void>((resolve) => {
      this.#repeating.set(id, resolve);
      to.link.socket.once("close", () => resolve());
    });
    this.#send(to, FRAME.message, Buffer.from(JSON.stringify({ ...message, id })));
    await answered;
    this.#repeating.delete(id);
    return this.#current === to;
  }

  #send(to: Attached, kind: typeof FRAME.message | typeof FRAME.repeated, line: Buffer): void {
    this.#holders.set(line, to);
    const { socket } = to.link;
    if (socket.write(encodeFrame(kind, line))) return;
    const { input } = this.#options;
    if (input.isPaused()) return;
    input.pause();
    socket.once("drain", () => input.resume());
    socket.once("close", () => input.resume());
  }
}

/** Returns whether there is room for more. A short line is written at once: each write wakes up the client. */
function writeLine(output: Writable, line: Buffer): boolean {
  if (line.length > SHORT_BYTES) {
    output.write(line);
    return output.write("\n");
  }
  const whole = Buffer.allocUnsafe(line.length + 1);
  whole.set(line);
  whole[line.length] = NEWLINE;
  return output.write(whole);
}

function parsed(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString("utf8"));
  } catch {
    // The broker says what is wrong with it.
    return undefined;
  }
}

function isMessage(value: unknown): value is Message {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isId(value: unknown): value is Id {
  return typeof value === "string" || typeof value === "number";
}
