// What is pinned for the servers of a configuration, read from the files: connects nothing.
import type { ServerDefinition } from "@trunkline/config";
import { pinFolder, pinOwner, pinPath, readPins, updatePins } from "./pin-file.js";
import { approveHeld, type HeldDefinition, type Pin, type PinChange, type PinState } from "./pin-state.js";
import type { Definition, PinKind } from "./pinned-definition.js";

/** The pins of one server. */
interface ServerPinReport {
  readonly server: string;
  /** How many definitions are accepted and still listed. */
  readonly pinned: number;
  /** Accepted tools that the server did not list last time. */
  readonly gone: readonly string[];
  readonly varies: boolean;
  readonly held: readonly HeldPin[];
  /** Newest last. */
  readonly changes: readonly PinChange[];
}

export interface HeldPin extends HeldDefinition {
  readonly server: string;
  readonly kind: PinKind;
  readonly name: string;
  /** The accepted definition. */
  readonly before?: Definition;
}

const KINDS: readonly PinKind[] = ["tools", "prompts", "instructions"];

/** Reads the pins of these servers; servers that were never connected are left out. Unreadable files count as empty. */
export async function reportPins(home: string, servers: readonly ServerDefinition[]): Promise<ServerPinReport[]> {
  const reports = await Promise.all(
    servers.map(async (definition) => {
      const path = pinPath(pinFolder(home), pinOwner(definition));
      const read = await readPins(path).catch(() => undefined);
      return read === undefined ? [] : [reportOf(definition.name, read.state)];
    }),
  );
  return reports.flat();
}

/** Accepts held definitions exactly as they were read: what has changed since stays held. */
export async function approvePins(
  home: string,
  servers: readonly ServerDefinition[],
  chosen: readonly HeldPin[],
): Promise<void> {
  for (const definition of servers) {
    const own = chosen.filter(({ server }) => server === definition.name);
    if (own.length === 0) continue;
    const owner = pinOwner(definition);
    const path = pinPath(pinFolder(home), owner);
    await updatePins({ path, owner }, async (current) => {
      const next = approveHeld(current, own);
      return next === current ? undefined : next;
    });
  }
}

function reportOf(server: string, { pins, varies, changes }: PinState): ServerPinReport {
  const all = KINDS.flatMap((kind) => [...pins[kind]].map(([name, pin]): [PinKind, string, Pin] => [kind, name, pin]));
  return {
    server,
    pinned: all.filter(([, , pin]) => pin.hash !== undefined && pin.gone !== true).length,
    gone: all.flatMap(([kind, name, pin]) => (kind === "tools" && pin.gone === true ? [name] : [])),
    varies,
    held: all.flatMap(([kind, name, pin]) =>
      pin.held === undefined || pin.gone === true ? [] : [{ ...pin.held, server, kind, name, before: pin.definition }],
    ),
    changes,
  };
}
