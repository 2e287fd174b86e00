// Changes one value in YAML text and keeps comments and order.
import { isMap, parseDocument } from "yaml";

/** Sets a value at the path, creating missing maps on the way. */
export function setYaml(text: string, path: readonly string[], value: unknown): string {
  return changed(text, (document) => document.setIn(path, document.createNode(value)));
}

/** Removes the value at the path. */
export function removeYaml(text: string, path: readonly string[]): string {
  return changed(text, (document) => document.deleteIn(path));
}

function changed(text: string, change: (document: ReturnType<typeof parseDocument>) => void): string {
  const document = parseDocument(text, { keepSourceTokens: true });
  // The file has already been parsed, so the only errors left are bad escapes. The parser keeps them as text, and they
  // are written back as valid escapes.
  document.errors = [];
  if (document.contents !== null && !isMap(document.contents)) return text;
  change(document);
  return document.toString({ lineWidth: 0 });
}
