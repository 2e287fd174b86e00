// Proves which process is at the other end of the socket. A program in a sandbox could otherwise claim to run outside of
// it and have the broker act for it. Node does not tell whose socket it is, so the broker asks the process to take a
// name that only it can take, and looks the process up by its number.
import { readFileSync, writeFileSync } from "node:fs";
import { executionPlace } from "./broker-place.js";

/** Only a process itself can write it. At most 15 bytes. */
const OWN_NAME = "/proc/self/comm";

export function newProof(): string {
  // Loaded on use: only the broker needs it, and it takes as long to load as the rest of a relay.
  return process.getBuiltinModule("node:crypto").randomBytes(11).toString("base64url");
}

/** Whether the process has taken this name and runs in this place, described with or without its umask. */
export function hasProof(pid: number, proof: string, { place, umask }: { place: string; umask: boolean }): boolean {
  if (!Number.isInteger(pid) || pid < 1) return false;
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trimEnd() === proof && executionPlace(pid, { umask }) === place;
  } catch {
    // There is no such process here.
    return false;
  }
}

let lastTurn = Promise.resolve();

/** Renames this process until the broker has seen the name. Resolves with a function that restores the old name. */
export async function takeName(proof: string): Promise<() => void> {
  const turn = lastTurn;
  let done = () => {};
  // A process has one name, however many connections it opens.
  lastTurn = new Promise((resolve) => {
    done = resolve;
  });
  await turn;
  try {
    const name = readFileSync(OWN_NAME, "utf8").trimEnd();
    writeFileSync(OWN_NAME, proof);
    return () => {
      writeFileSync(OWN_NAME, name);
      done();
    };
  } catch {
    // The broker refuses a process that it cannot recognize.
    return done;
  }
}
