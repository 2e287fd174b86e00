import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import type { Store } from "../../src/index.js";

const CLIENT = fileURLToPath(new URL("../programs/store-client.js", import.meta.url));

type Method = Extract<
  keyof Store,
  | "add"
  | "delete"
  | "diff"
  | "gc"
  | "get"
  | "graph"
  | "grep"
  | "indexed"
  | "list"
  | "listSnapshots"
  | "restore"
  | "search"
  | "snapshot"
  | "status"
  | "undelete"
  | "update"
  | "verify"
>;

/** The error of a call in another process. */
export class CallError extends Error {
  readonly code: string | undefined;

  constructor({ code, message }: { code?: string; message: string }) {
    super(message);
    this.code = code;
  }
}

interface Answer {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: { code?: string; message: string };
}

/** A process that has the store open. */
export class StoreProcess {
  readonly name: string;
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  readonly #exited: Promise<unknown>;
  #last = 0;

  private constructor(name: string, child: ChildProcess) {
    this.name = name;
    this.#child = child;
    this.#exited = once(child, "exit").then(() => {
      for (const { reject } of this.#waiting.values()) reject(new CallError({ code: "KILLED", message: "It exited." }));
      this.#waiting.clear();
    });
    child.on("message", ({ id, result, error }: Answer) => {
      const call = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) call?.resolve(result);
      else call?.reject(new CallError(error));
    });
  }

  /** Starts a process and waits until the store is open. It ends with the test. */
  static async start(
    name: string,
    { store, cwd, lazy }: { store: string; cwd: string; lazy: boolean },
  ): Promise<StoreProcess> {
    const child = fork(CLIENT, [store, cwd, lazy ? "lazy" : "eager"], { execArgv: [] });
    const started = new StoreProcess(name, child);
    onTestFinished(() => started.kill());
    await new Promise((resolve, reject) => started.#waiting.set(0, { resolve, reject }));
    return started;
  }

  async call<M extends Method>(
    method: M,
    params: Parameters<Store[M]>[0] = {} as never,
  ): Promise<Awaited<ReturnType<Store[M]>>> {
    const id = ++this.#last;
    const answer = new Promise<unknown>((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    this.#child.send({ id, method, params });
    // The process answers with the result of this method.
    return (await answer) as Awaited<ReturnType<Store[M]>>;
  }

  /** Closes the store and waits for the process to exit. */
  async close(): Promise<void> {
    if (this.#child.connected) this.#child.disconnect();
    await this.#exited;
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#exited;
  }
}
