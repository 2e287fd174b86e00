// Names as users and models type them: globs, and finding the intended name.

const MAX_SUGGESTION_LENGTH = 256;

/**
 * Whether a glob matches the whole name, case-sensitively: `*` matches any run of characters, including dots, `?` one
 * character. Takes at most time proportional to both lengths, whatever the pattern.
 */
export function matchesGlob(pattern: string, name: string): boolean {
  const [wanted, given] = [[...pattern], [...name]];
  let [at, from] = [0, 0];
  let star: { at: number; from: number } | undefined;
  while (from < given.length) {
    if (wanted[at] === "*") {
      star = { at, from };
      at++;
    } else if (at < wanted.length && (wanted[at] === "?" || wanted[at] === given[from])) {
      at++;
      from++;
    } else if (star !== undefined) {
      // Let the last star match one more character; earlier stars never need to.
      star.from++;
      at = star.at + 1;
      from = star.from;
    } else return false;
  }
  while (wanted[at] === "*") at++;
  return at === wanted.length;
}

export function isGlob(name: string): boolean {
  return /[*?]/.test(name);
}

/** Finds the names closest to `name`, best first, without any that are too different to be a typo. */
export function nearestNames(name: string, names: readonly string[], limit = 3): string[] {
  return names
    .map((candidate) => ({ candidate, distance: typingDistance(name, candidate) }))
    .filter(({ distance }) => distance < Number.POSITIVE_INFINITY)
    .sort((a, b) => a.distance - b.distance || byCodeUnit(a.candidate, b.candidate))
    .slice(0, limit)
    .map(({ candidate }) => candidate);
}

/** Counts the typos between two names, ignoring case; infinite if typos no longer explain the difference. */
export function typingDistance(name: string, candidate: string): number {
  // Short names must share a character, or all of them would be close.
  const atMost = Math.min(Math.max(2, Math.floor(candidate.length / 3)), Math.max(name.length, candidate.length) - 1);
  const tooLong = Math.max(name.length, candidate.length) > MAX_SUGGESTION_LENGTH;
  if (tooLong || Math.abs(name.length - candidate.length) > atMost) return Number.POSITIVE_INFINITY;
  const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
  return distance <= atMost ? distance : Number.POSITIVE_INFINITY;
}

/** Compares two texts the same way on every machine, unlike `localeCompare`. */
export function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const substitution = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      current.push(Math.min(substitution, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}
