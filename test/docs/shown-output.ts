// Compares what a command printed with the output that a page shows.

/**
 * Whether the output matches what is shown. Compares part by part, because a regular expression with that many gaps
 * might never finish.
 */
export function matches(printed: string, shown: string): boolean {
  const bare = (text: string) => text.replace(/\s+/g, "");
  const text = bare(printed);
  const [first = "", ...parts] = bare(shown).split("…");
  const last = parts.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of parts) {
    const found = text.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}
