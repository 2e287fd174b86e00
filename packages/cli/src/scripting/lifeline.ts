// Decides what keeps the process alive. The servers of a script's hub are processes and sockets, which would keep Node
// from ever ending; a running call must keep it alive. So everything the hub opens is unreferenced, and each call holds
// a timer: the process ends when the script's own work is done, like any Node program.
import { AsyncLocalStorage } from "node:async_hooks";
import type { ChildProcess } from "node:child_process";
import { subscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { isRecord } from "@trunkline/core";

const opening = new AsyncLocalStorage<true>();
/** Must stay below Node's timer limit. The interval itself does not matter: the timer only keeps the process alive. */
const HOUR_MS = 3_600_000;

let holds = 0;
let timer: NodeJS.Timeout | undefined;
let isListening = false;

/** Runs work the process must wait for. */
export async function holding<T>(work: () => Promise<T>): Promise<T> {
  if (holds++ === 0) timer = setInterval(() => {}, HOUR_MS);
  try {
    return await work();
  } finally {
    if (--holds === 0) clearInterval(timer);
  }
}

/** Runs work whose processes and sockets must not keep this process alive, now or later. */
export async function unreferenced<T>(work: () => Promise<T>): Promise<T> {
  listen();
  return await opening.run(true, work);
}

/** Wraps an object's methods: the process waits for running calls, but not for the processes and sockets they open. */
export function held<T extends object>(target: T): T {
  listen();
  return new Proxy(target, {
    get(_target, key) {
      const member: unknown = Reflect.get(target, key, target);
      if (typeof member !== "function") return member;
      return (...args: unknown[]) => {
        // Private fields are reachable only through the object itself.
        const result: unknown = opening.run(true, () => Reflect.apply(member, target, args));
        // The caller handles the error.
        if (result instanceof Promise) holding(() => result).catch(() => {});
        return result;
      };
    },
  });
}

function listen(): void {
  if (isListening) return;
  isListening = true;
  subscribe("child_process", (message) => {
    if (opening.getStore() === undefined || !isRecord(message)) return;
    // The documented message of this channel; the pipes come right after it.
    const child = message.process as ChildProcess;
    setImmediate(() => {
      child.unref();
      for (const pipe of [child.stdin, child.stdout, child.stderr]) (pipe as Socket | null)?.unref?.();
    });
  });
  subscribe("undici:client:connected", (message) => {
    if (opening.getStore() === undefined || !isRecord(message)) return;
    const socket = message.socket as Socket;
    socket.unref();
    // fetch references a socket again for each request, and an event stream is a request that does not end.
    socket.ref = () => socket;
  });
}
