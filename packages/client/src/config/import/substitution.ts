// Substitution in the words of other programs, put into ours. A text that another program takes as it is must come out of
// our expansion as it is, so whatever would be expanded here and was not there is escaped.

/** How a program substitutes. */
export interface Substitution {
  /** Finds the substitutions of the program. Needs the flag `g`. */
  readonly pattern: RegExp;
  /** Ours for one match, or undefined where the program would have left the text as it is. */
  readonly render: (match: RegExpExecArray) => string | undefined;
}

/** The text with everything escaped that our expansion would touch. */
export function literalText(text: string): string {
  return text.replace(/\$\{([^}]+)\}/g, (match, body: string) => {
    if (/^[^:]+(?::-.*)?$/s.test(body)) return `\\${match}`;
    // A backslash does not stop these, since it may belong to a path. A default is never looked at again.
    if (/^(?:env|input|workspaceFolder):/.test(body)) return `\${env:TRUNKLINE_LITERAL:-${match}}`;
    return match;
  });
}

/** The text with the program's substitutions as ours, and the rest so that it stays what it is. */
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

/** A backslash before `${NAME}` makes it plain text here, so the substitution needs a form that a backslash does not stop. */
function afterBackslash(before: string, rendered: string, note: (message: string) => void): string {
  const [, name] = /^\$\{([^:}]+)/.exec(rendered) ?? [];
  if (name === undefined || name === "env" || name === "input") return before + rendered;
  if (/^[A-Z_]\w*$/.test(name)) return `${before}\${env:${rendered.slice(2)}`;
  note("a backslash before a variable became a slash");
  return `${before.slice(0, -1)}/${rendered}`;
}
