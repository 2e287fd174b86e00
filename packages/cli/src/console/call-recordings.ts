// Arguments and results of calls, kept in memory while a person records them in the console. Redacted before they are
// kept, and never written anywhere.
import { randomBytes } from "node:crypto";
import { isRecord, LargeValue, type Redactor } from "@trunkline/core";
import type { CallRecorder, RecordedCall } from "@trunkline/gateway";
import { JsonBytes } from "@trunkline/protocol";

/** A value as JSON text, cut if it is long. */
export interface KeptValue {
  readonly text: string;
  readonly isCut: boolean;
  readonly isRedacted: boolean;
}

export interface Recording {
  /** Undefined if the parameters were not known (a reference in them could not be resolved) or could not be kept. */
  readonly arguments: KeptValue | undefined;
  readonly result: KeptValue;
}

const MAX_CALLS = 500;
const MAX_BYTES = 32 * 1024 * 1024;
const MAX_VALUE_CHARS = 256 * 1024;
/** A person who looks again after a short break finds what was recorded. */
const LEFT_MS = 10 * 60_000;
/** Text is redacted before it is cut, or the beginning of a secret could be left at the end. */
const REDACTED_BEYOND_CHARS = 16 * 1024;

/** The recordings of all workspaces of a process. Workspaces are named as in `workspaceKey`. */
export class CallRecordings {
  readonly #rings = new Map<string, Ring>();
  readonly #prefix = randomBytes(4).toString("hex");
  #last = 0;
  #leaving: NodeJS.Timeout | undefined;

  isOn(workspace: string): boolean {
    return this.#rings.has(workspace);
  }

  /** Starts recording, or stops it and forgets everything that was recorded. */
  set(workspace: string, on: boolean): void {
    if (!on) this.#rings.delete(workspace);
    else if (!this.#rings.has(workspace)) this.#rings.set(workspace, new Ring());
  }

  /** No one looks any more: after a while, stops recording and forgets everything, unless `keep` is called before. */
  leave(): void {
    this.#leaving ??= setTimeout(() => {
      this.#leaving = undefined;
      this.#rings.clear();
    }, LEFT_MS).unref();
  }

  keep(): void {
    clearTimeout(this.#leaving);
    this.#leaving = undefined;
  }

  find(workspace: string, id: string | undefined): Recording | undefined {
    return id === undefined ? undefined : this.#rings.get(workspace)?.find(id);
  }

  /** Returns what records the calls of a workspace while that is on. */
  recorder(workspace: string, redactor: Redactor): CallRecorder {
    return {
      begin: () => {
        if (this.#rings.size === 0) return undefined;
        const ring = this.#rings.get(workspace);
        if (ring === undefined) return undefined;
        const id = `${this.#prefix}-${(++this.#last).toString(36)}`;
        return { id, end: (call) => ring.add(id, recordingOf(call, redactor)) };
      },
    };
  }
}

/** The last calls, up to a number and a size. */
class Ring {
  readonly #kept = new Map<string, Recording>();
  #bytes = 0;

  add(id: string, recording: Recording): void {
    this.#kept.set(id, recording);
    this.#bytes += sizeOf(recording);
    for (const [oldest, old] of this.#kept) {
      if (this.#kept.size <= MAX_CALLS && this.#bytes <= MAX_BYTES) break;
      this.#kept.delete(oldest);
      this.#bytes -= sizeOf(old);
    }
  }

  find(id: string): Recording | undefined {
    return this.#kept.get(id);
  }
}

/** A character takes up to two bytes of memory. */
function sizeOf({ arguments: given, result }: Recording): number {
  return 2 * ((given?.text.length ?? 0) + result.text.length);
}

function recordingOf({ params, outcome, error }: RecordedCall, redactor: Redactor): Recording {
  const { value, blocks = [], isError } = outcome ?? {};
  const { code, message, hint } = error ?? {};
  const failure = error === undefined ? undefined : { error: { code, message, hint } };
  const result = blocks.length === 0 ? value : { ...(isError === true ? { isError } : {}), value, blocks };
  return {
    arguments: params === undefined ? undefined : keptIfPossible(params, redactor),
    result: keptIfPossible(failure ?? result, redactor) ?? NOT_RECORDED,
  };
}

const NOT_RECORDED: KeptValue = { text: '"(could not be recorded)"', isCut: false, isRedacted: false };

/** Undefined if the value cannot be written as JSON or redacted: a call must not fail because it is recorded. */
function keptIfPossible(value: unknown, redactor: Redactor): KeptValue | undefined {
  try {
    return kept(value, redactor);
  } catch {
    return undefined;
  }
}

function kept(value: unknown, redactor: Redactor): KeptValue {
  const plain = plainOf(value) ?? null;
  // Redacted as a value, not as text: that would break JSON in which a number looks like a secret.
  const whole = JSON.stringify(plain);
  const text = JSON.stringify(redactor.value(plain));
  const isCut = text.length > MAX_VALUE_CHARS;
  return { text: isCut ? text.slice(0, MAX_VALUE_CHARS) : text, isCut, isRedacted: text !== whole };
}

/** Copies a value as plain JSON. Values too large to be worth building are described or cut. */
function plainOf(value: unknown): unknown {
  if (value instanceof LargeValue) return `(${value.sizeBytes} bytes, too large to be recorded)`;
  if (value instanceof JsonBytes) {
    const { bytes } = value;
    const most = MAX_VALUE_CHARS + REDACTED_BEYOND_CHARS;
    return bytes.length <= most ? value.toJSON() : `${Buffer.from(bytes.subarray(0, most)).toString("utf8")}…`;
  }
  if (Array.isArray(value)) return value.map((item) => plainOf(item) ?? null);
  if (isRecord(value)) {
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, item]) => {
        const plain = plainOf(item);
        return plain === undefined ? [] : [[name, plain]];
      }),
    );
  }
  return typeof value === "bigint" ? String(value) : value;
}
