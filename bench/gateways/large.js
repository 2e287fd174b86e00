// A 5 MB result through each gateway: how long it takes, whether it arrives intact, and how many tokens of it reach the
// model. With the composite surface the beginning arrives, and the full result is fetched from the store.
import { countTokens } from "../../packages/gateway/dist/budget/tokens.js";
import { median, report, timeMs } from "../report.js";
import { besideTheBest } from "./beside.js";
import { bigText } from "./big-text.js";
import { CONFIGURATIONS, composite, executeCall, startAll } from "./gateways.js";
import { only, rounds } from "./options.js";

const BYTES = 5_000_000;

/** @typedef {import("./gateways.js").Running} Running */

/** Returns the text the model would see. @param {Running} running @param {number} seed */
async function answerOf({ gateway, client }, seed) {
  const args = { bytes: BYTES, seed };
  if (gateway !== composite) return await gateway.call(client, "big", args);
  const { content } = await client.ask("tools/call", executeCall("big", args));
  return /** @type {string} */ (content[0].text);
}

/** Fetches the full result by the hash in a truncated answer. @param {Running} running @param {string} answer */
async function fetchWhole({ client }, answer) {
  const { results } = JSON.parse(answer);
  const { contents } = await client.ask("resources/read", { uri: `trunkline://blob/${results[0].result.hash}` });
  return String(contents[0].text);
}

const { running, versions, absent, stop } = await startAll({ only });
try {
  /** @type {Map<Running, { times: number[], answer: string }>} */
  const measured = new Map(running.map((each) => [each, { times: [], answer: "" }]));
  // The first round warms up.
  for (let round = 0; round <= rounds; round += 1) {
    for (const [each, found] of measured) {
      const ms = await timeMs(async () => {
        found.answer = await answerOf(each, round);
      });
      if (round > 0) found.times.push(ms);
    }
  }
  const expected = bigText(BYTES, rounds);
  const passing = [...measured].filter(([{ gateway }]) => gateway !== composite);
  const isWhole = passing.every(([, { answer }]) => answer === expected);
  const damaged = passing.filter(([, { answer }]) => answer !== expected).map(([{ gateway }]) => gateway.name);
  const figures = [...measured].map(([{ gateway }, { times }]) => ({
    ...gateway,
    name: gateway === composite ? `${gateway.name} (the beginning; the full result is stored)` : gateway.name,
    figure: median(times),
  }));
  const tokens = await Promise.all(
    [...measured].map(async ([{ gateway }, { answer }]) => ({
      ...gateway,
      figure: (await countTokens(answer, Number.POSITIVE_INFINITY)) ?? Number.NaN,
    })),
  );
  const stored = await storedRows(
    [...measured].find(([{ gateway }]) => gateway === composite),
    expected,
  );
  report(
    "gateways-large",
    [
      ...besideTheBest(figures, { what: "5 MB", unit: "ms", best: "least" }),
      ...stored,
      ...besideTheBest(tokens, { what: "tokens that reach the model", unit: "tokens", best: "least" }),
    ],
    {
      title: "Gateways: a 5 MB result",
      workload: `A tool that returns a text of 5,000,000 bytes, called through each gateway in turn, ${rounds} times after one warm-up, each time with a different text.`,
      versions,
      absent,
      notes: [
        CONFIGURATIONS,
        `The text arrives intact, byte for byte, through ${isWhole ? "all that pass it on" : `all but ${damaged.join(", ")}`}. The composite surface returns its beginning and a hash; the full text, fetched by that hash as the resource trunkline://blob/<hash>, is the same byte for byte.`,
      ],
    },
  );
} finally {
  await stop();
}

/** @param {[Running, { answer: string }] | undefined} measured @param {string} expected @returns {Promise<import("../report.js").Row[]>} */
async function storedRows(measured, expected) {
  if (measured === undefined) return [];
  const [each, { answer }] = measured;
  /** @type {number[]} */
  const times = [];
  for (let round = 0; round < rounds; round += 1) {
    let whole = "";
    times.push(
      await timeMs(async () => {
        whole = await fetchWhole(each, answer);
      }),
    );
    if (whole !== expected) throw new Error("the store does not have the full result");
  }
  return [
    { what: "the full result from the store, by its hash: trunkline, composite", figure: median(times), unit: "ms" },
  ];
}
