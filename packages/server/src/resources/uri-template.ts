// Which URIs a template (RFC 6570) can make. Templates come from upstream servers, so matching takes time in proportion to
// the URI, whatever the template.

interface Part {
  readonly literal: string;
  /** What may stand after the literal; undefined at the end of the template. */
  readonly blank?: { readonly slashes: boolean; readonly optional: boolean } | undefined;
}

/** A template, taken apart once. */
export interface UriTemplate {
  /** How much of the template is fixed: of two that match, the one that says more is meant. */
  readonly weight: number;
  matches(uri: string): boolean;
}

/** Takes a template apart. One that is not well-formed matches only itself. */
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
      // What an operator begins with is left out where there is no value.
      optional: operator !== "",
    };
    parts.push({ literal, blank });
  }
  parts.push({ literal: template.slice(at) });
  return parts;
}

/** Each literal where it first comes after the one before: what is between belongs to the blank. */
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
