// Translates other programs' substitutions to ours. Text that another program takes literally must survive our
// expansion, so anything that only we would expand is escaped.

export interface Substitution {
  /** Matches the program's substitutions. Needs the flag `g`. */
  readonly pattern: RegExp;
  /** Returns our form of one match, or undefined if the program would have left the text alone. */
  readonly render: (match: RegExpExecArray) => string | undefined;
}

/** Escapes everything that our expansion would touch. */
export function literalText(text: string): string {
  return text.replace(/\$\{([^}]+)\}/g, (match, body: string) => {
    if (/^[^:]+(?::-.*)?$/s.test(body)) return `\\${match}`;
    // A backslash does not stop these, because it may belong to a path. A default is never expanded again.
    if (/^(?:env|input|workspaceFolder):/.test(body)) return `\${env:TRUNKLINE_LITERAL:-${match}}`;
    return match;
  });
}

/** Translates the program's substitutions and escapes the rest. */
export function translateText(text: string, substitution: Substitution, note: (message: string) => void): string {
  let result = "";
  let literal = "";
  let from = 0;
  for (const match of text.matchAll(substitution.pattern)) {
    literal += text.slice(from, match.index);
    from = match.index + match[0].length;
    const rendered = substitution.render(match);
    if (rendered === undefined) {
      literal += match[0];
      continue;
    }
    const before = literalText(literal);
    literal = "";
    result += before.endsWith("\\") ? afterBackslash(before, rendered, note) : before + rendered;
  }
  return result + literalText(literal + text.slice(from));
}

/**
 * In our syntax, a backslash before `${NAME}` makes it plain text, so the substitution needs a form that a backslash
 * does not stop.
 */
function afterBackslash(before: string, rendered: string, note: (message: string) => void): string {
  const [, name] = /^\$\{([^:}]+)/.exec(rendered) ?? [];
  if (name === undefined || name === "env" || name === "input") return before + rendered;
  if (/^[A-Z_]\w*$/.test(name)) return `${before}\${env:${rendered.slice(2)}`;
  note("a backslash before a variable became a slash");
  return `${before.slice(0, -1)}/${rendered}`;
}
