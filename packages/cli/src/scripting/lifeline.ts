// What keeps the process alive, and what does not. The servers of a script's hub are processes and sockets, which would
// keep Node from ever ending; a call that is under way must. So what the hub opens is unreferenced, and each call holds a
// timer: the process ends when the script's own work has, like any program of Node.
import { AsyncLocalStorage } from "node:async_hooks";
import type { ChildProcess } from "node:child_process";
import { subscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { isRecord } from "@trunkline/core";

const opening = new AsyncLocalStorage<true>();
/** Longer than any timer may be is an error; this is as good as for ever. */
const HOUR_MS = 3_600_000;

let holds = 0;
let timer: NodeJS.Timeout | undefined;
let isListening = false;

/** Runs work that the process has to wait for. */
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

/** The same object; what its methods do is both: waited for while it lasts, and unreferenced. */
export function held<T extends object>(target: T): T {
  listen();
  return new Proxy(target, {
    get(_target, key) {
      const member: unknown = Reflect.get(target, key, target);
      if (typeof member !== "function") return member;
      return (...args: unknown[]) => {
        // Private fields are reached through the object itself only.
        const result: unknown = opening.run(true, () => Reflect.apply(member, target, args));
        // How it ends is for the caller to see.
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
    // The channel's documented message; the pipes come right after it.
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
    // fetch references a socket again for each request, and a stream of events is a request that does not end.
    socket.ref = () => socket;
  });
}
