// Installs a script's hooks, once per process.
import * as nodeModule from "node:module";
import { MessageChannel, receiveMessageOnPort } from "node:worker_threads";
import { createHooks, type HookData, type HookMessage } from "./module-hooks.js";

export interface LoadedModules {
  /** Returns the script's files in load order, without packages. */
  urls(): readonly string[];
}

/** In-thread hooks. The pinned types do not include them because they came with Node 22.15. */
interface WithRegisterHooks {
  registerHooks?(hooks: ReturnType<typeof createHooks>): unknown;
}

export function installHooks({ packageUrl, entry }: Pick<HookData, "packageUrl" | "entry">): LoadedModules {
  const urls: string[] = [];
  const hear = (message: HookMessage) => {
    if (message.type === "loaded") urls.push(message.url);
    else process.setSourceMapsEnabled(true);
  };
  const { registerHooks } = nodeModule as WithRegisterHooks;
  if (registerHooks !== undefined) {
    registerHooks(createHooks({ packageUrl, entry }, hear));
    return { urls: () => urls };
  }
  const { port1, port2 } = new MessageChannel();
  const mapsOn = new Int32Array(new SharedArrayBuffer(4));
  const take = (message: HookMessage) => {
    hear(message);
    if (message.type !== "maps") return;
    Atomics.store(mapsOn, 0, 1);
    Atomics.notify(mapsOn, 0);
  };
  port1.on("message", take);
  port1.unref();
  nodeModule.register(new URL("./hooks-thread.js", import.meta.url), {
    data: { packageUrl, entry, port: port2, mapsOn } satisfies HookData,
    transferList: [port2],
  });
  return {
    urls: () => {
      for (let next = receiveMessageOnPort(port1); next !== undefined; next = receiveMessageOnPort(port1))
        take(next.message);
      return urls;
    },
  };
}
