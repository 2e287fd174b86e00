// The broker's socket: greets clients, passes them on to the composition, and decides when the broker ends.
import { lstatSync, renameSync, unlinkSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { type Duplex, PassThrough } from "node:stream";
import { atMost, isTrunklineError, type Logger, messageOf, parseJson } from "@trunkline/core";
import { type BrokerPlace, executionPlace, isOwnSocket } from "../wire/broker-place.js";
import { hasProof, newProof } from "../wire/client-proof.js";
import {
  encodeFrame,
  encodeJsonFrame,
  FRAME,
  FrameReader,
  MAX_FRAME_BYTES,
  MAX_HELLO_BYTES,
  PROTOCOL_VERSION,
} from "../wire/frames.js";
import { type ClientHello, type Hello, type PersonHello, type Refusal, readHello } from "../wire/hello.js";
import { removeLeftFiles } from "../wire/left-files.js";
import { lostRequest, MAY_HAVE_RUN } from "../wire/lost-request.js";
import { runtimeDifference } from "../wire/runtime-variables.js";
import { isListening } from "../wire/try-connect.js";
import { type ClientLink, MessageOutput } from "./client-link.js";
import { endWith } from "./end-connection.js";
import { type PersonLink, runForPerson } from "./person-connection.js";
import { isNewer } from "./versions.js";

/** What the broker does for its clients; the command line provides it. */
export interface BrokerHost {
  /** Checks a client's arguments and finds its workspace. Rejects if the client has to work in its own process. */
  admit(hello: ClientHello): Promise<AdmittedClient>;
  /** Runs a command. Never rejects. */
  run(hello: PersonHello, link: PersonLink): Promise<number>;
  /** Another broker takes over: frees what only one of them can have. Running calls go on. Never rejects. */
  makeRoom?(): Promise<void>;
  /** Facts for `trunkline broker`. */
  status(): Promise<Readonly<Record<string, unknown>>>;
  close(): Promise<void>;
}

export interface AdmittedClient {
  /** Serves the client until it leaves. */
  serve(link: ClientLink): Promise<void>;
  /** Whether a request that may have run already can be run again. */
  isRepeatable(message: string): Promise<boolean>;
  /** Learns of a request that was lost with another broker. `program`: the client's, if it is known. */
  onLost?(message: string, program: string | undefined): void;
}

interface BrokerOptions {
  readonly place: BrokerPlace;
  readonly version: string;
  readonly build: string;
  readonly host: BrokerHost;
  readonly logger: Logger;
  /** The environment of the broker's process. Clients for which it would have to be another are refused. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** How long the broker stays without clients. */
  readonly idleMs: number;
  /** How long running calls may go on when another broker takes over. Default 60 s. */
  readonly drainMs?: number;
  /** Called once nothing is left to do. */
  readonly onDone: () => void;
}

/** Said to a client that is in a sandbox, or pretends not to be. */
const ELSEWHERE: Refusal = {
  reason: "place",
  message:
    "this process has different permissions than the broker, as in a sandbox, in a container or with another umask",
};

const DRAIN_MS = 60_000;
const HELLO_MS = 5_000;
const MAX_EARLY_BYTES = 1024 * 1024;
const CHECK_MS = 5_000;
/** How long clients stay with this broker until the next one listens. */
const NEXT_MS = 10_000;
const NEXT_CHECK_MS = 10;
const READ_CHECK_MS = 10;

/** In `initialize`, and in the `_meta` of modern requests. */
const CLIENT_NAME = /clientInfo"\s*:\s*\{[^{}]*?"name"\s*:\s*("(?:[^"\\]|\\.)*")/;

/** A connected client, as `trunkline broker` shows it. */
export interface ConnectedClient {
  readonly kind: Hello["kind"];
  readonly pid: number;
  readonly program: string | undefined;
  readonly folder: string | undefined;
  readonly command: string | undefined;
  readonly sinceMs: number;
}

/** Listens on the user's socket. */
export class BrokerServer {
  readonly #options: BrokerOptions;
  readonly #server: Server;
  readonly #here = { place: executionPlace(), umask: true };
  readonly #hereWithAnyUmask = { place: executionPlace("self", { umask: false }), umask: false };
  readonly #clients = new Map<Duplex, ConnectedClient>();
  /** How each client that is being served is asked to attach again. */
  readonly #handovers = new Map<Duplex, () => void>();
  /** How many reasons there are to stay without a client. */
  #holds = 0;
  #inode = 0;
  #idle: NodeJS.Timeout | undefined;
  #check: NodeJS.Timeout | undefined;
  #ending: Promise<void> | undefined;
  /** Answers those who asked it to stop. */
  #onStopped: () => void = () => {};

  constructor(options: BrokerOptions) {
    this.#options = options;
    this.#server = createServer({ allowHalfOpen: true }, (socket) => this.accept(socket));
  }

  get clients(): readonly ConnectedClient[] {
    return [...this.#clients.values()].filter(({ kind }) => kind !== "control");
  }

  /**
   * Starts to listen. The socket of a broker that has ended is replaced in one step. Returns false if another broker
   * listens already.
   */
  async listen(): Promise<boolean> {
    const { place } = this.#options;
    if (await isListening(place.socket)) return false;
    removeLeftFiles(place.folder);
    const first = join(place.folder, `b${process.pid}.sock`);
    remove(first);
    const mask = process.umask(0o177);
    try {
      await new Promise<void>((resolve, reject) => {
        this.#server.once("error", reject);
        this.#server.listen(first, () => {
          this.#server.off("error", reject);
          resolve();
        });
      });
    } finally {
      process.umask(mask);
    }
    try {
      this.#inode = lstatSync(first).ino;
      renameSync(first, place.socket);
    } catch (error) {
      // No one could find it, and a process that listens does not end.
      this.#server.close();
      remove(first);
      throw error;
    }
    this.#server.on("error", (error) => this.#options.logger.error("the socket failed", { error }));
    // If another broker has taken the place, or the folder is gone, no client finds this one any more.
    this.#check = setInterval(() => {
      if (!this.#isReachable()) void this.drain("the socket was replaced");
    }, CHECK_MS);
    this.#check.unref();
    this.#awaitIdle();
    return true;
  }

  #isReachable(): boolean {
    try {
      return lstatSync(this.#options.place.socket).ino === this.#inode;
    } catch {
      return false;
    }
  }

  /**
   * Stops taking clients, lets running calls finish, and hands the clients over to the next broker. If that one is
   * `expected`, the clients stay until it listens: otherwise one of them would start this version again.
   */
  drain(why: string, next?: "expected"): Promise<void> {
    this.#ending ??= (async () => {
      this.#options.logger.info("draining", { why });
      this.#stopListening();
      await this.#options.host.makeRoom?.();
      if (next === "expected") await this.#nextListens();
      for (const handOver of this.#handovers.values()) handOver();
      const gone = Promise.all(
        [...this.#clients.keys()].map((socket) => new Promise((resolve) => socket.once("close", resolve))),
      );
      await atMost(this.#options.drainMs ?? DRAIN_MS, gone);
      await this.#finish();
    })();
    return this.#ending;
  }

  /** Ends at once. Clients attach to a new broker with their next request. */
  stop(why: string): Promise<void> {
    this.#ending ??= (async () => {
      this.#options.logger.info("stopping", { why });
      this.#stopListening();
      for (const socket of this.#handovers.keys()) socket.write(encodeFrame(FRAME.stop));
      await this.#finish();
    })();
    return this.#ending;
  }

  async #nextListens(): Promise<void> {
    const endMs = performance.now() + NEXT_MS;
    while (this.#handovers.size > 0 && performance.now() < endMs) {
      if (isOwnSocket(this.#options.place.socket)) return;
      await new Promise((resolve) => setTimeout(resolve, NEXT_CHECK_MS));
    }
  }

  #stopListening(): void {
    clearTimeout(this.#idle);
    clearInterval(this.#check);
    if (this.#isReachable()) remove(this.#options.place.socket);
    this.#server.close();
  }

  async #finish(): Promise<void> {
    // Those who asked it to stop wait until it has.
    for (const [socket, { kind }] of this.#clients) if (kind !== "control") socket.destroy();
    try {
      await this.#options.host.close();
    } catch (error) {
      this.#options.logger.error("closing failed", { error });
    }
    this.#onStopped();
    this.#options.onDone();
  }

  /** Keeps the broker from ending because it has no clients, until the returned function is called. */
  hold(): () => void {
    this.#holds += 1;
    clearTimeout(this.#idle);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#holds -= 1;
      this.#awaitIdle();
    };
  }

  #awaitIdle(): void {
    clearTimeout(this.#idle);
    if (this.#clients.size > 0 || this.#holds > 0 || this.#ending !== undefined) return;
    this.#idle = setTimeout(() => void this.stop("idle"), this.#options.idleMs);
    this.#idle.unref();
  }

  /**
   * Takes a connection. One that came in on the socket has to prove whose it is; one end of a pair of streams in this
   * process is `known`.
   */
  accept(socket: Duplex, who: "known" | "unknown" = "unknown"): void {
    socket.on("error", (error) => this.#options.logger.debug("a client's connection failed", { error }));
    const timer = setTimeout(() => socket.destroy(), HELLO_MS);
    const greet = (hello: Hello) => {
      clearTimeout(timer);
      reader.maxBytes = MAX_FRAME_BYTES;
      onFrame = this.#greet(socket, hello);
    };
    let onFrame: (kind: number, payload: Buffer) => void = (kind, payload) => {
      const hello = kind === FRAME.hello ? readHello(payload) : undefined;
      if (hello === undefined) socket.destroy();
      else if (who === "known" || process.platform !== "linux") greet(hello);
      else {
        const proof = newProof();
        onFrame = (answer) => {
          if (answer === FRAME.proof && hasProof(hello.pid, proof, this.#hereFor(hello))) greet(hello);
          else {
            clearTimeout(timer);
            onFrame = () => {};
            refuse(socket, ELSEWHERE);
          }
        };
        socket.write(encodeFrame(FRAME.proof, proof));
      }
    };
    const reader = new FrameReader((kind, payload) => onFrame(kind, payload), MAX_HELLO_BYTES);
    socket.on("data", (chunk: Buffer) => {
      try {
        reader.push(chunk);
      } catch (error) {
        this.#options.logger.warn("a client sent an invalid frame", { error });
        socket.destroy();
      }
    });
    socket.once("end", () => {
      // One that has closed its end before it was greeted will not be.
      if (!this.#clients.has(socket)) socket.destroy();
    });
    socket.once("close", () => {
      clearTimeout(timer);
      if (this.#clients.delete(socket)) this.#awaitIdle();
    });
  }

  /** Returns what handles the client's further frames. */
  #greet(socket: Duplex, hello: Hello): (kind: number, payload: Buffer) => void {
    const refusal = this.#refusalOf(hello);
    if (refusal !== undefined) {
      this.#options.logger.info("client refused", { pid: hello.pid, reason: refusal.reason });
      refuse(socket, refusal);
      return () => {};
    }
    clearTimeout(this.#idle);
    const isControl = hello.kind === "control";
    this.#clients.set(socket, {
      kind: hello.kind,
      pid: hello.pid,
      program: undefined,
      folder: isControl ? undefined : hello.cwd,
      command: isControl ? undefined : hello.args.find((word) => !word.startsWith("-")),
      sinceMs: Date.now(),
    });
    switch (hello.kind) {
      case "control":
        return this.#control(socket, hello.request);
      case "person":
        this.#welcome(socket);
        return runForPerson(socket, hello, this.#options.host);
      case "client":
        return this.#client(socket, hello);
    }
  }

  /** Where a client has to be. Asking about the broker, or to end, creates no files, so any umask will do. */
  #hereFor({ kind }: Hello): { readonly place: string; readonly umask: boolean } {
    return kind === "control" ? this.#hereWithAnyUmask : this.#here;
  }

  #refusalOf(hello: Hello): Refusal | undefined {
    const { version, build } = this.#options;
    if (this.#ending !== undefined) return { reason: "draining", message: "the broker is ending" };
    if (hello.place !== this.#hereFor(hello).place) return ELSEWHERE;
    // A person who asks about the broker does not replace it.
    if (hello.kind !== "control" && isNewer(hello, { version, build })) {
      void this.drain(`version ${hello.version} takes over`, "expected");
      return { reason: "draining", message: "the broker is an older version" };
    }
    if (hello.protocol !== PROTOCOL_VERSION) {
      return { reason: "version", message: `the broker is version ${version}` };
    }
    const { env } = this.#options;
    const other = hello.kind === "control" || env === undefined ? undefined : runtimeDifference(hello.env, env);
    return other === undefined ? undefined : { reason: "environment", message: `the broker has another ${other}` };
  }

  #welcome(socket: Duplex): void {
    const { version, build } = this.#options;
    socket.write(encodeJsonFrame(FRAME.welcome, { version, build, pid: process.pid }));
  }

  #control(socket: Duplex, request: "status" | "stop" | "drain"): () => void {
    this.#welcome(socket);
    const answer = (report: unknown) => endWith(socket, encodeJsonFrame(FRAME.report, report));
    const facts = { pid: process.pid, clients: this.clients.filter(({ kind }) => kind === "client").length };
    switch (request) {
      case "status":
        void this.#options.host
          .status()
          .catch((error: unknown) => ({ error: messageOf(error) }))
          .then(answer);
        break;
      case "stop": {
        const before = this.#onStopped;
        this.#onStopped = () => {
          before();
          answer(facts);
        };
        void this.stop("asked to stop");
        break;
      }
      case "drain":
        answer(facts);
        void this.drain("asked to make room");
    }
    return () => {};
  }

  #client(socket: Duplex, hello: ClientHello): (kind: number, payload: Buffer) => void {
    socket.write(encodeFrame(FRAME.heard));
    const input = new PassThrough();
    const early: { kind: number; payload: Buffer }[] = [];
    let earlyBytes = 0;
    let take: (kind: number, payload: Buffer) => void = (kind, payload) => {
      early.push({ kind, payload });
      earlyBytes += payload.length;
      // What does not fit waits in the socket until the workspace is open.
      if (earlyBytes > MAX_EARLY_BYTES) socket.pause();
    };
    socket.once("end", () => input.end());
    socket.once("close", () => input.end());
    const serve = async () => {
      let admitted: AdmittedClient;
      try {
        admitted = await this.#options.host.admit(hello);
      } catch (error) {
        const reason = isTrunklineError(error, "USAGE") ? "arguments" : "failed";
        refuse(socket, { reason, message: messageOf(error) });
        return;
      }
      this.#welcome(socket);
      const { pid, cwd: folder } = hello;
      this.#options.logger.info("client attached", { pid, folder });
      socket.once("close", () => this.#options.logger.info("client left", { pid }));
      const pass = (payload: Buffer) => {
        if (input.writableEnded) return;
        input.write(payload);
        if (!input.write("\n") && !socket.isPaused()) {
          socket.pause();
          input.once("drain", () => socket.resume());
        }
      };
      const output = new MessageOutput(socket);
      // The relay answers a drain frame once it sends no more requests. Until then its requests are taken, so that none
      // is left unread when the running ones have finished.
      const handover = new AbortController();
      const handOver = () => void (socket.destroyed || socket.write(encodeFrame(FRAME.drain)));
      this.#handovers.set(socket, handOver);
      socket.once("close", () => this.#handovers.delete(socket));
      let unnamed = 5;
      take = (kind, payload) => {
        if (kind === FRAME.drain) whenRead(input, () => handover.abort());
        if (unnamed > 0) unnamed = this.#nameClient(socket, payload) ? 0 : unnamed - 1;
        if (kind === FRAME.message) pass(payload);
        else if (kind === FRAME.repeated) {
          void this.#repeat(admitted, payload, output).then((isRepeatable) => {
            if (isRepeatable) pass(payload);
            else admitted.onLost?.(payload.toString("utf8"), this.#clients.get(socket)?.program);
          });
        }
      };
      if (earlyBytes > MAX_EARLY_BYTES) socket.resume();
      for (const { kind, payload } of early.splice(0)) take(kind, payload);
      // It may have begun while the client was admitted.
      if (this.#ending !== undefined) handOver();
      await admitted.serve({
        input,
        output,
        handOver,
        handover: handover.signal,
        note: (text) => void (socket.destroyed || socket.write(encodeFrame(FRAME.stderr, text))),
      });
      if (socket.destroyed) return;
      if (!handover.signal.aborted) socket.write(encodeFrame(FRAME.exit, "0"));
      endWith(socket);
    };
    void serve().catch((error: unknown) => {
      this.#options.logger.error("serving a client failed", { error });
      socket.destroy();
    });
    return (kind, payload) => take(kind, payload);
  }

  /** Learns from the handshake which program a client is. Returns whether the message said so. */
  #nameClient(socket: Duplex, message: Buffer): boolean {
    const client = this.#clients.get(socket);
    const quoted = CLIENT_NAME.exec(message.toString("utf8", 0, 4096))?.[1];
    const name = quoted === undefined ? undefined : parseJson(quoted);
    if (client === undefined || typeof name !== "string") return false;
    this.#clients.set(socket, { ...client, program: name.slice(0, 100) });
    return true;
  }

  /** Answers a request that must not run twice. Returns whether it can be run again. */
  async #repeat(admitted: AdmittedClient, payload: Buffer, output: MessageOutput): Promise<boolean> {
    const text = payload.toString("utf8");
    if (await admitted.isRepeatable(text).catch(() => false)) return true;
    const message = parseJson(text);
    // What is no request is refused where all messages are read.
    if (typeof message !== "object" || message === null) return true;
    for (const each of Array.isArray(message) ? message : [message]) {
      const id: unknown = (each as { id?: unknown } | null)?.id;
      if (id !== undefined) output.write(`${lostRequest(id, { message: MAY_HAVE_RUN, mayHaveRun: true })}\n`);
    }
    return false;
  }
}

function refuse(socket: Duplex, refusal: Refusal): void {
  endWith(socket, encodeJsonFrame(FRAME.refused, refusal));
}

/** Calls back once everything that was written to a stream has been read, or the stream is destroyed. */
function whenRead(stream: PassThrough, onRead: () => void): void {
  const isRead = stream.readableLength + stream.writableLength === 0 || stream.destroyed;
  if (isRead) onRead();
  else setTimeout(() => whenRead(stream, onRead), READ_CHECK_MS);
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}
