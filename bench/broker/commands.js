// Commands that use a running broker: `call` beside an empty Node process, `store grep` beside ripgrep.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "../../packages/store/dist/index.js";
import { upstream } from "../gateways/gateways.js";
import { median, timeMs } from "../report.js";
import { COMMAND } from "../server/product.js";
import { writeCorpus } from "../store/corpus.js";
import { Place } from "./place.js";

const TEXT = "The quick brown fox jumps over the lazy dog.";
const LITERALS = ["createServer", "addEventListener", "sourceMappingURL", "Permission is hereby granted", "deprecated"];

/** @typedef {import("../peers/peers.js").Peer} Peer */

/** Medians of each program's times, alternating; the first round warms up. @param {number} rounds @param {readonly (() => Promise<unknown>)[]} programs */
async function alternating(rounds, programs) {
  const times = programs.map(() => /** @type {number[]} */ ([]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const [at, program] of programs.entries()) {
      const ms = await timeMs(program);
      if (round > 0) times[at]?.push(ms);
    }
  }
  return times.map(median);
}

/** @param {{ rounds: number, mcporter: Peer | undefined }} options */
export async function calls({ rounds, mcporter }) {
  const place = new Place({ upstream: upstream() });
  const config = join(place.folder, "mcporter.json");
  const kept = { ...upstream(), lifecycle: "keep-alive" };
  writeFileSync(config, JSON.stringify({ mcpServers: { upstream: kept }, imports: [] }));
  const theirs = mcporter === undefined ? undefined : [...mcporter.args, "--config", config];
  const expectText = async (/** @type {Promise<string>} */ printing) => {
    const printed = await printing;
    if (printed !== TEXT) throw new Error(`a call printed the wrong output: ${printed}`);
  };
  const call = ["call", "upstream.echo", `text=${TEXT}`];
  try {
    const window = await place.open();
    await window.call("mcp__upstream__echo", { text: TEXT });
    const programs = [
      () => place.run(["-e", "0"]),
      () => expectText(place.run([COMMAND, ...call])),
      () => expectText(place.run([COMMAND, ...call, "--no-broker"])),
      ...(theirs === undefined ? [] : [() => expectText(place.run([...theirs, ...call], mcporter?.command))]),
    ];
    const [emptyMs = Number.NaN, brokerMs = Number.NaN, aloneMs = Number.NaN, mcporterMs] = await alternating(
      rounds,
      programs,
    );
    return { emptyMs, brokerMs, aloneMs, mcporterMs };
  } finally {
    if (theirs !== undefined) await place.run([...theirs, "daemon", "stop"], mcporter?.command);
    await place.remove();
  }
}

/** @param {{ rounds: number, files: number, kept: string | undefined }} options */
export async function greps({ rounds, files, kept }) {
  const place = new Place({});
  try {
    const { folder, store } = await indexed(kept ?? place.folder, files);
    await place.open();
    const found = [];
    for (const pattern of LITERALS) {
      const totals = new Set();
      const count = ["store", "--store", store, "grep", "--count", pattern];
      const ours = async (/** @type {string[]} */ args) => totals.add(totalOf(await place.run([COMMAND, ...args])));
      const [rgMs = Number.NaN, brokerMs = Number.NaN, aloneMs = Number.NaN] = await alternating(rounds, [
        async () =>
          totals.add(totalOf(await place.run(["-j2", "-c", "--no-ignore", "--hidden", pattern, folder], "rg"))),
        () => ours(count),
        () => ours([...count, "--no-broker"]),
      ]);
      if (totals.size !== 1) throw new Error(`${pattern}: rg and grep differ: ${[...totals].join(", ")}`);
      found.push({ pattern, rgMs, brokerMs, aloneMs });
    }
    return found;
  } finally {
    await place.remove();
  }
}

/** Returns files and a store that has them, made now unless they were kept. @param {string} base @param {number} files */
async function indexed(base, files) {
  const folder = join(base, "files");
  const path = join(base, "indexed");
  if (!existsSync(path)) {
    // As plain text, so that no time is spent on a graph of the code, which grep does not use.
    writeCorpus(folder, { files, ending: ".txt" });
    const store = await openStore({ path, cwd: folder });
    await store.add({ path: folder });
    await store.indexed();
    await store.close();
  }
  return { folder, store: path };
}

/** Adds up lines such as `file:3`. @param {string} printed */
function totalOf(printed) {
  const counts = printed.split("\n").map((line) => /:(\d+)$/.exec(line)?.[1]);
  return counts.reduce((sum, count) => sum + Number(count ?? 0), 0);
}
