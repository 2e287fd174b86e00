// silent: reads everything and never answers. Options: --ignore-sigterm ignores SIGTERM and the end of stdin, so only
// SIGINT, SIGKILL or five minutes end it; --grandchild starts a child process that sleeps for five minutes, and
// --pid-file F receives its process id. Prints "reading stdin" to stderr when it is ready, and also prints what it
// ignores. Transports: stdio, --http (accepts every request and leaves it open).

import { spawn } from "node:child_process";
import { writeAtomically } from "./atomic-file.js";
import { exitOnSignals, exitWhenInputCloses, ignoreSigterm } from "./lifetime.js";
import { listen } from "./network.js";
import { readOptions } from "./options.js";

const options = readOptions({
  "ignore-sigterm": { type: "boolean", default: false },
  grandchild: { type: "boolean", default: false },
  "pid-file": { type: "string" },
});

// A server that a failed test leaves behind must not run forever.
const longestLifeMs = 300_000;

if (options["ignore-sigterm"]) {
  ignoreSigterm();
  // The timer also keeps the process alive once stdin has ended.
  setTimeout(() => process.exit(0), longestLifeMs);
}

if (options.grandchild) {
  const sleep = `setTimeout(() => {}, ${longestLifeMs})`;
  const grandchild = spawn(process.execPath, ["-e", sleep], { stdio: "ignore" });
  if (options["pid-file"] !== undefined) writeAtomically(options["pid-file"], String(grandchild.pid));
}

if (options.http) {
  await listen(options, "/mcp", (request) => void request.resume());
} else {
  exitOnSignals();
  if (options["ignore-sigterm"]) process.stdin.on("end", () => console.error("ignoring the end of stdin"));
  else exitWhenInputCloses();
  process.stdin.resume();
  console.error("reading stdin");
}
