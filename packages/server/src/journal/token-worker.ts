// Counts tokens on a thread of its own: loading the tables and counting a long answer would hold up every client.
import { parentPort } from "node:worker_threads";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";

/** What the thread is asked. */
export interface CountRequest {
  readonly id: number;
  readonly texts: readonly string[];
}

/** What it answers: one number for each text. */
export interface CountAnswer {
  readonly id: number;
  readonly counts: readonly number[];
}

parentPort?.on("message", ({ id, texts }: CountRequest) => {
  // Text of a client may hold what looks like a control token; it is counted as the text it is.
  const counts = texts.map((text) => countTokens(text, { allowedSpecial: new Set(), disallowedSpecial: new Set() }));
  parentPort?.postMessage({ id, counts } satisfies CountAnswer);
});
