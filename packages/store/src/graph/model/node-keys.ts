// Node keys. A key names a node for good: it does not change with the order in which documents come, and it can be taken
// apart again.
import type { NodeType } from "./graph-model.js";

const FILE = "file:";
const SYMBOL = "symbol:";
const EXTERNAL = "external:";
const TAG = "tag:";
const COLLECTION = "collection:";
const CONTENT = "content:";
const VERSION = "version:";

/** The key of a document. */
export function fileKey(path: string): string {
  return FILE + path;
}

/** The key of a definition in a document. */
export function symbolKey(path: string, qualifiedName: string): string {
  return `${SYMBOL}${path}#${qualifiedName}`;
}

/** The key of what is known by name only: a package, a global function, a web address. */
export function externalKey(name: string): string {
  return EXTERNAL + name;
}

/** The key of a tag. */
export function tagKey(tag: string): string {
  return TAG + tag;
}

/** The key of a collection. */
export function collectionKey(name: string): string {
  return COLLECTION + name;
}

/** The key of a content, which documents with the same bytes share. */
export function contentKey(hash: string): string {
  return CONTENT + hash;
}

/** The key of an earlier version of a document. */
export function versionKey(path: string, hash: string): string {
  return `${VERSION}${path}#${hash}`;
}

/** A key in its parts. `name` is what a person calls the node. */
export interface ParsedKey {
  readonly space: "file" | "symbol" | "external" | "tag" | "collection" | "content" | "version";
  readonly name: string;
  /** The document that a file, symbol or version belongs to. */
  readonly path?: string;
  /** For a symbol. */
  readonly qualifiedName?: string;
  /** For a content or version. */
  readonly hash?: string;
}

/** Takes a key apart; undefined where it is none. */
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
      // A qualified name has no `#`, a path may have one.
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

/** The node type that a key tells by itself; that of a symbol has to be looked up. */
export function typeOfKey(key: string): NodeType | undefined {
  const space = parseKey(key)?.space;
  return space === "symbol" ? undefined : space;
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function nameOf(qualifiedName: string): string {
  const name = qualifiedName.slice(qualifiedName.lastIndexOf(".") + 1);
  return name.replace(/~\d+$/, "");
}
