// The journal has one line per operation; the account totals token costs. Neither records arguments or results.
import { randomBytes } from "node:crypto";
import {
  type Clock,
  firstChars,
  isRecord,
  isTrunklineError,
  LargeValue,
  LOCAL_PRINCIPAL,
  type Logger,
  systemClock,
  toTrunklineError,
} from "@trunkline/core";
import { JsonBytes, RpcError } from "@trunkline/protocol";
import type { SentList } from "./surface-totals.js";

/** A finished call. */
export interface CallRecord {
  /** Start time in milliseconds since 1970. */
  readonly atMs: number;
  /** The client's name, as it reports it. */
  readonly client: string;
  /** Whose client it is, as in `Caller.principal`. Absent for `local`. */
  readonly principal?: string;
  /** The workspace of the process that ran the call, as in `workspaceKey`. Absent in lines of earlier versions. */
  readonly workspace?: string;
  /** The gateway that ran the call, if it has a name and others share its store. */
  readonly gateway?: string;
  /** `search`, or `<server>.<tool>`; `unknown` if there is no such operation. */
  readonly operation: string;
  /** The name that a local client used for an unknown operation, if it looks like one. */
  readonly asked?: string;
  readonly durationMs: number;
  /** The size of the result. */
  readonly sizeBytes: number;
  readonly outcome: "ok" | "error" | "cancelled";
  /** The error code. */
  readonly code?: string;
  /** Shared by the steps of one request to `query`, `execute` or `session`. Absent for every other call. */
  readonly request?: string;
  /** Identifies what a `CallRecorder` kept of the call. Absent if it was not recorded. */
  readonly recording?: string;
}

/** Records calls. Never throws and never makes the caller wait. */
export interface Journal {
  record(call: CallRecord): void;
}

/** What tokens were spent on: the tool list, schemas from `describe`, and everything else. */
export type TokenUse = "surface" | "schemas" | "results";

/** Counts what is sent to clients. Never throws and never makes the caller wait. */
export interface TokenAccount {
  add(use: TokenUse, text: string): void;
  /** Counts a tool list, for the client that got it. */
  addList?(text: string, list: SentList): void;
  /** Notes that a session used a listed upstream tool for the first time, without a search. */
  addFound?(list: Omit<SentList, "composite">): void;
  /** Counts a text that is only known by its size. */
  addBytes?(use: TokenUse, bytes: number): void;
  /** Counts and writes what was added so far: a client has left, and its user may look at the figures. */
  settle?(): Promise<void>;
  /** The tokens spent so far, for `status {tokens: true}`. */
  report?(): Promise<Readonly<Record<string, unknown>>>;
}

/** How a call ended: with a value, a thrown error, or an error code. */
interface CallEnd {
  /** The name that the client used. */
  readonly asked?: string;
  readonly value?: unknown;
  readonly error?: unknown;
  readonly code?: string;
  readonly request?: string;
  readonly recording?: string;
}

interface CallLogOptions {
  readonly journal?: Journal;
  readonly logger?: Logger;
  readonly clock?: Clock;
}

const UNKNOWN_OPERATION = "unknown";

/** In characters. A longer name is cut. */
const MOST_ASKED = 40;

/**
 * Returns what is recorded of the name of an unknown operation: a user looks for a typo in it. A name that a client in
 * the network made up is not recorded, nor is text that only takes the place of a name.
 */
function askedName(asked: string | undefined, principal: string): string | undefined {
  if (asked === undefined || principal !== LOCAL_PRINCIPAL || !/^[a-z_][\w.:/-]*$/i.test(asked)) return undefined;
  return firstChars(asked, MOST_ASKED);
}

/** What the journal has in place of a client if a line is not a call but news about a tool's definition. */
export const DEFINITION_NEWS = {
  new: "new definition",
  wording: "changed definition",
  held: "held definition",
} as const;

const NEWS: ReadonlySet<string> = new Set(Object.values(DEFINITION_NEWS));

/** Whether a line is not a call but news about a tool's definition. */
export function isDefinitionNews({ client }: CallRecord): boolean {
  return NEWS.has(client);
}

/** Who called: the part of `Caller` that is recorded. */
interface Client {
  readonly name: string;
  readonly principal: string;
}

/** Writes one journal entry and one debug line per call. */
export class CallLog {
  readonly #options: CallLogOptions;

  constructor(options: CallLogOptions) {
    this.#options = options;
  }

  /**
   * Starts timing a call. The returned function writes its entry. `name` is undefined for an operation that does not
   * exist; the name that a client made up for it is `asked`.
   */
  begin(name: string | undefined, { name: client, principal: owner }: Client): (end: CallEnd) => void {
    const { journal, logger, clock = systemClock } = this.#options;
    const operation = name ?? UNKNOWN_OPERATION;
    const principal = owner === LOCAL_PRINCIPAL ? undefined : owner;
    const atMs = clock.now();
    const started = clock.monotonicMs();
    return ({ asked, value, error, code = error === undefined ? undefined : codeOf(error), request, recording }) => {
      const durationMs = Math.round(clock.monotonicMs() - started);
      const outcome = code === undefined ? "ok" : code === "ABORTED" ? "cancelled" : "error";
      const sizeBytes = sizeOf(value);
      journal?.record({
        operation,
        asked: name === undefined ? askedName(asked, owner) : undefined,
        durationMs,
        sizeBytes,
        outcome,
        code,
        atMs,
        client,
        principal,
        request,
        recording,
      });
      logger?.debug("operation", { operation, durationMs, sizeBytes, outcome, code, client });
    };
  }

  /** Writes the entry of a call that ended before any operation ran. */
  note(name: string | undefined, client: Client, end: CallEnd): void {
    this.begin(name, client)(end);
  }
}

/** Distinguishes the requests of processes that write to the same journal. */
const REQUEST_PREFIX = randomBytes(4).toString("hex");
let lastRequest = 0;

/** Returns an id for the steps of one request. */
export function nextRequest(): string {
  return `${REQUEST_PREFIX}-${(++lastRequest).toString(36)}`;
}

/** Returns the code of a thrown error: our own if it has one, otherwise the protocol's number. */
function codeOf(error: unknown): string {
  if (!(error instanceof RpcError)) return toTrunklineError(error).code;
  if (isTrunklineError(error.cause)) return error.cause.code;
  return String(error.code);
}

/** Estimates the size of a value as JSON, without serializing it. */
function sizeOf(value: unknown): number {
  if (typeof value === "string") return Buffer.byteLength(value) + 2;
  if (value instanceof LargeValue) return value.sizeBytes;
  if (value instanceof JsonBytes) return value.bytes.length;
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + sizeOf(item) + 1, 2);
  if (isRecord(value)) {
    let sum = 2;
    for (const name in value) if (value[name] !== undefined) sum += name.length + 4 + sizeOf(value[name]);
    return sum;
  }
  return value === undefined ? 0 : String(value).length;
}
