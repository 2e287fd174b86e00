// One file of pins per server in Trunkline's home. Several processes use it at once: whoever changes it reads it again
// under a lock, so that no approval and no pin is lost.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isRemote, type ServerDefinition } from "@trunkline/config";
import { isAbsent, isRecord, parseJson, TrunklineError, writeFileAtomically } from "@trunkline/core";
import { type HeldLock, withFileLock } from "../auth/file-lock.js";
import type { HoldReason } from "./classify-change.js";
import { type HeldDefinition, NO_PINS, type Pin, type PinChange, type PinState } from "./pin-state.js";
import type { Definition, PinKind } from "./pinned-definition.js";

const VERSION = 1;
/** Writing takes milliseconds; a server must not wait long to connect because another process is stuck. */
const LOCK_TIMEOUT_MS = 10_000;
const KINDS: readonly PinKind[] = ["tools", "prompts", "instructions"];

/** Which server a file belongs to. */
interface PinOwner {
  readonly server: string;
  /**
   * What the entry runs or contacts, hashed. A renamed or replaced entry starts afresh; a server cannot change this from
   * its side.
   */
  readonly identity: string;
}

export function pinFolder(home: string): string {
  return join(home, "pins");
}

export function pinOwner(definition: ServerDefinition): PinOwner {
  return { server: definition.name, identity: definition.identity ?? identityOf(definition) };
}

/** For definitions that were not read from a file. */
function identityOf(definition: ServerDefinition): string {
  const runs =
    definition.type === "stdio"
      ? [definition.command, ...definition.args]
      : [isRemote(definition) ? definition.url : definition.type];
  return createHash("sha256").update(JSON.stringify(runs)).digest("hex");
}

export function pinPath(folder: string, { server, identity }: PinOwner): string {
  const readable = server.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 40);
  const hash = createHash("sha256")
    .update(JSON.stringify([server, identity]))
    .digest("hex");
  return join(folder, `${readable}-${hash.slice(0, 12)}.json`);
}

/** Reads a file. Undefined if there is none. An unreadable one is `CONFIG_INVALID`. */
export async function readPins(path: string): Promise<{ state: PinState; owner: PinOwner; text: string } | undefined> {
  let text: string;
  try {
    // Small, and in Trunkline's own folder: four waits for a thread would take far longer.
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
  const value = parseJson(text);
  if (!isRecord(value) || value.version !== VERSION || typeof value.server !== "string") {
    throw new TrunklineError("CONFIG_INVALID", `${path} is not a readable list of pinned definitions.`, {
      hint: "Delete it; the definitions are pinned again when the server connects.",
    });
  }
  const owner = { server: value.server, identity: String(value.identity) };
  return { state: stateOf(value), owner, text };
}

/** The content of a file, and the state it stands for. */
export interface ReadPins {
  readonly state: PinState;
  readonly text: string | undefined;
}

/**
 * Changes a file under its lock. `change` gets the current state, which is the very object of `known` if the file has not
 * changed since, and returns undefined to leave the file alone.
 */
export async function updatePins(
  { path, owner, known }: { path: string; owner: PinOwner; known?: ReadPins },
  change: (current: PinState) => Promise<PinState | undefined>,
): Promise<void> {
  const update = async (lock: HeldLock): Promise<void> => {
    const current = await readPins(path);
    const isKnown = known !== undefined && current?.text === known.text;
    const state = await change(isKnown ? known.state : (current?.state ?? NO_PINS));
    if (state === undefined) return;
    await lock.check();
    await writeFileAtomically(path, textOf(owner, state), {
      mode: 0o600,
      folderMode: 0o700,
      forceMode: true,
      flush: false,
    });
  };
  await withFileLock(`${path}.lock`, update, { timeoutMs: LOCK_TIMEOUT_MS });
}

function textOf({ server, identity }: PinOwner, state: PinState): string {
  const pins = Object.fromEntries(
    KINDS.map((kind) => [kind, [...state.pins[kind]].map(([name, pin]) => ({ name, ...pin }))]),
  );
  const { lists, varies, changes } = state;
  return `${JSON.stringify({ version: VERSION, server, identity, lists, varies, pins, changes })}\n`;
}

function stateOf(value: Readonly<Record<string, unknown>>): PinState {
  const lists = isRecord(value.lists) ? value.lists : {};
  const pins = isRecord(value.pins) ? value.pins : {};
  return {
    lists: Object.fromEntries(KINDS.flatMap((kind) => (typeof lists[kind] === "string" ? [[kind, lists[kind]]] : []))),
    pins: { tools: pinsOf(pins.tools), prompts: pinsOf(pins.prompts), instructions: pinsOf(pins.instructions) },
    varies: value.varies === true,
    changes: recordsOf(value.changes).flatMap(changeOf),
  };
}

function pinsOf(value: unknown): Map<string, Pin> {
  return new Map(
    recordsOf(value).flatMap((raw): [string, Pin][] => {
      if (typeof raw.name !== "string") return [];
      const pin: Pin = {
        ...(typeof raw.hash === "string" ? { hash: raw.hash } : {}),
        ...(isRecord(raw.definition) ? { definition: raw.definition } : {}),
        accepted: Array.isArray(raw.accepted) ? raw.accepted.filter((hash) => typeof hash === "string") : [],
        variants: typeof raw.variants === "number" ? raw.variants : 1,
        ...(isRecord(raw.held) && typeof raw.held.hash === "string" ? { held: heldOf(raw.held, raw.held.hash) } : {}),
        ...(raw.gone === true ? { gone: true } : {}),
      };
      return [[raw.name, pin]];
    }),
  );
}

function heldOf(raw: Readonly<Record<string, unknown>>, hash: string): HeldDefinition {
  return {
    hash,
    ...(isRecord(raw.definition) ? { definition: raw.definition } : {}),
    reasons: reasonsOf(raw.reasons),
    since: String(raw.since),
  };
}

function changeOf(raw: Readonly<Record<string, unknown>>): PinChange[] {
  const kind = KINDS.find((each) => each === raw.kind);
  const change = (["new", "wording", "held", "approved"] as const).find((each) => each === raw.change);
  if (kind === undefined || change === undefined || typeof raw.name !== "string") return [];
  return [
    {
      at: String(raw.at),
      kind,
      name: raw.name,
      change,
      ...(raw.reasons === undefined ? {} : { reasons: reasonsOf(raw.reasons) }),
      ...(isRecord(raw.before) ? { before: raw.before } : {}),
      ...(isRecord(raw.after) ? { after: raw.after } : {}),
    },
  ];
}

function reasonsOf(value: unknown): HoldReason[] {
  return recordsOf(value).map(({ code, text }) => ({
    code: String(code) as HoldReason["code"], // written by this version, or shown as it is
    text: String(text),
  }));
}

function recordsOf(value: unknown): Definition[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
