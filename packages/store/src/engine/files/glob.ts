// Globs for paths, as in .gitignore: `*` and `?` stay within a name, `**` crosses folders, `{a,b}` and `[a-z]` work. A
// pattern without a slash matches the base name; one with a slash can start at any folder.

const SPECIAL = /[*?[\]{}]/;

/** Whether the text contains any glob characters. */
export function isGlob(text: string): boolean {
  return SPECIAL.test(text);
}

/** Compiles a glob to a test for paths. */
export function compileGlob(pattern: string): (path: string) => boolean {
  const trimmed = pattern.replace(/^\.\//, "").replace(/\/$/, "/**");
  const source = globSource(trimmed);
  const anchored = trimmed.startsWith("/") || /^[A-Za-z]:[\\/]/.test(trimmed);
  const regex = new RegExp(anchored ? `^${source}$` : `(?:^|/)${source}$`, "su");
  return (path) => regex.test(path);
}

/** Compiles globs to a test that passes if any of them matches. An empty list matches nothing. */
export function compileGlobs(patterns: readonly string[] | undefined): (path: string) => boolean {
  const tests = (patterns ?? []).map(compileGlob);
  return (path) => tests.some((test) => test(path));
}

function globSource(pattern: string): string {
  let source = "";
  let depth = 0;
  for (let index = 0; index < pattern.length; index++) {
    const char = pattern[index] as string;
    if (char === "*") {
      if (pattern[index + 1] === "*") {
        while (pattern[index + 1] === "*") index++;
        if (pattern[index + 1] === "/") {
          index++;
          source += "(?:[^/]*/)*";
        } else source += ".*";
      } else source += "[^/]*";
    } else if (char === "?") source += "[^/]";
    else if (char === "[") {
      const close = pattern.indexOf("]", index + 2);
      if (close === -1) source += "\\[";
      else {
        const body = pattern.slice(index + 1, close).replace(/[\\[\]&~|]/g, "\\$&");
        source += `[${body.startsWith("!") ? `^${body.slice(1)}` : body}]`;
        index = close;
      }
    } else if (char === "{" && pattern.indexOf("}", index) !== -1) {
      depth++;
      source += "(?:";
    } else if (char === "}" && depth > 0) {
      depth--;
      source += ")";
    } else if (char === "," && depth > 0) source += "|";
    else if (char === "\\" && index + 1 < pattern.length) {
      index++;
      source += escapeRegExp(pattern[index] as string);
    } else source += escapeRegExp(char);
  }
  return source + ")".repeat(depth);
}

function escapeRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}
