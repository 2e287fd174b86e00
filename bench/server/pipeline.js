// A pipeline of ten upstream calls in one request, compared with the same ten calls made directly on the same
// connection, one after another, in the same run: with a tool that answers immediately, and one that takes 5 ms.
// Options: --rounds 100.
import { parseArgs } from "node:util";
import { silentLogger } from "@trunkline/core";
import { createService } from "../../packages/gateway/dist/index.js";
import { storeOperations } from "../../packages/store/dist/contract/index.js";
import { benchExchange, hubOn, stdioServer } from "../in-process.js";
import { median, report, timeMs } from "../report.js";

const { values } = parseArgs({ options: { rounds: { type: "string", default: "100" } } });
const rounds = Number(values.rounds);
const STEPS = 10;
const AIM = 1.3;

const hub = await hubOn([stdioServer("github", "office", ["--as", "github"])]);
const service = createService({
  info: { name: "bench", version: "0" },
  backends: { hub: async () => hub, store: () => Promise.reject(new Error("no store is needed")), storeOperations },
  logger: silentLogger,
  workspace: process.cwd(),
});

const exchange = benchExchange();

/** @typedef {{ what: string, op: string, params: (index: number) => object, direct: object }} Case */

/** @type {Case[]} */
const cases = [
  {
    what: "a tool that answers immediately",
    op: "search_issues",
    params: (index) => ({
      q: index === 0 ? "timeout" : `{{$prev.items[0].number}} of {{$steps[${index - 1}].total_count}}`,
    }),
    direct: { q: "1 of 3" },
  },
  {
    what: "a tool that takes 5 ms",
    op: "wait",
    params: (index) => ({ ms: index === 0 ? 5 : "$prev.waited" }),
    direct: { ms: 5 },
  },
];

/** @param {Case} measured @returns {Promise<import("../report.js").Row[]>} */
async function measure({ what, op, params, direct }) {
  const steps = Array.from({ length: STEPS }, (_, index) => ({ op: `github.${op}`, params: params(index) }));
  const pipeline = async () => {
    const result = await service.handle("tools/call", { name: "query", arguments: { steps } }, exchange);
    const answer = /** @type {{ completedSteps?: number }} */ (result.structuredContent);
    if (answer.completedSteps !== STEPS) throw new Error(JSON.stringify(answer));
  };
  const calls = async () => {
    for (let step = 0; step < STEPS; step++) await hub.callTool("github", op, { ...direct });
  };
  /** @type {number[]} */
  const pipelines = [];
  /** @type {number[]} */
  const directs = [];
  for (let round = -10; round < rounds; round++) {
    // Alternates the order, so that neither benefits from the other's warm-up.
    const [first, second] = round % 2 === 0 ? [pipeline, calls] : [calls, pipeline];
    const times = [await timeMs(first), await timeMs(second)];
    if (round < 0) continue;
    if (first === calls) times.reverse();
    pipelines.push(times[0] ?? 0);
    directs.push(times[1] ?? 0);
  }
  return [
    { what: `${STEPS} direct calls to ${what}`, figure: median(directs), unit: "ms" },
    {
      what: `a pipeline of ${STEPS} such calls`,
      figure: median(pipelines),
      unit: "ms",
      beside: "the calls made directly",
      ratio: median(pipelines) / median(directs),
      aim: AIM,
    },
  ];
}

try {
  /** @type {import("../report.js").Row[]} */
  const rows = [];
  for (const each of cases) rows.push(...(await measure(each)));
  report("server-pipeline", rows, {
    title: "A pipeline compared with direct calls",
    workload: `${STEPS} steps in one request compared with the same ${STEPS} calls one after another, in the same process, medians of ${rounds}.`,
  });
} finally {
  await service.close();
  await hub.close();
}
