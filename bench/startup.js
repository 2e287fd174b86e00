// Startup time of the command, relative to an empty Node process in the same run.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { median, report, timeMs } from "./report.js";
import { coldCall } from "./speed/cold-call.js";

const { values } = parseArgs({ options: { rounds: { type: "string", default: "15" } } });
const rounds = Number(values.rounds);
const bin = fileURLToPath(new URL("../packages/cli/bin/trunkline.cjs", import.meta.url));
const cwd = mkdtempSync(join(tmpdir(), "trunkline-bench-"));

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bench", version: "1" } },
};

/** Runs node until it exits. @param {string[]} args */
function run(args) {
  return new Promise((resolve, reject) => {
    spawn(process.execPath, args, { cwd, stdio: ["ignore", "ignore", "inherit"] })
      .once("error", reject)
      .once("exit", (code) =>
        code === 0 ? resolve(code) : reject(new Error(`${args.join(" ")} exited with ${code}`)),
      );
  });
}

/**
 * Measures the time from process start to the response to the last of these messages. @param {string[]} args @param
 * {readonly object[]} messages
 */
async function firstAnswer(args, messages = [initialize]) {
  const child = spawn(process.execPath, args, { cwd, stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const ms = await timeMs(async () => {
    child.stdin.write(messages.map((message) => `${JSON.stringify(message)}\n`).join(""));
    await new Promise((resolve, reject) => {
      let seen = "";
      child.stdout.on("data", (chunk) => {
        seen += chunk;
        if (seen.includes(`"id":${messages.length}`)) resolve(undefined);
      });
      child.once("exit", () => reject(new Error("exited without a response")));
    });
  });
  child.stdin.end();
  await ended;
  return ms;
}

const listTools = [initialize, { jsonrpc: "2.0", id: 2, method: "tools/list" }];

/** @type {Record<"empty" | "version" | "answer" | "list" | "help", number[]>} */
const times = { empty: [], version: [], answer: [], list: [], help: [] };
for (let round = 0; round < rounds; round++) {
  // Interleave the measurements, so that load on the machine affects all of them equally.
  times.empty.push(await timeMs(() => run(["-e", "0"])));
  times.version.push(await timeMs(() => run([bin, "--version"])));
  times.answer.push(await firstAnswer([bin, "serve"]));
  times.list.push(await firstAnswer([bin, "serve"], listTools));
  times.help.push(await timeMs(() => run([bin, "--help"])));
}
rmSync(cwd, { recursive: true, force: true });

const cold = await coldCall({ rounds });
const empty = median(times.empty);
const beside = "node -e 0";
report(
  "startup",
  [
    { what: beside, figure: empty, unit: "ms" },
    {
      what: "trunkline --version",
      figure: median(times.version),
      unit: "ms",
      beside,
      ratio: median(times.version) / empty,
      aim: 1.5,
    },
    {
      what: "trunkline serve: first response to initialize",
      figure: median(times.answer),
      unit: "ms",
      beside,
      ratio: median(times.answer) / empty,
      aim: 4,
    },
    {
      what: "trunkline serve: the tool list",
      figure: median(times.list),
      unit: "ms",
      beside,
      ratio: median(times.list) / empty,
    },
    {
      what: "trunkline call of a stdio server, which is another Node process",
      figure: cold.callMs,
      unit: "ms",
      beside,
      ratio: cold.callMs / cold.emptyMs,
      aim: 3,
    },
    { what: "trunkline --help", figure: median(times.help), unit: "ms", beside, ratio: median(times.help) / empty },
  ],
  {
    title: "Startup of the command",
    workload: `Alternating processes, ${rounds} rounds, medians, compared with an empty Node program.`,
  },
);
