// Derives what a text must contain for a pattern to match: one literal, for a quick byte search, and a condition on
// trigrams, for an index. Both err only on the side of "may match". The trigram part follows Russ Cox, "Regular
// Expression Matching with a Trigram Index".
import { type CharSet, members, sizeOf } from "./char-set.js";
import type { Node } from "./syntax.js";

/** A condition on the trigrams (three consecutive characters) of a text. */
export type TrigramQuery =
  | { readonly kind: "trigram"; readonly text: string }
  | { readonly kind: "and" | "or"; readonly of: readonly TrigramQuery[] };

/**
 * Folds a character before it is part of a trigram: ASCII, the long s and the Kelvin sign. Other letters are left alone;
 * a query lists each of their cases.
 */
export function foldAscii(codePoint: number): number {
  if (codePoint >= 0x41 && codePoint <= 0x5a) return codePoint + 32;
  if (codePoint === 0x017f) return 0x73;
  if (codePoint === 0x212a) return 0x6b;
  return codePoint;
}

/** `undefined` means no condition at all. */
type Condition = TrigramQuery | undefined;

interface Info {
  readonly canBeEmpty: boolean;
  /** Everything the node matches, if that is little. */
  readonly exact: ReadonlySet<string> | undefined;
  /** Every match starts with one of `prefix` and ends with one of `suffix`. */
  readonly prefix: ReadonlySet<string>;
  readonly suffix: ReadonlySet<string>;
  readonly match: Condition;
}

const MAX_EXACT = 8;
const MAX_SET = 20;
const MAX_CLASS = 8;
const MAX_REPEATS = 6;
const NOTHING: ReadonlySet<string> = new Set([""]);
const ANYTHING: Info = { canBeEmpty: false, exact: undefined, prefix: NOTHING, suffix: NOTHING, match: undefined };
const EMPTY_INFO: Info = { canBeEmpty: true, exact: NOTHING, prefix: NOTHING, suffix: NOTHING, match: undefined };

/** Returns the condition that a matching text fulfils; "none" if the pattern has no literal that is long enough. */
export function trigramQuery(node: Node): TrigramQuery | "none" {
  const info = simplify(infoOf(node), true);
  return (info.exact === undefined ? info.match : andStrings(info.match, info.exact)) ?? "none";
}

function infoOf(node: Node): Info {
  switch (node.kind) {
    case "empty":
    case "look":
      return EMPTY_INFO;
    case "set":
      return infoOfSet(node.set, node.bytes === true);
    case "concat":
      return node.parts.reduce<Info>((left, part) => join(left, infoOf(part)), EMPTY_INFO);
    case "alternate":
      return node.branches.map((branch) => infoOf(branch)).reduce(either);
    case "repeat": {
      if (node.max === 0) return EMPTY_INFO;
      const once = infoOf(node.node);
      const more: Info = { ...ANYTHING, canBeEmpty: true };
      if (node.min === 0) return node.max === 1 ? either(once, EMPTY_INFO) : more;
      let info = once;
      for (let count = 1; count < Math.min(node.min, MAX_REPEATS); count++) info = join(info, once);
      return node.min === node.max && node.min <= MAX_REPEATS ? info : join(info, more);
    }
  }
}

function infoOfSet(set: CharSet, bytes: boolean): Info {
  if (bytes || sizeOf(set) > MAX_CLASS * 3) return ANYTHING;
  const exact = new Set([...members(set)].map((codePoint) => String.fromCodePoint(foldAscii(codePoint))));
  if (exact.size > MAX_CLASS) return ANYTHING;
  return { canBeEmpty: false, exact, prefix: NOTHING, suffix: NOTHING, match: undefined };
}

function join(left: Info, right: Info): Info {
  const canBeEmpty = left.canBeEmpty && right.canBeEmpty;
  const match = and(left.match, right.match);
  if (left.exact && right.exact) {
    return simplify({ canBeEmpty, exact: cross(left.exact, right.exact), prefix: NOTHING, suffix: NOTHING, match });
  }
  const prefix = left.exact
    ? cross(left.exact, right.prefix)
    : left.canBeEmpty
      ? unite(left.prefix, right.exact ?? right.prefix)
      : left.prefix;
  const suffix = right.exact
    ? cross(left.suffix, right.exact)
    : right.canBeEmpty
      ? unite(right.suffix, left.exact ?? left.suffix)
      : right.suffix;
  const between = left.exact || right.exact ? match : andStrings(match, cross(left.suffix, right.prefix));
  return simplify({ canBeEmpty, exact: undefined, prefix, suffix, match: between });
}

function either(left: Info, right: Info): Info {
  const canBeEmpty = left.canBeEmpty || right.canBeEmpty;
  if (left.exact && right.exact) {
    return simplify({
      canBeEmpty,
      exact: unite(left.exact, right.exact),
      prefix: NOTHING,
      suffix: NOTHING,
      match: or(left.match, right.match),
    });
  }
  const conditionOf = (info: Info) => (info.exact ? andStrings(info.match, info.exact) : info.match);
  return simplify({
    canBeEmpty,
    exact: undefined,
    prefix: unite(left.exact ?? left.prefix, right.exact ?? right.prefix),
    suffix: unite(left.exact ?? left.suffix, right.exact ?? right.suffix),
    match: or(conditionOf(left), conditionOf(right)),
  });
}

/** Keeps the sets small by moving their content into the condition and keeping only their ends. */
function simplify(info: Info, force = false): Info {
  if (info.exact) {
    const shortest = minLength(info.exact);
    if (info.exact.size <= MAX_EXACT && shortest < 4 && !(force && shortest >= 3)) return info;
    return {
      canBeEmpty: info.canBeEmpty,
      exact: undefined,
      prefix: new Set([...info.exact].map((text) => firstChars(text, 2))),
      suffix: new Set([...info.exact].map((text) => lastChars(text, 2))),
      match: andStrings(info.match, info.exact),
    };
  }
  const [prefix, afterPrefix] = shorten(info.prefix, info.match, firstChars);
  const [suffix, match] = shorten(info.suffix, afterPrefix, lastChars);
  return { ...info, prefix, suffix, match };
}

function shorten(
  set: ReadonlySet<string>,
  match: Condition,
  end: (text: string, count: number) => string,
): [ReadonlySet<string>, Condition] {
  const condition = andStrings(match, set);
  for (let length = 2; length > 0; length--) {
    const short = new Set([...set].map((text) => end(text, length)));
    if (short.has("")) return [NOTHING, condition];
    if (short.size <= MAX_SET) return [short, condition];
  }
  return [NOTHING, condition];
}

function cross(left: ReadonlySet<string>, right: ReadonlySet<string>): ReadonlySet<string> {
  if (left.size * right.size > MAX_SET * MAX_SET) return NOTHING;
  const result = new Set<string>();
  for (const a of left) for (const b of right) result.add(a + b);
  return result;
}

function unite(left: ReadonlySet<string>, right: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...left, ...right]);
}

function firstChars(text: string, count: number): string {
  return [...text].slice(0, count).join("");
}

function lastChars(text: string, count: number): string {
  return count === 0 ? "" : [...text].slice(-count).join("");
}

function minLength(set: ReadonlySet<string>): number {
  return Math.min(...[...set].map((text) => [...text].length));
}

/**
 * Adds to the condition that the text contains one of the strings, by their trigrams. A string that is too short says
 * nothing, so the whole set says nothing.
 */
function andStrings(condition: Condition, strings: ReadonlySet<string>): Condition {
  if (strings.size === 0 || minLength(strings) < 3) return condition;
  const ways = [...strings].map((text): Condition => {
    const chars = [...text];
    const trigrams: TrigramQuery[] = [];
    for (let index = 0; index + 3 <= chars.length; index++) {
      trigrams.push({ kind: "trigram", text: chars.slice(index, index + 3).join("") });
    }
    return combine("and", trigrams);
  });
  return and(condition, ways.reduce(or));
}

function and(left: Condition, right: Condition): Condition {
  if (left === undefined) return right;
  return right === undefined ? left : combine("and", [left, right]);
}

function or(left: Condition, right: Condition): Condition {
  return left === undefined || right === undefined ? undefined : combine("or", [left, right]);
}

function combine(kind: "and" | "or", conditions: readonly TrigramQuery[]): TrigramQuery {
  const flat = new Map<string, TrigramQuery>();
  for (const condition of conditions) {
    const parts = condition.kind === kind ? condition.of : [condition];
    for (const part of parts) flat.set(JSON.stringify(part), part);
  }
  const of = [...flat.values()];
  return of.length === 1 ? (of[0] as TrigramQuery) : { kind, of };
}

/** Returns the condition as text. Equal conditions have equal texts. */
export function queryText(query: TrigramQuery): string {
  if (query.kind === "trigram") return JSON.stringify(query.text);
  return `(${query.of.map(queryText).join(query.kind === "and" ? " AND " : " OR ")})`;
}

/** Whether a text with known trigrams may match. */
export function mayMatch(query: TrigramQuery | "none", contains: (trigram: string) => boolean): boolean {
  if (query === "none") return true;
  if (query.kind === "trigram") return contains(query.text);
  if (query.kind === "and") return query.of.every((part) => mayMatch(part, contains));
  return query.of.some((part) => mayMatch(part, contains));
}

/** A text that every match contains. */
export interface RequiredLiteral {
  readonly text: string;
  /** Whether the pattern is only this text, so finding it is a match. */
  readonly whole: boolean;
}

/** Returns the longest literal that the pattern requires. */
export function requiredLiteral(node: Node): RequiredLiteral | undefined {
  let best = "";
  let run = "";
  const end = (): void => {
    if (run.length > best.length) best = run;
    run = "";
  };
  const visit = (part: Node): void => {
    switch (part.kind) {
      case "empty":
      case "look":
        return;
      case "set":
        if (part.bytes !== true && part.set.length === 2 && part.set[0] === part.set[1]) {
          run += String.fromCodePoint(part.set[0] as number);
        } else end();
        return;
      case "concat":
        for (const inner of part.parts) visit(inner);
        return;
      case "alternate":
        end();
        return;
      case "repeat":
        if (part.min === 0) end();
        else {
          // The node occurs once, then possibly more often.
          visit(part.node);
          end();
        }
        return;
    }
  };
  visit(node);
  end();
  return best === "" ? undefined : { text: best, whole: isPlain(node) };
}

function isPlain(node: Node): boolean {
  if (node.kind === "set") return node.bytes !== true && node.set.length === 2 && node.set[0] === node.set[1];
  return node.kind === "concat" && node.parts.every((part) => isPlain(part));
}
