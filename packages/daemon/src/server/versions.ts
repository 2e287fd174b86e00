// Which of two versions, or of two builds of one version, is the newer one.
import { compareVersions } from "@trunkline/core";

/**
 * Whether the other side is a newer version, or a newer build of the same installation. Two installations of one version
 * share a broker: neither replaces the other's.
 */
export function isNewer(
  other: { readonly version: string; readonly build: string },
  own: { readonly version: string; readonly build: string },
): boolean {
  const order = compareVersions(other.version, own.version);
  if (order !== 0) return order > 0;
  const [otherPath, otherStamp] = splitBuild(other.build);
  const [ownPath, ownStamp] = splitBuild(own.build);
  return otherPath === ownPath && otherStamp > ownStamp;
}

function splitBuild(build: string): [string, number] {
  const at = build.lastIndexOf("@");
  return [build.slice(0, at), Number(build.slice(at + 1))];
}
