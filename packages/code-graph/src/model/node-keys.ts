// Node keys. A key identifies a node permanently: it does not depend on the order in which documents arrive, and it can
// be parsed again.
import type { NodeType } from "./graph-model.js";

const FILE = "file:";
const SYMBOL = "symbol:";
const EXTERNAL = "external:";
const TAG = "tag:";
const COLLECTION = "collection:";
const CONTENT = "content:";
const VERSION = "version:";

export function fileKey(path: string): string {
  return FILE + path;
}

export function symbolKey(path: string, qualifiedName: string): string {
  return `${SYMBOL}${path}#${qualifiedName}`;
}

/** Returns the key of something known only by name: a package, a global function, a URL. */
export function externalKey(name: string): string {
  return EXTERNAL + name;
}

export function tagKey(tag: string): string {
  return TAG + tag;
}

export function collectionKey(name: string): string {
  return COLLECTION + name;
}

/** Returns the key of a content, shared by documents with the same bytes. */
export function contentKey(hash: string): string {
  return CONTENT + hash;
}

/** Returns the key of an earlier version of a document. */
export function versionKey(path: string, hash: string): string {
  return `${VERSION}${path}#${hash}`;
}

/** A parsed key. `name` is the display name of the node. */
export interface ParsedKey {
  readonly space: "file" | "symbol" | "external" | "tag" | "collection" | "content" | "version";
  readonly name: string;
  /** For a file, symbol or version: the path of its document. */
  readonly path?: string;
  /** For a symbol. */
  readonly qualifiedName?: string;
  /** For a content or version. */
  readonly hash?: string;
}

/** Parses a key; undefined if it is invalid. */
export function parseKey(key: string): ParsedKey | undefined {
  const colon = key.indexOf(":");
  if (colon < 1 || colon === key.length - 1) return undefined;
  const space = key.slice(0, colon);
  const rest = key.slice(colon + 1);
  switch (space) {
    case "file":
      return { space, name: baseName(rest), path: rest };
    case "symbol":
    case "version": {
      // A qualified name contains no `#`, but a path can.
      const hash = rest.lastIndexOf("#");
      if (hash < 1 || hash === rest.length - 1) return undefined;
      const path = rest.slice(0, hash);
      const own = rest.slice(hash + 1);
      if (space === "version") return { space, name: baseName(path), path, hash: own };
      return { space, name: nameOf(own), path, qualifiedName: own };
    }
    case "content":
      return { space, name: rest, hash: rest };
    case "external":
    case "tag":
    case "collection":
      return { space, name: rest };
    default:
      return undefined;
  }
}

/** Returns the node type if the key alone determines it; a symbol's type has to be looked up. */
export function typeOfKey(key: string): NodeType | undefined {
  const space = parseKey(key)?.space;
  return space === "symbol" ? undefined : space;
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Returns the last part of a qualified name, without the number of a second definition. */
export function nameOf(qualifiedName: string): string {
  const name = qualifiedName.slice(qualifiedName.lastIndexOf(".") + 1);
  return name.replace(/~\d+$/, "");
}
