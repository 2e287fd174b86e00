// Which of two versions, or of two builds of one version, is the newer one.

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

/** Compares versions by their numbers; a pre-release comes before its release. */
function compareVersions(a: string, b: string): number {
  const [aNumbers = "", aTag = ""] = a.split(/-(.*)/s);
  const [bNumbers = "", bTag = ""] = b.split(/-(.*)/s);
  const [aParts, bParts] = [aNumbers, bNumbers].map((text) => text.split(".").map(Number));
  for (let at = 0; at < 3; at++) {
    const difference = (aParts?.[at] ?? 0) - (bParts?.[at] ?? 0);
    if (difference !== 0) return difference;
  }
  if (aTag === bTag) return 0;
  if (aTag === "") return 1;
  if (bTag === "") return -1;
  return aTag < bTag ? -1 : 1;
}
