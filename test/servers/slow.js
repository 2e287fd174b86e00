// slow: answers late, reports progress and stops when told to. Tools: wait {ms, progress_every_ms?} waits, with
// progress notifications if the call has a progress token (every 100 ms by default), and writes "cancelled <id>" to
// stderr when the call is cancelled; cancelled_count returns the number of cancelled calls; burst {count} reports
// progress `count` times and answers at once. Options: --start-delay-ms N: nothing is answered until N ms after the
// first message of the process. --start-file F: nothing is answered until the file F exists. Transports: stdio, --http,
// --sse.

import { existsSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { readOptions, wholeNumber } from "./options.js";
import { createToolServer, serve } from "./sdk-serve.js";
import { countArgument, text } from "./tool.js";

const options = readOptions({
  "start-delay-ms": { type: "string", default: "0" },
  "start-file": { type: "string" },
});
const startDelayMs = wholeNumber(options["start-delay-ms"], "--start-delay-ms");

let cancelledCount = 0;

/** @type {import("./sdk-serve.js").SdkTool[]} */
const tools = [
  {
    name: "wait",
    description: "Waits, then answers.",
    inputSchema: {
      type: "object",
      properties: {
        ms: { type: "integer", description: "How long to wait." },
        progress_every_ms: {
          type: "integer",
          description: "The time between two progress notifications; 100 by default.",
        },
      },
      required: ["ms"],
    },
    run: async (args, context) => {
      const totalMs = countArgument(args, "ms");
      const stepMs = Math.max(1, countArgument(args, "progress_every_ms", 100));
      const { id, signal } = context.mcpReq;
      try {
        await waitWithProgress(context, totalMs, stepMs);
      } catch (error) {
        if (!signal.aborted) throw error;
        cancelledCount += 1;
        console.error(`cancelled ${id}`);
        throw error;
      }
      return text(`waited ${totalMs} ms`);
    },
  },
  {
    name: "burst",
    description: "Reports progress several times, then answers at once.",
    inputSchema: { type: "object", properties: { count: { type: "integer" } }, required: ["count"] },
    run: async (args, { mcpReq }) => {
      const total = countArgument(args, "count");
      const progressToken = mcpReq._meta?.progressToken;
      const sent = Array.from({ length: progressToken === undefined ? 0 : total }, (_, at) =>
        mcpReq.notify({
          method: "notifications/progress",
          params: { progressToken: progressToken ?? 0, progress: at + 1, total },
        }),
      );
      await Promise.all(sent);
      return text("done");
    },
  },
  {
    name: "cancelled_count",
    description: "Tells how many calls were cancelled so far.",
    inputSchema: { type: "object" },
    run: () => text(String(cancelledCount)),
  },
];

/**
 * @param {import("./sdk-serve.js").ServerContext} context
 * @param {number} totalMs
 * @param {number} stepMs
 */
async function waitWithProgress({ mcpReq }, totalMs, stepMs) {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return await delay(totalMs, undefined, { signal: mcpReq.signal });
  for (let waitedMs = 0; waitedMs < totalMs; ) {
    const pauseMs = Math.min(stepMs, totalMs - waitedMs);
    await delay(pauseMs, undefined, { signal: mcpReq.signal });
    waitedMs += pauseMs;
    await mcpReq.notify({
      method: "notifications/progress",
      params: { progressToken, progress: waitedMs, total: totalMs },
    });
  }
}

/** @param {string | undefined} file */
async function fileAppears(file) {
  while (file !== undefined && !existsSync(file)) await delay(20);
}

/** @type {Promise<unknown> | undefined} */
let started;

await serve(async () => {
  started ??= Promise.all([delay(startDelayMs), fileAppears(options["start-file"])]);
  await started;
  return createToolServer("slow", tools);
}, options);
