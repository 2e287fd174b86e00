// Preloaded into every process and thread of a flow (`node --import`). Records which of our source files the flow
// passes through: files in which an async function starts, and files on the stack when the flow touches a file, a
// socket, a process or the database. Writes the names to WALK_FILE; WALK_WINDOW says which part of the flow counts (see
// walk.js).
import { createHook } from "node:async_hooks";
import childProcess from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import { createRequire, syncBuiltinESMExports } from "node:module";
import net from "node:net";
import { Readable } from "node:stream";
import workers from "node:worker_threads";

const target = process.env.WALK_FILE ?? "";
const { from, to } = JSON.parse(process.env.WALK_WINDOW ?? "{}");
const append = fs.appendFileSync;

Error.stackTraceLimit = 100;
let isOpen = from === undefined;
/** @type {Set<string>} */
const noted = new Set();

/** @param {boolean} whole every file on the stack, or only the innermost one */
function note(whole) {
  if (!isOpen) return;
  const holder = { stack: "" };
  Error.captureStackTrace(holder, note);
  for (const [, name, path] of holder.stack.matchAll(/packages\/([\w-]+)\/dist\/([^\s:)]+?)\.js/g)) {
    const file = `packages/${name}/src/${path}.ts`;
    if (!noted.has(file)) {
      noted.add(file);
      append(target, `${file}\n`);
    }
    if (!whole) return;
  }
}

/** Opens and closes the flow's window when certain text passes through a stream. @param {unknown} chunk */
function watchWindow(chunk) {
  if (from === undefined || (typeof chunk !== "string" && !(chunk instanceof Uint8Array))) return;
  const text = String(chunk);
  if (text.includes(from)) isOpen = true;
  else if (to !== undefined && isOpen && text.includes(to)) isOpen = false;
}

/**
 * @param {any} owner
 * @param {string} name
 * @param {{ chunk?: boolean }} [options] whether the first argument is stream data
 */
function wrap(owner, name, { chunk = false } = {}) {
  const original = owner[name];
  owner[name] = function (/** @type {unknown[]} */ ...args) {
    note(true);
    if (chunk) watchWindow(args[0]);
    return original.apply(this, args);
  };
}

createHook({
  init(_id, type) {
    if (type === "PROMISE") note(false);
  },
}).enable();

const push = Readable.prototype.push;
Readable.prototype.push = function (chunk, encoding) {
  watchWindow(chunk);
  return push.call(this, chunk, encoding);
};
for (const name of ["readFile", "writeFile", "open", "rename", "mkdir"]) wrap(fs.promises, name);
for (const name of ["readFileSync", "writeSync"]) wrap(fs, name);
wrap(childProcess, "spawn");
wrap(net.Socket.prototype, "write", { chunk: true });
wrap(http.ServerResponse.prototype, "write", { chunk: true });
wrap(http.ServerResponse.prototype, "end", { chunk: true });
wrap(workers.Worker.prototype, "postMessage");
wrap(workers.MessagePort.prototype, "postMessage");
wrap(globalThis, "fetch");
syncBuiltinESMExports();

const Database = createRequire(new URL("../../packages/store/package.json", import.meta.url))("better-sqlite3");
const memory = new Database(":memory:");
const statement = Object.getPrototypeOf(memory.prepare("select 1"));
for (const name of ["run", "get", "all"]) wrap(statement, name);
memory.close();
