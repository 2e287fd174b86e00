// What a store must contain after the acknowledged steps, computed in the simplest possible way.
import { createHash } from "node:crypto";
import { posix } from "node:path";

export interface ModelDocument {
  readonly collection: string;
  readonly path: string;
  readonly isFile: boolean;
  text: string;
  state: "live" | "removed" | "trash";
  readonly tags: Set<string>;
  /** The hashes of its versions, oldest first. */
  readonly versions: string[];
}

export interface ModelSnapshot {
  readonly id: string;
  readonly collection: string;
  /** The text of each document, by path. */
  readonly texts: ReadonlyMap<string, string>;
}

export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

export class TruthModel {
  readonly #documents = new Map<string, ModelDocument>();
  readonly snapshots: ModelSnapshot[] = [];
  /** Contents that gc may have removed. */
  readonly collectable = new Set<string>();

  documents(state?: ModelDocument["state"]): ModelDocument[] {
    const all = [...this.#documents.values()];
    return state === undefined ? all : all.filter((document) => document.state === state);
  }

  put(place: { collection: string; path: string; isFile: boolean }, text: string, tags: readonly string[] = []): void {
    const key = `${place.collection}\0${place.path}`;
    const document = this.#documents.get(key) ?? { ...place, text, state: "live", tags: new Set(), versions: [] };
    this.#documents.set(key, document);
    const hash = hashOf(text);
    if (document.versions.at(-1) !== hash) document.versions.push(hash);
    document.text = text;
    document.state = "live";
    for (const tag of tags) document.tags.add(tag);
  }

  /** Adds a folder with exactly these files. */
  putFolder(
    { collection, folder }: { collection: string; folder: string },
    files: ReadonlyMap<string, string>,
    tags: readonly string[] = [],
  ): void {
    for (const [path, text] of files) this.put({ collection, path, isFile: true }, text, tags);
    for (const document of this.documents("live")) {
      const isIn = document.collection === collection && document.path.startsWith(`${folder}/`);
      if (isIn && document.isFile && !files.has(document.path)) document.state = "removed";
    }
  }

  snapshot(id: string, collection: string): void {
    const own = this.documents("live").filter((document) => document.collection === collection);
    this.snapshots.push({ id, collection, texts: new Map(own.map(({ path, text }) => [path, text])) });
  }

  /** Empties the trash. A document that a snapshot contains stays as a removed one. */
  gc(): void {
    for (const [key, document] of this.#documents) {
      if (document.state !== "trash") continue;
      const texts = this.snapshots.flatMap(({ collection, texts: own }) =>
        collection === document.collection ? (own.get(document.path) ?? []) : [],
      );
      const kept = new Set(texts.map(hashOf));
      for (const hash of document.versions) if (!kept.has(hash)) this.collectable.add(hash);
      const versions = document.versions.filter((hash) => kept.has(hash));
      if (versions.length === 0) this.#documents.delete(key);
      else {
        document.state = "removed";
        document.versions.splice(0, document.versions.length, ...versions);
      }
    }
  }
}

/** The functions that a text defines. */
export function functionsIn({ path, text }: { path: string; text: string }): string[] {
  return path.endsWith(".ts") ? [...text.matchAll(/function (\w+)/g)].map((match) => match[1] as string) : [];
}

/** The paths that a text imports. */
export function importsIn({ path, text }: { path: string; text: string }): string[] {
  if (!path.endsWith(".ts")) return [];
  const found = [...text.matchAll(/from "(\.[^"]+)\.js"/g)].map((match) => `${match[1]}.ts`);
  return [...new Set(found.map((target) => posix.join(posix.dirname(path), target)))];
}
