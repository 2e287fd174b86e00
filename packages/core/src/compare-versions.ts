/** Compares versions by their numbers; a pre-release comes before its release. NaN if one is not a version. */
export function compareVersions(a: string, b: string): number {
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
