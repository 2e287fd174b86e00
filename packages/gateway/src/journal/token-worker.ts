// Counts tokens on a separate thread: loading the tables and counting a long answer would block every client.
import { parentPort } from "node:worker_threads";
import { serveRpc } from "@trunkline/core/threads";
import { countTokens } from "../tokens/o200k.js";

/** One number per text. */
const count = (texts: readonly string[]): readonly number[] => texts.map(countTokens);

if (parentPort !== null) serveRpc(parentPort, { count }, { owner: "token counter" });
