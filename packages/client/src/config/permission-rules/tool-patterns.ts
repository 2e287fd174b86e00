// Which servers a pattern over tool names could mean. A server's tools are not known here, so a pattern that could
// match one of them counts as one that does. No pattern is run: those of a project can be made to take forever.

/** Returns what follows `prefix` in the names that the glob matches: a glob over tools. Undefined if it matches none. */
export function toolGlob(glob: string, prefix: string): string | undefined {
  if (glob.startsWith(prefix)) return glob.slice(prefix.length) || "*";
  const [literal = ""] = glob.split(/[*?]/, 1);
  return literal.length < glob.length && prefix.startsWith(literal) ? "*" : undefined;
}

/** A server's name, and as programs write it in the names of its tools. */
export function namesInTools(server: string): string[] {
  return [...new Set([server, server.replace(/[^\w-]/g, "_"), server.replace(/[^\w.-]/g, "_")])];
}

/** Whether the regular expression or list of names matches every tool, those of Trunkline included. */
export function matchesAll(matcher: string): boolean {
  return /^(?:\*|\^?\(?\.[*+]\)?\$?)?$/.test(matcher.trim());
}

/**
 * Whether a hook's matcher could match a tool whose name begins with one of `prefixes`. Matchers of names only are
 * compared as they are; all others are regular expressions without anchors.
 */
export function couldMatch(matcher: string, prefixes: readonly string[]): boolean {
  if (matcher.length > LONGEST_MATCHER) return true;
  if (/^[\w\s,|-]*$/.test(matcher)) {
    const names = matcher.split(/[,|]/).map((name) => name.trim());
    // Without a tool, it is compared with whole names and matches none; some versions take it for the server.
    return names.some((name) =>
      prefixes.some((prefix) => name.startsWith(prefix) || name === prefix.replace(/_+$/, "")),
    );
  }
  return alternatives(matcher).some((pattern) => couldMatchRegExp(pattern, prefixes));
}

function couldMatchRegExp(pattern: string, prefixes: readonly string[]): boolean {
  const anchored = pattern.replace(/^(?:\^|\((?:\?:)?)+/, "");
  // Programs' own tools are called `Edit` and `WebFetch`.
  if (/^[A-Z][A-Za-z]/.test(anchored) && !/mcp|_/.test(anchored)) return false;
  const at = anchored.search(/[^\w-]/);
  if (at === -1) return prefixes.some((prefix) => anchored.startsWith(prefix) || prefix.startsWith(anchored));
  // A quantifier makes the letter before it optional.
  const literal = anchored.slice(0, /[*?{]/.test(anchored[at] ?? "") ? Math.max(at - 1, 0) : at);
  return prefixes.some((prefix) => literal.startsWith(prefix) || prefix.startsWith(literal));
}

const LONGEST_MATCHER = 2_000;
const MOST_ALTERNATIVES = 200;

/** Splits at `|`, also within groups of plain names: `mcp__(a|b)__.*` is `mcp__a__.*` and `mcp__b__.*`. */
function alternatives(matcher: string): string[] {
  const group = /^(.*?)\((?:\?:)?([\w-]+(?:\|[\w-]+)*)\)(?![*?{])(.*)$/s;
  let [open, done]: [string[], string[]] = [topLevel(matcher), []];
  while (open.length > 0) {
    // Too many to look at: could match anything.
    if (open.length + done.length > MOST_ALTERNATIVES) return [".*"];
    const next: string[] = [];
    for (const pattern of open) {
      const [, before = "", names, after = ""] = group.exec(pattern) ?? [];
      if (names === undefined) done = [...done, pattern];
      else next.push(...names.split("|").map((name) => `${before}${name}${after}`));
    }
    open = next;
  }
  return done;
}

/** Splits at each `|` that is in no group, escape or class. */
function topLevel(matcher: string): string[] {
  const parts = [""];
  let depth = 0;
  for (const [token] of matcher.matchAll(/\\.|\[(?:\\.|[^\]\\])*\]|./gs)) {
    if (token === "(") depth++;
    if (token === ")") depth--;
    if (token === "|" && depth <= 0) parts.push("");
    else parts[parts.length - 1] += token;
  }
  return parts;
}
