// Memory of gateways that have listed their tools and have not been called yet.
import { setTimeout as delay } from "node:timers/promises";
import { gatewayMB } from "./processes.js";

export const IDLE_MS = 5_000;

/** Returns the memory of each after it has been idle. @param {readonly import("./gateways.js").Running[]} running */
export async function idleMemory(running) {
  await delay(IDLE_MS);
  return running.map(({ gateway, started }) => ({ ...gateway, figure: gatewayMB(started.pid) }));
}
