// Connects to the user's broker, and starts one if there is none.
import { closeSync } from "node:fs";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { openLog } from "../wire/broker-log.js";
import {
  type BrokerPlace,
  BrokerSilentError,
  BrokerUnavailableError,
  isOwnSocket,
  prepareFolder,
} from "../wire/broker-place.js";
import { takeName } from "../wire/client-proof.js";
import { encodeFrame, encodeJsonFrame, FRAME, FrameReader } from "../wire/frames.js";
import type { Hello, Refusal, Welcome } from "../wire/hello.js";
import { takeStartLock } from "../wire/start-lock.js";
import { isListening, tryConnect } from "../wire/try-connect.js";

/** How to start a broker. */
export interface BrokerLauncher {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** How long a new broker may take to listen. */
const START_MS = 10_000;
const POLL_MS = 15;
/**
 * The system accepts connections even for a process that is stopped or hangs. A broker that works reads a hello at once,
 * and says so; what follows takes as long as it takes. One that has ended closes the socket.
 */
const HELLO_MS = 5_000;

/** What connecting fails with if no process listens, or if the one that did is killed at this moment. */
const GONE = new Set(["ECONNREFUSED", "ENOENT", "ECONNRESET", "EPIPE"]);

type OnFrame = (kind: number, payload: Buffer) => void;

/** An accepted connection. Frames wait until {@link onFrame} is set. */
export class BrokerLink {
  readonly socket: Duplex;
  readonly welcome: Welcome;
  readonly #early: [number, Buffer][] = [];
  #onFrame: OnFrame = (kind, payload) => void this.#early.push([kind, payload]);

  constructor(socket: Duplex, welcome: Welcome) {
    this.socket = socket;
    this.welcome = welcome;
  }

  set onFrame(onFrame: OnFrame) {
    this.#onFrame = onFrame;
    for (const [kind, payload] of this.#early.splice(0)) onFrame(kind, payload);
  }

  receive(kind: number, payload: Buffer): void {
    this.#onFrame(kind, payload);
  }
}

/** The broker does not take this client. */
export class RefusedError extends Error {
  readonly reason: Refusal["reason"];

  constructor({ reason, message }: Refusal) {
    super(message);
    this.reason = reason;
  }
}

/** Connects to a running broker; undefined if there is none. */
export async function connectBroker(place: BrokerPlace, hello: Hello): Promise<BrokerLink | undefined> {
  const socket = await openSocket(place.socket);
  return socket === undefined ? undefined : await greet(socket, hello);
}

/**
 * Connects to the broker, starting it if needed. An older one is asked to make room first. Rejects with
 * {@link BrokerUnavailableError} or {@link RefusedError}.
 */
export async function reachBroker(place: BrokerPlace, hello: Hello, launcher: BrokerLauncher): Promise<BrokerLink> {
  const endMs = nowMs() + START_MS;
  for (;;) {
    try {
      const link = await connectBroker(place, hello);
      if (link !== undefined) return link;
    } catch (error) {
      const isLeaving = error instanceof RefusedError && error.reason === "draining";
      if (!isLeaving || nowMs() > endMs) throw error;
    }
    const release = takeLock(place);
    if (release !== undefined) {
      try {
        // It may have started while we took the lock.
        if (!(await isListening(place.socket))) await start(place, launcher, endMs);
      } finally {
        release();
      }
    } else await pause(POLL_MS);
    if (nowMs() > endMs) throw new BrokerUnavailableError("it did not start in time");
  }
}

/** Takes the start lock; undefined if another process holds it. */
function takeLock(place: BrokerPlace): (() => void) | undefined {
  // The folder may have been removed since the place was found.
  prepareFolder(place.folder);
  try {
    return takeStartLock(place.lock);
  } catch (error) {
    throw unwritable(place.lock, error);
  }
}

function unwritable(path: string, error: unknown): BrokerUnavailableError {
  const { code, message } = error as NodeJS.ErrnoException;
  return new BrokerUnavailableError(`${path} cannot be written: ${code ?? message}`);
}

/** Connects to a socket; undefined if no process listens there. Waits while too many others are connecting. */
async function openSocket(path: string): Promise<Socket | undefined> {
  const endMs = nowMs() + HELLO_MS;
  for (;;) {
    if (!isOwnSocket(path)) return undefined;
    const outcome = await tryConnect(path);
    if (typeof outcome !== "string") return outcome;
    if (GONE.has(outcome)) return undefined;
    if (outcome !== "EAGAIN") throw new BrokerUnavailableError(`its socket cannot be opened: ${outcome}`);
    if (nowMs() > endMs) throw new BrokerSilentError();
    await pause(POLL_MS);
  }
}

/** Says hello on a new connection; undefined if it was closed. */
export async function greet(socket: Duplex, hello: Hello): Promise<BrokerLink | undefined> {
  return await new Promise((resolve, reject) => {
    let link: BrokerLink | undefined;
    let restoreName = () => {};
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new BrokerSilentError());
    }, HELLO_MS);
    const reader = new FrameReader((kind, payload) => {
      if (link !== undefined) {
        link.receive(kind, payload);
        return;
      }
      if (kind === FRAME.proof) {
        void takeName(payload.toString("latin1")).then((giveBack) => {
          restoreName = () => {
            restoreName = () => {};
            giveBack();
          };
          if (socket.destroyed) onGone();
          else socket.write(encodeFrame(FRAME.proof));
        });
        return;
      }
      restoreName();
      clearTimeout(timer);
      if (kind !== FRAME.welcome && kind !== FRAME.refused) return;
      const value: unknown = JSON.parse(payload.toString("utf8"));
      if (kind === FRAME.refused) {
        socket.destroy();
        reject(new RefusedError(value as Refusal));
        return;
      }
      link = new BrokerLink(socket, value as Welcome);
      socket.removeListener("close", onGone);
      resolve(link);
    });
    // It ended while we were connecting: as if there were none.
    const onGone = () => {
      restoreName();
      clearTimeout(timer);
      resolve(undefined);
    };
    socket.once("close", onGone).on("error", onGone);
    socket.on("data", (chunk: Buffer) => reader.push(chunk));
    socket.write(encodeJsonFrame(FRAME.hello, hello));
  });
}

async function start(place: BrokerPlace, { command, args, env }: BrokerLauncher, endMs: number): Promise<void> {
  // Loaded only here: most relays find a broker.
  const { spawn } = process.getBuiltinModule("node:child_process");
  let log: number;
  try {
    log = openLog(place.log);
  } catch (error) {
    throw unwritable(place.log, error);
  }
  let failure: string | undefined;
  let hasEnded = false;
  const child = spawn(command, [...args], {
    cwd: place.folder,
    env: { ...env },
    detached: true,
    stdio: ["ignore", log, log],
    windowsHide: true,
  });
  closeSync(log);
  child.once("error", (error) => {
    failure = error.message;
  });
  child.once("exit", (code, signal) => {
    // It was killed, or leaves the place to another broker that has started at the same time: try again.
    if (signal !== null || code === 0) hasEnded = true;
    else failure = `it ended with exit code ${code}; see ${place.log}`;
  });
  child.unref();
  while (nowMs() < endMs) {
    if (await isListening(place.socket)) return;
    if (failure !== undefined) throw new BrokerUnavailableError(failure);
    if (hasEnded) return;
    await pause(POLL_MS);
  }
}

/** `performance` would have to be loaded first, which takes longer than all that is timed here. */
function nowMs(): number {
  return process.uptime() * 1_000;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
