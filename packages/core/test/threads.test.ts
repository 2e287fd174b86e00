import { MessageChannel } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import { type ErrorCode, TrunklineError } from "../src/index.js";
import {
  type Call,
  endThread,
  type Handlers,
  makeAbortFlags,
  RpcClient,
  serveRpc,
  startThread,
  Transferred,
} from "../src/threads/index.js";

/** Two ends of a wire. They close with the test. */
class Ends implements Disposable {
  readonly #channel = new MessageChannel();
  readonly rpc: RpcClient;

  constructor(handlers: Handlers, flags?: SharedArrayBuffer) {
    const setup = { owner: "store", flags };
    serveRpc(this.#channel.port2, handlers, setup);
    this.rpc = new RpcClient(this.#channel.port1, setup);
  }

  [Symbol.dispose](): void {
    this.#channel.port1.close();
  }
}

const never = (_params: never, { signal }: Call) =>
  new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason));
  });

describe("a call to a thread", () => {
  it("returns the result of its handler, and reports progress first", async () => {
    using ends = new Ends({
      double: (number: number, { progress }: Call) => {
        progress({ progress: 1 });
        return 2 * number;
      },
    });
    const seen: unknown[] = [];
    expect(await ends.rpc.call("double", 21, { onProgress: (progress) => seen.push(progress) })).toBe(42);
    expect(seen).toEqual([{ progress: 1 }]);
  });

  it("hands over the memory of its parameters and its result", async () => {
    const sizes: number[] = [];
    using ends = new Ends({
      turn: (bytes: Uint8Array<ArrayBuffer>) => {
        queueMicrotask(() => setImmediate(() => sizes.push(bytes.length)));
        return new Transferred(bytes, [bytes.buffer]);
      },
    });
    const bytes = new Uint8Array(1000);
    const answer = (await ends.rpc.call("turn", bytes, { transfer: [bytes.buffer] })) as Uint8Array;
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    expect([bytes.length, ...sizes, answer.length]).toEqual([0, 0, 1000]);
  });

  it.each<[string, unknown, object]>([
    [
      "an error of ours, with all that it says",
      new TrunklineError("BUSY", "later", { hint: "Wait.", data: { n: 1 }, retryable: false }),
      { code: "BUSY", message: "later", hint: "Wait.", data: { n: 1 }, retryable: false },
    ],
    [
      "a file that is missing",
      Object.assign(new Error("ENOENT"), { code: "ENOENT", syscall: "open", path: "/x" }),
      { code: "NOT_FOUND", message: "Cannot open /x: it does not exist.", data: { system: "ENOENT" } },
    ],
    ["a defect", new TypeError("oops"), { code: "INTERNAL" satisfies ErrorCode, message: "oops" }],
  ])("rejects with %s", async (_name, thrown, expected) => {
    using ends = new Ends({
      fail: () => {
        throw thrown;
      },
    });
    const error = await ends.rpc.call("fail", {}).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(TrunklineError);
    expect(error).toMatchObject(expected);
  });

  it("rejects if the other end has no such method", async () => {
    using ends = new Ends({});
    await expect(ends.rpc.call("toString", {})).rejects.toMatchObject({ code: "INTERNAL" });
  });

  it.each([undefined, makeAbortFlags()])("stops on abort, and rejects at once (%s)", async (flags) => {
    let stopped: boolean | undefined;
    const stop = new AbortController();
    using ends = new Ends(
      {
        never: async (params: never, call: Call) => {
          stop.abort();
          await never(params, call).catch(() => {});
          stopped = isStopped(call);
        },
      },
      flags,
    );
    const call = ends.rpc.call("never", {}, { signal: stop.signal });
    await expect(call).rejects.toMatchObject({ code: "ABORTED", message: "The store's never was cancelled." });
    await expect.poll(() => stopped, { timeout: 10_000 }).toBe(true);
    await expect.poll(() => ends.rpc.pending, { timeout: 10_000 }).toBe(0);
  });

  it("rejects with all others when the wire breaks, as does every later one", async () => {
    using ends = new Ends({ never });
    const busy: boolean[] = [];
    ends.rpc.onBusy = (isBusy) => busy.push(isBusy);
    const calls = [ends.rpc.call("never", 1), ends.rpc.call("never", 2)];
    ends.rpc.break(new TrunklineError("CLOSED", "closed"));
    calls.push(ends.rpc.call("never", 3));
    for (const call of calls) await expect(call).rejects.toMatchObject({ code: "CLOSED" });
    expect(busy).toEqual([true, false]);
  });

  it("can have as many others beside it as there are flags", async () => {
    using ends = new Ends({ never }, makeAbortFlags());
    const calls = Array.from({ length: 4097 }, () => ends.rpc.call("never", {}));
    await expect(calls.pop()).rejects.toMatchObject({ code: "INTERNAL", retryable: true });
    ends.rpc.break(new TrunklineError("CLOSED", "closed"));
    await Promise.allSettled(calls);
  });
});

describe("a notification", () => {
  it("calls a handler, in order with the calls, without an answer", async () => {
    const seen: unknown[] = [];
    using ends = new Ends({ note: (params: unknown) => seen.push(params), ask: () => seen.length });
    ends.rpc.notify("note", 1);
    ends.rpc.notify("unknown", 2);
    expect(await ends.rpc.call("ask", {})).toBe(1);
    expect(ends.rpc.pending).toBe(0);
  });
});

describe("a thread", () => {
  const entry = new URL(
    `data:text/javascript,${encodeURIComponent(`
      import { parentPort } from "node:worker_threads";
      parentPort.on("message", ({ id, method }) => {
        if (method === "crash") process.exit(3);
        if (method === "end") parentPort.close();
        if (method === "echo") parentPort.postMessage({ id, result: "here" });
      });`)}`,
  );

  it("rejects its calls when it dies, is lost once, and does not become idle", async () => {
    const lost: unknown[] = [];
    let ended = 0;
    const thread = startThread(entry, {
      owner: "test",
      name: "test",
      idle: { ms: 1, end: () => ended++ },
      onLost: (error) => {
        lost.push(error);
        thread.rpc.break(new TrunklineError("INTERNAL", "gone"));
      },
    });
    await expect(thread.rpc.call("crash", {})).rejects.toMatchObject({ message: "gone" });
    await thread.ended;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect([lost.length, ended]).toEqual([1, 0]);
  });

  it("is idle after its last call, and ends when told", async () => {
    let idle: () => void = () => {};
    const isIdle = new Promise<void>((resolve) => {
      idle = resolve;
    });
    const thread = startThread(entry, { owner: "test", name: "test", idle: { ms: 1, end: idle }, onLost: () => {} });
    expect(await thread.rpc.call("echo", {})).toBe("here");
    await isIdle;
    await endThread(thread);
    await thread.ended;
  });
});

function isStopped(call: Call): boolean {
  try {
    call.check();
    return false;
  } catch {
    return true;
  }
}
