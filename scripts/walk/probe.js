// Preloaded into every process and thread of a flow (`node --import`). Records which of our source files have a function
// that the flow calls, as V8's precise coverage counts them. Writes their names to WALK_FILE; WALK_WINDOW says which part
// of the flow counts (see walk.js).
import { appendFileSync } from "node:fs";
import http from "node:http";
import inspector from "node:inspector";
import net from "node:net";
import { Readable } from "node:stream";
import { isMainThread, parentPort } from "node:worker_threads";

const target = process.env.WALK_FILE ?? "";
const { from, to } = JSON.parse(process.env.WALK_WINDOW ?? "{}");

const session = new inspector.Session();
session.connect();

/** Answers at once, because the session belongs to this thread. @param {string} method @param {object} [params] */
function post(method, params) {
  /** @type {any} */
  let answer;
  session.post(method, params, (_error, result) => {
    answer = result;
  });
  return answer;
}

/** @type {Set<string>} */
const noted = new Set();
let isOpen = from === undefined;

/** Reads what ran since the last time. @param {{ discard?: boolean }} [options] */
function note({ discard = false } = {}) {
  const { result } = post("Profiler.takePreciseCoverage");
  if (discard) return;
  for (const { url, functions } of result) {
    const [, name, path] = /\/packages\/([\w-]+)\/dist\/(.+)\.js$/.exec(url) ?? [];
    if (name === undefined) continue;
    // The function that begins at 0 is the module itself: loading a file does not put it on the way.
    const ran = functions.some((/** @type {any} */ { ranges: [whole] }) => whole.count > 0 && whole.startOffset > 0);
    const file = `packages/${name}/src/${path}.ts`;
    if (!ran || noted.has(file)) continue;
    noted.add(file);
    appendFileSync(target, `${file}\n`);
  }
}

/** Opens and closes the flow's window when certain text passes through a stream. @param {unknown} chunk */
function watchWindow(chunk) {
  if (from === undefined || (typeof chunk !== "string" && !(chunk instanceof Uint8Array))) return;
  const text = Buffer.from(chunk).toString();
  if (!isOpen && text.includes(from)) {
    isOpen = true;
    note({ discard: true });
  } else if (to !== undefined && isOpen && text.includes(to)) {
    note();
    isOpen = false;
  }
}

/** @param {any} owner @param {string} name */
function watch(owner, name) {
  const original = owner[name];
  owner[name] = function (/** @type {unknown[]} */ ...args) {
    watchWindow(args[0]);
    return original.apply(this, args);
  };
}

post("Profiler.enable");
post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
watch(Readable.prototype, "push");
watch(net.Socket.prototype, "write");
watch(http.ServerResponse.prototype, "write");
watch(http.ServerResponse.prototype, "end");
process.on("exit", () => {
  if (isOpen) note();
});
// A thread is usually terminated, without "exit". What it did was asked for with a message, and ends with one.
if (!isMainThread && parentPort !== null) {
  const send = parentPort.postMessage;
  parentPort.postMessage = function (...args) {
    if (isOpen) note();
    return send.apply(this, args);
  };
}
