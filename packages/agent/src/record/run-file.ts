// A recorded run: JSONL, appended as things happen, with known secrets redacted.
//
//   {"kind":"trunkline-run","version":1,"createdAt":"…"}                                           the first line
//   {"type":"tool","tool":{name,title,description,inputSchema,readOnly}}                           each tool, once
//   {"type":"message","hash":"…","message":{role,parts}}                       each message, before its first turn
//   {"type":"turn","model":{provider,id},"messages":["hash",…],"tools":["name",…],"events":[…]}     a turn that ended
//   {"type":"turn",…,"events":[…],"error":{code,message,hint,retryable}}                           or failed
//   {"type":"approval","tool":"name","args":{…},"approval":{allowed,reason}}
//   {"type":"call","tool":"name","args":{…},"output":{text,images,isError}}                        or "error" instead
//
// A message's hash is the SHA-256 of its canonical JSON without secrets and frame keys, so a replay sees the same
// hashes as long as it takes the same path.
import { createHash } from "node:crypto";
import { type Clock, canonicalJson, Redactor, systemClock, TrunklineError } from "@trunkline/core";
import type { Message } from "../model/model.js";
import { withoutFrameKeys } from "../tools/framing.js";
import { JsonlFile, type JsonlLine, readJsonl } from "./jsonl-file.js";

const RUN_KIND = "trunkline-run";
/** The format version. */
const RUN_VERSION = 1;

/** Receives a recorded run. `write` takes lines in order and does not throw; errors surface in `close`. */
export interface RunSink extends AsyncDisposable {
  readonly redactor: Redactor;
  write(line: Readonly<Record<string, unknown>>): void;
  /** Waits until everything is written. Rejects with `IO` if something could not be. Idempotent. */
  close(): Promise<void>;
}

/** Opens a new file as a sink. Rejects with `IO`. */
export async function openRunFile(
  path: string,
  { redactor = new Redactor(), clock = systemClock }: { redactor?: Redactor; clock?: Clock } = {},
): Promise<RunSink> {
  const file = await JsonlFile.open(path, { replace: true });
  let failure: unknown;
  const write = (line: Readonly<Record<string, unknown>>) => {
    file.append(redactor.value(line)).catch((error: unknown) => {
      failure ??= error;
    });
  };
  write({ kind: RUN_KIND, version: RUN_VERSION, createdAt: new Date(clock.now()).toISOString() });
  const close = async () => {
    await file.close();
    if (failure !== undefined) throw failure;
  };
  return { redactor, write, close, [Symbol.asyncDispose]: close };
}

/** Reads the lines of a recorded run, without the first. Rejects with `NOT_FOUND`, `CONFIG_INVALID` or `IO`. */
export async function readRunFile(path: string): Promise<JsonlLine[]> {
  const [head, ...lines] = await readJsonl(path);
  if (head?.value.kind !== RUN_KIND) throw new TrunklineError("CONFIG_INVALID", `${path} is not a recorded run.`);
  if (head.value.version !== RUN_VERSION) {
    throw new TrunklineError(
      "CONFIG_INVALID",
      `${path} is a recorded run in format version ${String(head.value.version)}, which this version cannot read.`,
      {
        hint: "Record it again.",
      },
    );
  }
  return lines;
}

/** Returns the form in which messages are compared. */
export function comparable(message: Message, redactor: Redactor): string {
  return withoutFrameKeys(canonicalJson(redactor.value(message)));
}

export function messageHash(message: Message, redactor: Redactor): string {
  return createHash("sha256").update(comparable(message, redactor)).digest("hex").slice(0, 32);
}
