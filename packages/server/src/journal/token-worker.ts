// Counts tokens on a separate thread: loading the tables and counting a long answer would block every client.
import { parentPort } from "node:worker_threads";
import { countTokens } from "../tokens/o200k.js";

export interface CountRequest {
  readonly id: number;
  readonly texts: readonly string[];
}

/** The reply: one number per text. */
export interface CountAnswer {
  readonly id: number;
  readonly counts: readonly number[];
}

parentPort?.on("message", ({ id, texts }: CountRequest) => {
  parentPort?.postMessage({ id, counts: texts.map(countTokens) } satisfies CountAnswer);
});
