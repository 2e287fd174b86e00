// What a large answer costs everyone else: small calls to another server, one after another, alone and while the gateway
// works on an answer of 30 MB that consists of millions of small values. Options: --bytes 30000000, --calls 200.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { silentLogger } from "@trunkline/core";
import { createService } from "../../packages/gateway/dist/index.js";
import { asContentStore, openStore, storeOperations } from "../../packages/store/dist/index.js";
import { benchExchange, hubOn, stdioServer } from "../in-process.js";
import { median, report, timeMs } from "../report.js";

const { values } = parseArgs({
  options: { bytes: { type: "string", default: "30000000" }, calls: { type: "string", default: "200" } },
});
const bytes = Number(values.bytes);
const calls = Number(values.calls);
const AIM = 3;

const folder = mkdtempSync(join(tmpdir(), "trunkline-bench-"));
const hub = await hubOn([stdioServer("hostile", "hostile"), stdioServer("hello", "hello")]);
const store = asContentStore(await openStore({ path: join(folder, "store"), cwd: folder }));
const service = createService({
  info: { name: "bench", version: "0" },
  backends: { hub: async () => hub, store: async () => store, storeOperations },
  logger: silentLogger,
  workspace: folder,
});

const exchange = benchExchange();
const small = () => hub.callTool("hello", "hello", { name: "Ada" });
const large = () =>
  service.handle(
    "tools/call",
    { name: "query", arguments: { steps: [{ op: "hostile.list", params: { bytes, as: "structured" } }] } },
    exchange,
  );

/** Measures small calls until the work is done, or a number of them. @param {Promise<unknown>} [work] */
async function timesDuring(work) {
  /** @type {number[]} */
  const times = [];
  let isDone = false;
  void work?.finally(() => {
    isDone = true;
  });
  while (work === undefined ? times.length < calls : !isDone) times.push(await timeMs(small));
  return times;
}

try {
  await timesDuring();
  const alone = await timesDuring();
  const started = performance.now();
  const answer = large();
  const beside = await timesDuring(answer);
  await answer;
  const tookMs = performance.now() - started;
  const worst = Math.max(...beside);
  report(
    "server-large-results",
    [
      { what: "a small call, alone", figure: median(alone), unit: "ms" },
      {
        what: "a small call beside a large answer",
        figure: median(beside),
        unit: "ms",
        beside: "a small call, alone",
        ratio: median(beside) / median(alone),
        aim: AIM,
      },
      {
        what: "the slowest small call beside a large answer",
        figure: worst,
        unit: "ms",
        beside: "the large answer itself",
        ratio: worst / tookMs,
        aim: 0.5,
      },
      { what: "the large answer", figure: tookMs, unit: "ms" },
    ],
    {
      title: "Small calls beside a large answer",
      workload: `Small calls to one server while another answers with ${bytes / 1e6} MB of empty objects, which is cut, stored and indexed.`,
    },
  );
} finally {
  await service.close();
  await hub.close();
  await store[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
}
