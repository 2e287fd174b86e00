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

/** `names`: letters, digits and `|` alone are a list of whole names. `server`: it is compared with servers' names. */
type MatcherSyntax = "names" | "expression" | "server";

/**
 * Whether the matcher of a hook matches every tool whose name begins with one of `prefixes`, whatever follows. By
 * default every tool of every kind.
 */
export function matchesAll(
  matcher: string,
  prefixes: readonly string[] = [""],
  syntax: MatcherSyntax = "names",
): boolean {
  const text = matcher.trim();
  if (text === "" || text === "*") return true;
  if (text.length > LONGEST_MATCHER || (syntax !== "expression" && LIST_OF_NAMES.test(text))) return false;
  const patterns = alternatives(text) ?? [];
  return prefixes.every((prefix) => patterns.some((pattern) => matchesWhateverFollows(pattern, prefix)));
}

/** Knows `^(?!Bash).*` and parts of the prefix before `.*`; anything else counts as one that does not. */
function matchesWhateverFollows(pattern: string, prefix: string): boolean {
  const known = /^(\^?)(?:\(\?!([\w$|]+)\))?(\w*)(?:\.[*+]\$?)?$/.exec(pattern);
  if (known === null) return false;
  const [, anchor, excluded, literal = ""] = known;
  const isOther = (name: string) => /^[A-Z]\w*\$?$/.test(name) && /^[^A-Z]+$/.test(prefix);
  if (excluded?.split("|").every(isOther) === false) return false;
  return anchor === "" ? prefix.includes(literal) : prefix.startsWith(literal);
}

/**
 * Whether a hook's matcher could match a tool whose name begins with one of `prefixes`. Lists of names are compared as
 * they are; all others are regular expressions, which match anywhere in a name unless they have anchors.
 */
export function couldMatch(matcher: string, prefixes: readonly string[], syntax: MatcherSyntax = "names"): boolean {
  if (matcher.length > LONGEST_MATCHER) return true;
  const couldBe = (pattern: string) => couldMatchRegExp(pattern, prefixes, syntax);
  if (syntax === "expression" || !LIST_OF_NAMES.test(matcher)) return alternatives(matcher)?.some(couldBe) ?? true;
  const names = matcher.split(/[,|]/).map((name) => name.trim());
  // Without a tool, it is compared with whole names and matches none; some versions take it for the server.
  if (names.some((name) => prefixes.some((prefix) => name.startsWith(prefix) || isServer(name, prefix)))) return true;
  // Some versions take a list with other characters than these for an expression. No tool has a comma or a space.
  return !/^[\w|]*$/.test(matcher) && matcher.split("|").some((name) => !/[\s,]/.test(name) && couldBe(name));
}

const LIST_OF_NAMES = /^[\w\s,|-]*$/;

function isServer(name: string, prefix: string): boolean {
  return name === prefix.replace(/_+$/, "");
}

function couldMatchRegExp(pattern: string, prefixes: readonly string[], syntax: MatcherSyntax): boolean {
  const expression = pattern.replace(/^\^+/, "");
  const at = expression.search(/[^\w-]/);
  // A quantifier makes the letter before it optional.
  const end = /[*?{]/.test(expression[at] ?? "") ? Math.max(at - 1, 0) : at;
  const literal = at === -1 ? expression : expression.slice(0, end);
  const overlaps = (text: string) => literal.startsWith(text) || text.startsWith(literal);
  if (expression !== pattern) {
    const isWhole = /^[\w-]+\$$/.test(expression);
    return prefixes.some((prefix) =>
      isWhole ? literal.startsWith(prefix) || isServer(literal, prefix) : overlaps(prefix),
    );
  }
  if (syntax === "server") return prefixes.some((name) => name.includes(literal));
  // The name of another server. A server's tools are hardly called `mcp__…` themselves.
  if (literal.startsWith("mcp_"))
    return prefixes.some((prefix) => [...prefix].some((_, offset) => overlaps(prefix.slice(offset))));
  return !isOwnTool(expression, prefixes);
}

/** Tools of the programs themselves, whose names no server's tool is likely to contain. */
const OWN_TOOLS = [
  ...["Agent", "AskUserQuestion", "Bash", "BashOutput", "Edit", "EnterPlanMode", "ExitPlanMode", "Glob", "Grep"],
  ...["KillBash", "KillShell", "LS", "LSP", "ListMcpResourcesTool", "MultiEdit", "NotebookEdit", "NotebookRead"],
  ...["Read", "ReadMcpResourceTool", "Shell", "Skill", "SlashCommand", "Task", "TaskOutput", "TaskStop", "TodoWrite"],
  ...["ToolSearch", "WebFetch", "WebSearch", "Write", "apply_patch", "google_web_search", "run_shell_command"],
];

/** Whether it is the name of such a tool, or its beginning, as in `Notebook.*`. */
function isOwnTool(expression: string, prefixes: readonly string[]): boolean {
  const [, word, wildcard] = /^(\w+)(\.[*+]|\\w[*+])?\$?$/.exec(expression) ?? [];
  if (word === undefined || prefixes.some((prefix) => prefix.includes(word))) return false;
  const isBeginning = wildcard !== undefined && /^[A-Z]\w\w/.test(word);
  return OWN_TOOLS.some((tool) => tool === word || (isBeginning && tool.startsWith(word)));
}

const LONGEST_MATCHER = 2_000;
const MOST_ALTERNATIVES = 200;

/** Splits at `|`, also within groups: `mcp__(a|b)__.*` is `mcp__a__.*` and `mcp__b__.*`. Undefined if there are too many. */
function alternatives(matcher: string): string[] | undefined {
  const group = /^(.*?)\((?:\?:)?([\w.*+^$|-]*)\)(?![*?{])(.*)$/s;
  let [open, done]: [string[], string[]] = [topLevel(matcher), []];
  while (open.length > 0) {
    if (open.length + done.length > MOST_ALTERNATIVES) return undefined;
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
