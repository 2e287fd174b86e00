// How soon `serve` answers, and whether a hanging call delays another client.
import { upstream } from "../gateways/gateways.js";
import { median, timeMs } from "../report.js";
import { entry, quantile } from "../server/product.js";
import { Place } from "./place.js";

/** From starting a program to the answer to its first tool call. @param {() => import("./window.js").Window} start @param {string} tool */
export async function firstAnswerMs(start, tool) {
  const started = performance.now();
  const window = start();
  await window.initialize();
  const text = await window.call(tool, { text: "x" });
  const ms = performance.now() - started;
  if (text !== "x") throw new Error(`not an echo: ${text}`);
  await window.close();
  return ms;
}

/** @param {{ rounds: number }} options */
export async function firstAnswers({ rounds }) {
  const place = new Place({ upstream: upstream() });
  /** @type {{ empty: number[], broker: number[], alone: number[] }} */
  const times = { empty: [], broker: [], alone: [] };
  try {
    // Keeps the broker and its server warm, as another window does.
    const other = await place.open();
    await other.call("mcp__upstream__echo", { text: "x" });
    for (let round = 0; round <= rounds; round += 1) {
      const emptyMs = await timeMs(() => place.run(["-e", "0"]));
      const brokerMs = await firstAnswerMs(() => place.start(), "mcp__upstream__echo");
      const aloneMs = await firstAnswerMs(() => place.start({ isAlone: true }), "mcp__upstream__echo");
      // The first round warms up the file cache.
      if (round === 0) continue;
      times.empty.push(emptyMs);
      times.broker.push(brokerMs);
      times.alone.push(aloneMs);
    }
  } finally {
    await place.remove();
  }
  return { emptyMs: median(times.empty), brokerMs: median(times.broker), aloneMs: median(times.alone) };
}

/** p95 of one client's calls, in blocks with and without a hanging call of another client. @param {{ blocks: number, calls: number }} options */
export async function besideHanging({ blocks, calls }) {
  const place = new Place({ slow: entry("slow") });
  /** @type {{ without: number[], beside: number[] }} */
  const times = { without: [], beside: [] };
  try {
    const [client, other] = await Promise.all([place.open(), place.open()]);
    const block = async (/** @type {number[] | undefined} */ into) => {
      for (let call = 0; call < calls; call += 1) {
        const ms = await timeMs(() => client.call("mcp__slow__cancelled_count", {}));
        into?.push(ms);
      }
    };
    for (let warm = 0; warm < 3; warm += 1) await block(undefined);
    for (let at = 0; at < blocks; at += 1) {
      await block(times.without);
      const requestId = other.startCall("mcp__slow__wait", { ms: 600_000 });
      await other.request("ping");
      await block(times.beside);
      other.notify("notifications/cancelled", { requestId });
      await other.request("ping");
    }
  } finally {
    await place.remove();
  }
  return { withoutMs: quantile(times.without, 0.95), besideMs: quantile(times.beside, 0.95) };
}
