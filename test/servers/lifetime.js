// When a test server ends: on SIGTERM and SIGINT with code 0, and over stdio when its input closes.

let sigtermIgnored = false;

/** For a server that has to be killed. Call it first: a signal may come as soon as the server is known to be ready. */
export function ignoreSigterm() {
  sigtermIgnored = true;
  process.on("SIGTERM", () => console.error("ignoring SIGTERM"));
}

/** Without this, Node would end with 143 or 130 and a test could not tell a clean end from a kill. */
export function exitOnSignals() {
  if (!sigtermIgnored) process.on("SIGTERM", () => process.exit(0));
  process.on("SIGINT", () => process.exit(0));
}

/** A client that goes away closes our stdin; a timer that still runs must not keep the process alive. */
export function exitWhenInputCloses() {
  process.stdin.on("end", () => process.exit(0));
  process.stdin.on("close", () => process.exit(0));
}
