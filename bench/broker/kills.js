// `kill -9` of the broker: how long until the next answer, and what is lost if it happens again and again under load.
import { upstream } from "../gateways/gateways.js";
import { median } from "../report.js";
import { ended, isRunning, Place } from "./place.js";
import { Window } from "./window.js";

const ECHO = "mcp__upstream__echo";
/** The last server of a killed broker may live this long. */
const ORPHAN_LIMIT_MS = 1_000;

/** @param {Place} place */
function kill(place) {
  const { broker, servers } = place.recorded();
  if (broker === undefined) throw new Error("there is no broker to kill");
  process.kill(broker, "SIGKILL");
  return { broker, servers };
}

/** The time that a server takes from its start to the answer to its first call. @param {Place} place */
async function serverStartMs(place) {
  const { command, args } = /** @type {{ command: string, args: string[] }} */ (upstream());
  const started = performance.now();
  const server = new Window(command, args, { cwd: place.folder, env: place.env });
  await server.initialize();
  await server.call("echo", { text: "x" });
  const ms = performance.now() - started;
  await server.close();
  return ms;
}

/** One idle client. Times of its next call after a kill, without the server's own start. @param {{ rounds: number }} options */
export async function answerAfterKill({ rounds }) {
  const place = new Place({ upstream: upstream() });
  /** @type {number[]} */
  const times = [];
  /** @type {number[]} */
  const starts = [];
  try {
    const window = await place.open();
    for (let round = 0; round < rounds; round += 1) {
      await window.call(ECHO, { text: "x" });
      starts.push(await serverStartMs(place));
      const { servers } = kill(place);
      const started = performance.now();
      const text = await calledAgain(window, `round ${round}`);
      times.push(performance.now() - started);
      if (text !== `round ${round}`) throw new Error(`a wrong answer: ${text}`);
      await ended(servers, ORPHAN_LIMIT_MS);
    }
  } finally {
    await place.remove();
  }
  return { answerMs: median(times), serverMs: median(starts) };
}

/**
 * Calls, and again while the answer is that the broker took the call with it: a tool that may change something is not
 * repeated on its own. @param {Window} window @param {string} text
 */
async function calledAgain(window, text) {
  for (;;) {
    const { result, error } = await window.request("tools/call", { name: ECHO, arguments: { text } });
    if (!isLost(error)) return result?.content?.[0]?.text;
  }
}

/** Whether an error says that the call was lost, run or not. @param {any} error */
function isLost(error) {
  return error?.data?.code === "SERVER_EXITED" || error?.data?.retryable === true;
}

/** Clients that call all the time, while the broker is killed. @param {{ kills: number, clients: number }} options */
export async function killsUnderLoad({ kills, clients }) {
  const place = new Place({ upstream: upstream() });
  const counts = { right: 0, lost: 0, wrong: 0, lostSessions: 0, orphans: 0 };
  let isDone = false;
  let round = 0;
  try {
    const windows = await Promise.all(Array.from({ length: clients }, () => place.open()));
    // The round in which each client last had an answer, and who waits for the next one.
    const answered = windows.map(() => -1);
    let onAnswer = () => {};
    const work = windows.map(async (window, at) => {
      for (let call = 0; !isDone; call += 1) {
        const text = `client ${at}, call ${call}`;
        const { result, error } = await window.request("tools/call", { name: ECHO, arguments: { text } });
        if (result?.content?.[0]?.text === text && !result.isError) {
          counts.right += 1;
          answered[at] = round;
          onAnswer();
        } else if (isLost(error)) counts.lost += 1;
        else {
          counts.wrong += 1;
          console.error(JSON.stringify({ text, result, error }));
        }
      }
    });
    const lost = Promise.allSettled(work).then(
      (outcomes) => outcomes.filter(({ status }) => status === "rejected").length,
    );
    const everyoneAnswered = () =>
      new Promise((/** @type {(value?: unknown) => void} */ resolve, reject) => {
        onAnswer = () => answered.every((last) => last === round) && resolve();
        onAnswer();
        void lost.then((count) => count > 0 && reject(new Error(`${count} sessions were lost`)));
      });
    await everyoneAnswered();
    for (let at = 0; at < kills; at += 1) {
      const { servers } = kill(place);
      round += 1;
      await everyoneAnswered();
      counts.orphans += servers.filter(isRunning).length;
    }
    isDone = true;
    counts.lostSessions = await lost;
  } finally {
    isDone = true;
    await place.remove();
  }
  return counts;
}
