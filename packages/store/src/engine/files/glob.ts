// Globs for paths, as in .gitignore: `*` and `?` stay within a name, `**` crosses folders, `{a,b}` and `[a-z]` work. A
// pattern without a slash matches the base name; one with a slash can start at any folder.
//
// Patterns come from clients and from files of strange projects, so matching never backtracks: a pattern is compiled to
// a small program whose states advance together. A path costs at most its length times that of the pattern.
import { TrunklineError } from "@trunkline/core";

const SPECIAL = /[*?[\]{}]/;
/** Longer than any path someone types. */
const MAX_PATTERN_CHARS = 1024;
/** Each star can multiply the time that a path takes. */
const MAX_STARS = 64;
const SLASH = "/";

/** Whether the text contains any glob characters. */
export function isGlob(text: string): boolean {
  return SPECIAL.test(text);
}

/** Compiles a glob to a test for paths. */
export function compileGlob(pattern: string): (path: string) => boolean {
  if (pattern.length > MAX_PATTERN_CHARS) {
    throw new TrunklineError("INVALID_ARGUMENT", `A glob has at most ${MAX_PATTERN_CHARS} characters.`);
  }
  if (starsIn(pattern) > MAX_STARS) {
    throw new TrunklineError("INVALID_ARGUMENT", `A glob has at most ${MAX_STARS} stars.`);
  }
  const trimmed = pattern.replace(/^\.\//, "").replace(/\/$/, "/**");
  const anchored = trimmed.startsWith("/") || /^[A-Za-z]:[\\/]/.test(trimmed);
  return matcherOf(programOf(trimmed, { braces: true }), anchored);
}

/** Counts `*` and `**`. */
export function starsIn(pattern: string): number {
  return pattern.match(/\*+/g)?.length ?? 0;
}

/** Compiles globs to a test that passes if any of them matches. An empty list matches nothing. */
export function compileGlobs(patterns: readonly string[] | undefined): (path: string) => boolean {
  const tests = (patterns ?? []).map(compileGlob);
  return (path) => tests.some((test) => test(path));
}

/** Compiles a glob without braces that has to match from the start of a path, as the rules of .gitignore do. */
export function compileAnchoredGlob(pattern: string): (path: string) => boolean {
  return matcherOf(programOf(pattern, { braces: false }), true);
}

/**
 * An instruction: `test` consumes a character and continues with the next instruction; without it, execution continues
 * at every target. The end of the program is a match.
 */
interface Instruction {
  readonly test?: (char: string) => boolean;
  readonly targets: number[];
}

const ANY = () => true;
const NOT_SLASH = (char: string) => char !== SLASH;

function programOf(pattern: string, { braces }: { braces: boolean }): Instruction[] {
  const chars = [...pattern];
  const program: Instruction[] = [];
  /** The open `{`: where the alternative starts, and the jumps from the end of each alternative. */
  const groups: { start: number; ends: Instruction[] }[] = [];
  const consume = (test: (char: string) => boolean) => void program.push({ test, targets: [] });
  const jump = (...targets: number[]) => {
    const instruction: Instruction = { targets };
    program.push(instruction);
    return instruction;
  };
  const repeat = (body: () => void) => {
    const from = program.length;
    const split = jump(from + 1);
    body();
    jump(from);
    split.targets.push(program.length);
  };
  for (let index = 0; index < chars.length; index++) {
    const char = chars[index] as string;
    const group = groups.at(-1);
    if (char === "*" && chars[index + 1] === "*") {
      while (chars[index + 1] === "*") index++;
      if (chars[index + 1] !== SLASH) repeat(() => consume(ANY));
      else {
        index++;
        repeat(() => {
          repeat(() => consume(NOT_SLASH));
          consume((given) => given === SLASH);
        });
      }
    } else if (char === "*") repeat(() => consume(NOT_SLASH));
    else if (char === "?") consume(NOT_SLASH);
    else if (char === "[" && chars.indexOf("]", index + 2) !== -1) {
      const close = chars.indexOf("]", index + 2);
      consume(classOf(chars.slice(index + 1, close)));
      index = close;
    } else if (braces && char === "{" && chars.indexOf("}", index) !== -1) {
      groups.push({ start: program.length, ends: [] });
      jump(program.length + 1);
    } else if (char === "}" && group !== undefined) {
      groups.pop();
      for (const end of group.ends) end.targets.push(program.length);
    } else if (char === "," && group !== undefined) {
      group.ends.push(jump());
      program[group.start]?.targets.push(program.length);
    } else {
      const literal = char === "\\" && index + 1 < chars.length ? (chars[++index] as string) : char;
      consume((given) => given === literal);
    }
  }
  // An inner brace that is never closed ends with the pattern.
  for (const { ends } of groups) for (const end of ends) end.targets.push(program.length);
  return program;
}

/** The test of `[a-z]`, `[!a-z]` or `[^a-z]`, given what is between the brackets. */
function classOf(body: readonly string[]): (char: string) => boolean {
  const isNegated = body[0] === "!" || body[0] === "^";
  const chars = isNegated ? body.slice(1) : body;
  const ranges: [number, number][] = [];
  for (let index = 0; index < chars.length; index++) {
    const from = codeOf(chars[index]);
    const isRange = chars[index + 1] === "-" && index + 2 < chars.length;
    ranges.push([from, isRange ? codeOf(chars[index + 2]) : from]);
    if (isRange) index += 2;
  }
  return (char) => {
    const code = codeOf(char);
    return ranges.some(([from, to]) => code >= from && code <= to) !== isNegated;
  };
}

function codeOf(char = ""): number {
  return char.codePointAt(0) ?? 0;
}

/** Runs a program on a path: from its start, and unless it is anchored, from every folder in it. */
function matcherOf(program: readonly Instruction[], anchored: boolean): (path: string) => boolean {
  const end = program.length;
  const addedAt = new Uint32Array(end + 1);
  let step = 0;
  let [current, next]: [number[], number[]] = [[], []];
  /** Adds a state and everything that can be reached from it without a character. */
  const enter = (states: number[], from: number) => {
    const waiting = [from];
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      if (addedAt[at] === step) continue;
      addedAt[at] = step;
      const instruction = program[at];
      if (instruction === undefined || instruction.test !== undefined) states.push(at);
      else waiting.push(...instruction.targets);
    }
  };
  const begin = () => {
    step++;
    if (step < 0xffff_ffff) return;
    addedAt.fill(0);
    step = 1;
  };
  return (path) => {
    current.length = 0;
    begin();
    enter(current, 0);
    for (const char of path) {
      begin();
      next.length = 0;
      for (const at of current) if (program[at]?.test?.(char)) enter(next, at + 1);
      if (!anchored && char === SLASH) enter(next, 0);
      [current, next] = [next, current];
      if (anchored && current.length === 0) return false;
    }
    return current.includes(end);
  };
}
