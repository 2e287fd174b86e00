// Settings for `serve --surface auto`: which tools are always listed, what tool lists may cost, and which surface a client
// gets. None of them decides what a client may call.
import { hasControls, nearestNames, withoutUndefined } from "@trunkline/core";
import type { ConfigScope } from "./loaded-config.js";
import { type ConfigNode, kindOf, memberOf, textOf } from "./tree.js";

/** What a client gets under `auto`: every upstream tool, ours plus favourites, or whichever is cheaper. */
export type ClientSurface = "direct" | "composite" | "auto";

export interface SurfaceSettings {
  /** Every tool is listed if all of them together cost at most this many tokens. */
  readonly directTokens?: number;
  /** What favourites may cost together, in tokens. */
  readonly favouriteTokens?: number;
  /** By glob over the name that a client reports. */
  readonly clients?: Readonly<Record<string, ClientSurface>>;
}

type Warn = (node: ConfigNode, message: string) => void;

const CLIENT_SURFACES: readonly ClientSurface[] = ["direct", "composite", "auto"];
const LIMITS = ["directTokens", "favouriteTokens"] as const;
const KEYS: readonly string[] = [...LIMITS, "clients"];
const MAX_TOKENS = 1_000_000;
/** A list is matched against every tool. */
const MAX_FAVOURITES = 200;
const MAX_NAME_CHARS = 200;

/** Reads `"surface": {"directTokens": 1200, "favouriteTokens": 800, "clients": {"my-agent": "direct"}}`. */
export function readSurface(node: ConfigNode, warn: Warn): SurfaceSettings | undefined {
  if (node.kind !== "map") {
    warn(node, `"surface" is ${kindOf(node)}, not an object such as { "directTokens": 1200 }`);
    return undefined;
  }
  for (const { key, value } of node.members) {
    if (KEYS.includes(key)) continue;
    const near = nearestNames(key, KEYS, 1)[0];
    warn(value, `"surface.${key}" is not a setting${near === undefined ? "" : ` (did you mean "${near}"?)`}`);
  }
  const limits = LIMITS.flatMap((name): [string, number][] => {
    const member = memberOf(node, name);
    if (member === undefined) return [];
    const tokens = member.kind === "scalar" && typeof member.value === "number" ? member.value : Number.NaN;
    if (Number.isInteger(tokens) && tokens >= 0 && tokens <= MAX_TOKENS) return [[name, tokens]];
    warn(member, `"surface.${name}" must be a whole number of tokens from 0 to ${MAX_TOKENS}; the default is used`);
    return [];
  });
  const clients = readClients(memberOf(node, "clients"), warn);
  return withoutUndefined({ ...Object.fromEntries(limits), clients });
}

function readClients(node: ConfigNode | undefined, warn: Warn): SurfaceSettings["clients"] {
  if (node === undefined) return undefined;
  if (node.kind !== "map") {
    warn(node, `"surface.clients" is ${kindOf(node)}, not an object such as { "my-agent": "direct" }`);
    return undefined;
  }
  const clients = node.members.flatMap(({ key, value }): [string, ClientSurface][] => {
    const text = textOf(value) ?? "";
    const surface = CLIENT_SURFACES.find((known) => known === text.toLowerCase());
    if (surface !== undefined) return [[key, surface]];
    const near = nearestNames(text, CLIENT_SURFACES, 1)[0];
    const guess = near === undefined ? "" : ` (did you mean "${near}"?)`;
    warn(value, `the surface for "${key}" must be "direct", "composite" or "auto"${guess}; it is ignored`);
    return [];
  });
  return Object.fromEntries(clients);
}

/** Reads `"favourites": ["github.create_issue", "docs.*"]`. Entries that cannot name a tool are left out. */
export function readFavourites(node: ConfigNode, warn: Warn): readonly string[] | undefined {
  if (node.kind !== "list") {
    warn(node, `"favourites" is ${kindOf(node)}, not a list of tools such as ["github.create_issue", "docs.*"]`);
    return undefined;
  }
  if (node.items.length > MAX_FAVOURITES)
    warn(node, `"favourites" has more than ${MAX_FAVOURITES} entries; the rest is ignored`);
  return node.items.slice(0, MAX_FAVOURITES).flatMap((item) => {
    const text = item.kind === "scalar" && typeof item.value === "string" ? item.value : undefined;
    if (text !== undefined && /^[^.]+\../.test(text) && text.length <= MAX_NAME_CHARS && !hasControls(text))
      return [text];
    const shown = text === undefined || text.length > MAX_NAME_CHARS ? kindOf(item) : JSON.stringify(text);
    warn(item, `"favourites" contains ${shown}; write a tool as "server.tool", or several as "server.*"`);
    return [];
  });
}

interface SurfaceOfFile {
  readonly scope: ConfigScope;
  readonly surface?: SurfaceSettings;
  readonly favourites?: readonly string[];
}

/** The settings of all files: for each limit and client the strongest file counts, and favourites add up. */
export interface MergedSurface {
  readonly surface?: SurfaceSettings;
  /** Globs over `server.tool`, from the user's own files. */
  readonly favourites?: readonly string[];
  /** The same from the project's files: they come after everything that the user chose or uses. */
  readonly projectFavourites?: readonly string[];
}

export function mergeSurface(files: readonly SurfaceOfFile[]): MergedSurface {
  // The last one wins when objects are merged.
  const weakestFirst = files.flatMap(({ surface }) => (surface === undefined ? [] : [surface])).reverse();
  const clients: Record<string, ClientSurface> = Object.assign({}, ...weakestFirst.map((surface) => surface.clients));
  const surface: SurfaceSettings = Object.assign(
    {},
    ...weakestFirst,
    Object.keys(clients).length === 0 ? {} : { clients },
  );
  const named = (isProject: boolean) => [
    ...new Set(
      files.filter(({ scope }) => (scope === "project") === isProject).flatMap((file) => file.favourites ?? []),
    ),
  ];
  const [favourites, projectFavourites] = [named(false), named(true)];
  return {
    ...(Object.keys(surface).length === 0 ? {} : { surface }),
    ...(favourites.length === 0 ? {} : { favourites }),
    ...(projectFavourites.length === 0 ? {} : { projectFavourites }),
  };
}
