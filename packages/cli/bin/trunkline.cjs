#!/usr/bin/env node
// The entry point. It is CommonJS and committed without a build step: it must be executable and linkable before the
// first build, and it answers --version without loading the ES module loader, which would double the time.
"use strict";
const { existsSync, mkdirSync, readFileSync, statSync } = require("node:fs");
const { isAbsolute, join } = require("node:path");

const BUNDLE = join(__dirname, "..", "bundle");
const BUILD = join(__dirname, "..", "dist", "main.js");

const args = process.argv.slice(2);
// Other users of this machine see the words of a command, and an address can have a password.
if (args.some((word) => /postgres(?:ql)?:\/\/[^/]*:.*@/i.test(word))) process.title = "trunkline";
if (args.length === 1 && (args[0] === "--version" || args[0] === "-V")) {
  console.log(require("../package.json").version);
} else {
  cacheCompiledCode();
  if (hasCurrentBundle()) {
    const { relayToBroker } = require("../bundle/relay-main.cjs");
    void start(relayToBroker, join(BUNDLE, "main.cjs"), () => require("../bundle/main.cjs"));
  } else if (existsSync(BUILD)) {
    const load = (name) => import(require("node:url").pathToFileURL(join(__dirname, "..", "dist", name)).href);
    void load("relay-main.js").then(({ relayToBroker }) => start(relayToBroker, BUILD, () => load("main.js")));
  } else {
    console.error("trunkline is not built yet. Run: npm run build");
    process.exitCode = 1;
  }
}

/** Has the broker do the work, or does it in this process. */
async function start(relayToBroker, code, runHere) {
  const { version } = require("../package.json");
  const isRelayed = await relayToBroker(args, { version, entry: __filename, code });
  if (!isRelayed) await runHere();
}

/**
 * Whether to run the bundle. In a checkout, only if nothing was compiled or installed since it was made; an installed
 * package has no inputs.json.
 */
function hasCurrentBundle() {
  const inputs = join(BUNDLE, "inputs.json");
  if (!existsSync(inputs)) return existsSync(join(BUNDLE, "main.cjs"));
  return JSON.parse(readFileSync(inputs, "utf8")).every(
    ({ file, changedMs }) => statSync(join(BUNDLE, file), { throwIfNoEntry: false })?.mtimeMs === changedMs,
  );
}

/**
 * Node 22 caches compiled code between runs; Node 20 cannot. By default the cache is below the folder for temporary
 * files, where another user could plant code for us to run.
 */
function cacheCompiledCode() {
  const { enableCompileCache } = require("node:module");
  if (enableCompileCache === undefined) return;
  const { XDG_CACHE_HOME: caches = "" } = process.env;
  const folder = join(isAbsolute(caches) ? caches : join(require("node:os").homedir(), ".cache"), "trunkline");
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch {
    // The home folder is missing or read-only: no cache.
    return;
  }
  enableCompileCache(folder);
}
