// `.env` files and an entry's `envFile`: one reader for both.

/**
 * Reads `NAME=value` lines. Understands `export `, quotes and `#`; skips lines without a name or `=`. In double quotes
 * `\n`, `\r`, `\t`, `\"`, `\\` and `\$` mean what they mean in a shell; single quotes keep everything. Without quotes,
 * ` #` starts a comment. Nothing is expanded. If a name occurs twice, the last one wins.
 */
export function parseEnvFile(text: string): Record<string, string> {
  const found = new Map<string, string>();
  for (const line of text.replace(/^\uFEFF/, "").split(/\r\n|\n|\r/)) {
    const match = /^\s*(?:export\s+)?([^\s=#'"][^\s=]*)\s*=(.*)$/.exec(line);
    if (match?.[1] !== undefined) found.set(match[1], unquoted((match[2] ?? "").trim()));
  }
  return Object.fromEntries(found);
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };

function unquoted(text: string): string {
  const single = /^'([^']*)'\s*(?:#.*)?$/.exec(text);
  if (single !== null) return single[1] ?? "";
  const double = /^"([^"\\]*(?:\\.[^"\\]*)*)"\s*(?:#.*)?$/.exec(text);
  if (double !== null) {
    return (double[1] ?? "").replace(/\\(.)/g, (whole, char: string) =>
      /["\\$`]/.test(char) ? char : (ESCAPES[char] ?? whole),
    );
  }
  // Not with the spaces in the pattern: they would be counted again from each of them.
  const comment = text.search(/(?<!\S)#/);
  return comment === -1 ? text : text.slice(0, comment).trimEnd();
}

/** Variables from `.env` files, each with its file's folder. */
export type DotEnv = ReadonlyMap<string, { readonly value: string; readonly folder: string }>;
