/** Reads a word as the shell would: removes quotes and backslashes, even unclosed ones. */
export function unquote(written: string): string {
  let word = "";
  let quote = "";
  for (let at = 0; at < written.length; at++) {
    const char = written.charAt(at);
    const next = written.charAt(at + 1);
    if (quote === "" && (char === "'" || char === '"')) quote = char;
    else if (char === quote) quote = "";
    else if (char === "\\" && quote !== "'" && (quote === "" || '"\\$`'.includes(next))) {
      word += next;
      at++;
    } else word += char;
  }
  return word;
}
