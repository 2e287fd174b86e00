#!/usr/bin/env node
// The entry point. It is CommonJS and committed without a build step: it must be executable and linkable before the
// first build, and it answers --version without loading the ES module loader, which would double the time.
"use strict";
const { join } = require("node:path");

const args = process.argv.slice(2);
if (args.length === 1 && (args[0] === "--version" || args[0] === "-V")) {
  console.log(require("../package.json").version);
} else {
  // Node 22 caches compiled code between runs; Node 20 cannot.
  require("node:module").enableCompileCache?.();
  const main = join(__dirname, "..", "dist", "main.js");
  if (require("node:fs").existsSync(main)) {
    void import(require("node:url").pathToFileURL(main).href);
  } else {
    console.error("trunkline is not built yet. Run: npm run build");
    process.exitCode = 1;
  }
}
