// Counts tokens on a separate thread: loading the tables and counting a long answer would block every client.
import { parentPort } from "node:worker_threads";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";

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
  // A client's text may contain what looks like a control token; it is counted as plain text.
  const counts = texts.map((text) => countTokens(text, { allowedSpecial: new Set(), disallowedSpecial: new Set() }));
  parentPort?.postMessage({ id, counts } satisfies CountAnswer);
});
