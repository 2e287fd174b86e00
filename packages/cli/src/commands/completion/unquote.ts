/** Reads a word as the shell would: removes quotes and backslashes, even unclosed ones. */
export function unquote(written: string): string {
  let word = "";
  let quote = "";
  for (let at = 0; at < written.length; at++) {
    const char = written.charAt(at);
    const next = written.charAt(at + 1);
    if (quote === "" && char === "$" && next === "'") {
      quote = "$'";
      at++;
    } else if (quote === "$'" && /^\\x[0-9a-f]{2}/i.test(written.slice(at, at + 4))) {
      word += String.fromCharCode(Number.parseInt(written.slice(at + 2, at + 4), 16));
      at += 3;
    } else if (quote === "" && (char === "'" || char === '"')) quote = char;
    else if (char === quote || quote === `$${char}`) quote = "";
    else if (char === "\\" && quote !== "'" && (quote !== '"' || '"\\$`'.includes(next))) {
      word += next;
      at++;
    } else word += char;
  }
  return word;
}
