// How test servers exit: on SIGTERM and SIGINT with code 0, and over stdio when their input closes.

let sigtermIgnored = false;

/** For a server that has to be killed. Call it first: a signal can arrive as soon as the server is ready. */
export function ignoreSigterm() {
  sigtermIgnored = true;
  process.on("SIGTERM", () => console.error("ignoring SIGTERM"));
}

/** Without this, Node would exit with 143 or 130 and a test could not tell a clean exit from a kill. */
export function exitOnSignals() {
  if (!sigtermIgnored) process.on("SIGTERM", () => process.exit(0));
  process.on("SIGINT", () => process.exit(0));
}

/** A client that disconnects closes our stdin, and a pending timer must not keep the process alive. */
export function exitWhenInputCloses() {
  process.stdin.on("end", () => process.exit(0));
  process.stdin.on("close", () => process.exit(0));
}
