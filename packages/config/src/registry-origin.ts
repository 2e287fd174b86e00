// Where an entry came from, if `servers add` took it from a registry: `"registry": {"name": "io.github.ada/docs", …}`.
// Other programs ignore the field. It is a record: it decides neither what runs nor where data goes.
import type { FieldReader } from "./field-reader.js";

export interface RegistryOrigin {
  /** The server's name in the registry: `io.github.ada/docs`. */
  readonly name: string;
  readonly version: string;
  /** The registry's address. */
  readonly url: string;
  /** The hash of what was pinned, as its package manager writes it: `sha512-…` or `sha256:…`. */
  readonly hash?: string;
}

/** A registry's names: a reversed domain, one slash, and the server. */
export function isRegistryName(text: string): boolean {
  return text.length <= 200 && /^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/.test(text);
}

/** Other programs have a field of this name, too. Anything that is not ours is ignored. */
export function readRegistryOrigin(fields: FieldReader): RegistryOrigin | undefined {
  const text = (field: string) => fields.string(`registry.${field}`, { quiet: true })?.text;
  const [name, version, url, hash] = ["name", "version", "url", "hash"].map(text);
  if (name === undefined || version === undefined || url === undefined || !isRegistryName(name)) return undefined;
  return { name, version, url, hash };
}
