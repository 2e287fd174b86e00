const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/**
 * Reindents JSON text with two spaces and changes nothing else. Works on the text, because parsing would move
 * number-like keys to the front, and a vocabulary has many.
 */
export function reindent(json: string): string {
  const lines: string[] = [];
  let line = "";
  let depth = 0;
  let previous = "";
  const breakLine = () => {
    lines.push(line);
    line = "  ".repeat(Math.max(0, depth));
  };
  for (const [token] of json.matchAll(TOKEN)) {
    const isEnd = token === "}" || token === "]";
    const wasStart = previous === "{" || previous === "[";
    if (isEnd) depth--;
    // An empty object or list stays on one line.
    if (isEnd ? !wasStart : wasStart || previous === ",") breakLine();
    line += token === ":" ? ": " : token;
    if (token === "{" || token === "[") depth++;
    previous = token;
  }
  return [...lines, line].join("\n");
}
