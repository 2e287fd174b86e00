// Two gateways behind nginx, one of them killed with -9 every few seconds, while clients of both eras write, read and call.
// Clients repeat what the protocol allows. Nothing acknowledged may be lost, and no answer may be wrong.
import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { initPostgresStore, openPostgresStore } from "../../packages/store-postgres/dist/index.js";
import { serverPath } from "../../test/servers/start.js";
import { GatewayProcess, teamPlace } from "../../test/team/gateway-process.js";
import { startBalancer } from "../../test/team/nginx.js";
import { TeamClient } from "../../test/team/team-client.js";
import { report } from "../report.js";
import { startCluster } from "./cluster.js";

const MAX_ERROR_RATE = 0.01;
const ATTEMPTS = 20;
/** nginx leaves a gateway out for 2 s after a failure. The other one is not killed before that. */
const BACK_MS = 2_500;

/**
 * @typedef {object} KillOptions
 * @property {string} url The address of an empty database.
 * @property {number} seconds
 * @property {number} everyMs
 * @property {number} clients
 */

/** @param {KillOptions} options */
export async function killsUnderLoad({ url, seconds, everyMs, clients }) {
  await initPostgresStore(url);
  const place = teamPlace(url, { hello: { command: process.execPath, args: [serverPath("hello")] } });
  const args = ["--surface", "both"];
  const gateways = await Promise.all(
    ["gateway-1", "gateway-2"].map((name) => GatewayProcess.open(place, { name, args })),
  );
  const balancer = await startBalancer(gateways);
  const counts = { calls: 0, errors: 0, wrong: 0, repeated: 0, kills: 0, acknowledged: 0, lost: 0 };
  /** What was acknowledged: the hash of each document. @type {Map<string, string>} */
  const acknowledged = new Map();
  /** @type {string[]} */
  const problems = [];
  let isDone = false;
  try {
    /** @param {TeamClient} client @param {string} who */
    const work = async (client, who) => {
      for (let at = 0; !isDone; at += 1) {
        const name = `${who}-${at}.md`;
        const content = `${name} was written by ${who}. `.repeat(1 + (at % 40));
        /** @type {[string, Record<string, unknown>, string][]} */
        const calls = [
          ["execute", { operations: [{ op: "add", params: { content, name } }] }, name],
          ["query", { steps: [{ op: "get", params: { path: name, include_content: true } }] }, content.trim()],
          ["mcp__hello__hello", { name }, `Hello, ${name}!`],
        ];
        for (const [tool, params, expected] of calls) {
          const { ok, text } = await client.call(tool, params, { attempts: ATTEMPTS });
          counts.calls += 1;
          const isRight = text.includes(expected);
          if (ok && isRight && tool === "execute") {
            acknowledged.set(name, createHash("sha256").update(content).digest("hex"));
          }
          if (ok && isRight) continue;
          counts[ok ? "wrong" : "errors"] += 1;
          if (problems.length < 20) problems.push(`${ok ? "wrong" : "error"}: ${tool} ${name}: ${text.slice(0, 300)}`);
          // What was not written cannot be read.
          if (tool === "execute") break;
        }
      }
      counts.repeated += client.repeated;
    };
    const working = Array.from({ length: clients }, (_, at) =>
      work(new TeamClient(balancer.url, { modern: at % 2 === 0 }), `client-${at}`),
    );
    const endMs = performance.now() + seconds * 1_000;
    while (performance.now() < endMs) {
      const startedMs = performance.now();
      const victim = gateways[counts.kills % gateways.length];
      await victim?.end("SIGKILL");
      counts.kills += 1;
      await victim?.start();
      await delay(Math.max(BACK_MS, everyMs - (performance.now() - startedMs)));
    }
    isDone = true;
    await Promise.all(working);
  } finally {
    isDone = true;
    await balancer[Symbol.asyncDispose]();
    await Promise.all(gateways.map((gateway) => gateway.end("SIGKILL")));
    place.remove();
  }
  counts.acknowledged = acknowledged.size;
  const store = await openPostgresStore({ url });
  try {
    /** @type {Map<string, string>} */
    const found = new Map();
    for (let offset = 0; ; ) {
      const page = await store.list({ limit: 1_000, offset });
      if (!("documents" in page) || page.documents.length === 0) break;
      for (const { path, hash } of page.documents) found.set(path, hash);
      offset += page.documents.length;
    }
    counts.lost = [...acknowledged].filter(([name, hash]) => found.get(name) !== hash).length;
    await store.indexed();
    const { ok } = await store.verify();
    return { ...counts, errorRate: counts.errors / Math.max(1, counts.calls), isSound: ok, problems };
  } finally {
    await store.close();
  }
}

/** @param {import("./run.js").TeamOptions} options */
export async function measure({ seconds = 300 }) {
  const cluster = await startCluster();
  const clients = 8;
  try {
    const outcome = await killsUnderLoad({ url: cluster.createDatabase(), seconds, everyMs: 5_000, clients });
    for (const problem of outcome.problems) console.error(problem);
    /** @param {string} what @param {number} figure */
    const none = (what, figure) => ({ what, figure, unit: "", beside: "none", ratio: figure, aim: 0 });
    report(
      "team-kills",
      [
        { what: `${outcome.kills} kills of a gateway, ${clients} clients: calls`, figure: outcome.calls, unit: "" },
        { what: "   requests that clients sent again", figure: outcome.repeated, unit: "" },
        { what: "   acknowledged writes", figure: outcome.acknowledged, unit: "" },
        none("   acknowledged writes that were lost", outcome.lost),
        none("   wrong answers", outcome.wrong),
        none("   damage that verify found afterwards", outcome.isSound ? 0 : 1),
        {
          what: "   calls that failed after all attempts, of 100",
          figure: outcome.errorRate * 100,
          unit: "",
          beside: "1 of 100",
          ratio: outcome.errorRate / MAX_ERROR_RATE,
          aim: 1,
        },
      ],
      {
        title: "A team's gateways: killed under load",
        workload: `Two gateways behind nginx for ${seconds} s; one is killed with -9 every 5 s and started again; the next one is killed when it has been back for at least 2.5 s. Clients of both eras add a document, read it and call an upstream tool; they repeat a call up to ${ATTEMPTS - 1} times after a lost connection, HTTP 502 or 503, a lost session or a retryable error.`,
        versions: { PostgreSQL: cluster.version },
      },
    );
  } finally {
    cluster.stop();
  }
}
