// Connects to a socket of the user.
import type { Socket } from "node:net";
import { isOwnSocket } from "./broker-place.js";

/** Connects once. Returns the code of the error if that fails. */
export function tryConnect(path: string): Promise<Socket | string> {
  // Loaded on use, and without the loader for ES modules: this is part of the first code of every command.
  const { connect } = process.getBuiltinModule("node:net");
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.removeAllListeners("error");
      resolve(socket);
    });
    socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });
}

/** Whether a process listens on a socket, even if it is stopped. */
export async function isListening(path: string): Promise<boolean> {
  if (!isOwnSocket(path)) return false;
  const outcome = await tryConnect(path);
  // Too many others are connecting.
  if (typeof outcome === "string") return outcome === "EAGAIN";
  outcome.on("error", () => {}).destroy();
  return true;
}
