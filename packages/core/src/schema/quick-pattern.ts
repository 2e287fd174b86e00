// Regular expressions of others, in the page's own thread: JavaScript's can take forever, so only those are used whose
// work can be told beforehand.

/** Texts and patterns longer than this are not matched. */
export const MAX_MATCHED_CHARS = 500;
/** How many ways to match may have to be tried from one character, and from all of them. */
const MOST_WAYS = 10_000;
const MOST_WAYS_IN_ALL = 500_000;

const REPEAT = /[*+?]|\{(\d+)(,(\d*))?\}/y;
const GROUP = /\((?:\?(?:(<?[=!])|<[^>]*>|[a-z-]*:))?/y;
const CHARACTER = /\\(?:[pPu]\{[^}]*\}|c[A-Za-z]|[^1-9k])|\[(?:[^\]\\]|\\.)*\]|[^\\[\](){}*+?|]/sy;

interface Group {
  readonly isLookaround: boolean;
  alternatives: number;
}

/**
 * Whether a pattern is certain to be matched quickly: at most one repetition without an end, no repeated group, no
 * lookaround with a repetition, no backreference, and few combinations of everything optional. A false is no judgement
 * of the pattern: most such patterns are quick, too.
 */
export function isQuickPattern(pattern: string): boolean {
  if (pattern.length > MAX_MATCHED_CHARS) return false;
  const groups: Group[] = [{ isLookaround: false, alternatives: 1 }];
  let at = 0;
  const take = (token: RegExp): RegExpExecArray | null => {
    token.lastIndex = at;
    const found = token.exec(pattern);
    if (found !== null) at = token.lastIndex;
    return found;
  };
  let ways = 1;
  let endless = 0;
  /** Whether what comes before can be repeated. */
  let isCharacter = false;
  while (at < pattern.length) {
    const group = groups.at(-1);
    if (group === undefined) return false;
    const repeat = take(REPEAT);
    if (repeat !== null) {
      if (!isCharacter || groups.some(({ isLookaround }) => isLookaround)) return false;
      const choices = choicesIn(repeat);
      if (choices === Number.POSITIVE_INFINITY) endless++;
      ways *= Math.min(choices, MAX_MATCHED_CHARS);
      // It may be lazy.
      if (pattern[at] === "?") at++;
      isCharacter = false;
      continue;
    }
    const opened = take(GROUP);
    if (opened !== null) groups.push({ isLookaround: opened[1] !== undefined, alternatives: 1 });
    isCharacter = opened === null && take(CHARACTER) !== null;
    if (opened !== null || isCharacter) continue;
    if (pattern[at] === "|") group.alternatives++;
    else if (pattern[at] === ")") ways *= groups.pop()?.alternatives ?? 1;
    else return false;
    at++;
  }
  const [whole] = groups;
  if (whole === undefined || groups.length > 1) return false;
  // Without an anchor, matching begins at every character.
  const starts = pattern.startsWith("^") && whole.alternatives === 1 ? 1 : MAX_MATCHED_CHARS;
  ways *= whole.alternatives;
  return endless <= 1 && ways <= MOST_WAYS && ways * starts <= MOST_WAYS_IN_ALL;
}

function choicesIn([text, from, comma, to]: RegExpExecArray): number {
  if (text === "?") return 2;
  if (from === undefined || to === "") return Number.POSITIVE_INFINITY;
  return comma === undefined ? 1 : Number(to) - Number(from) + 1;
}
