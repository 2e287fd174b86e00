// Who uses the result of a call: a model, whose context it takes up, or a person or a program, who get all of it.
import { isRecord } from "@trunkline/core";
import type { Exchange } from "./exchange.js";

/** Only for a model are results shortened to save tokens, and counted as tokens spent. */
export type Reader = "model" | "person" | "program";

/** Decides from the client and the `_meta` of its call who uses the result. */
export function readerOf({ caller, meta, isForPerson }: Pick<Exchange, "caller" | "meta" | "isForPerson">): Reader {
  if (isForPerson === true) return "person";
  return isFromProgramOfCodex(caller.name, meta) ? "program" : "model";
}

const CODEX_METADATA = "x-codex-turn-metadata";
const PROGRAM_CALL = "exec-";

/**
 * Codex in code mode runs programs that call tools. It gives each of these calls an id of its own, `exec-<uuid>`, in
 * `_meta.callId`; a call by the model has the id that the model's API gave it.
 */
function isFromProgramOfCodex(client: string, meta: Exchange["meta"]): boolean {
  const { callId } = meta;
  if (typeof callId !== "string" || !callId.startsWith(PROGRAM_CALL)) return false;
  return /^codex\b/i.test(client) || isRecord(meta[CODEX_METADATA]);
}
