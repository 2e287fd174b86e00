// Matches URIs against templates (RFC 6570). Templates come from upstream servers, so matching takes linear time in the
// length of the URI for any template.

interface Part {
  readonly literal: string;
  /** What may follow the literal; undefined at the end of the template. */
  readonly blank?: { readonly slashes: boolean; readonly optional: boolean };
}

/** A parsed template. */
export interface UriTemplate {
  /** How much of the template is fixed. If two templates match, the more specific one wins. */
  readonly weight: number;
  matches(uri: string): boolean;
}

/** Parses a template. A malformed template matches only itself. */
export function parseUriTemplate(template: string): UriTemplate {
  const parts = partsOf(template);
  return {
    weight: parts.reduce((sum, { literal }) => sum + literal.length, 0),
    matches: (uri) => matches(parts, uri),
  };
}

function partsOf(template: string): Part[] {
  const parts: Part[] = [];
  let at = 0;
  for (const found of template.matchAll(/\{([+#./;?&]?)([^{}]*)\}/g)) {
    const [whole, operator = "", names = ""] = found;
    const literal = template.slice(at, found.index);
    at = found.index + whole.length;
    const blank = {
      slashes: operator !== "" || names.includes("*"),
      // The operator's prefix is omitted if there is no value.
      optional: operator !== "",
    };
    parts.push({ literal, blank });
  }
  parts.push({ literal: template.slice(at) });
  return parts;
}

/** Matches each literal at its first occurrence after the previous one; the text in between belongs to the blank. */
function matches(parts: readonly Part[], uri: string): boolean {
  let at = 0;
  let blank: Part["blank"];
  for (const [index, part] of parts.entries()) {
    const isLast = index === parts.length - 1;
    const from = blank === undefined || blank.optional ? at : at + 1;
    const found = isLast && blank !== undefined ? lastPlace(uri, part.literal, from) : uri.indexOf(part.literal, from);
    if (found === -1 || (blank === undefined && found !== at)) return false;
    if (blank?.slashes === false && uri.slice(at, found).includes("/")) return false;
    at = found + part.literal.length;
    blank = part.blank;
  }
  return at === uri.length;
}

function lastPlace(uri: string, literal: string, from: number): number {
  return uri.endsWith(literal) && uri.length - literal.length >= from ? uri.length - literal.length : -1;
}
