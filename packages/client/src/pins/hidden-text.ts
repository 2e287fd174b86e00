// Finds text that a person who reads a definition does not see but a model does: invisible characters, reversed text,
// text far below the rest. Emoji, right-to-left scripts and scripts that need joiners are left alone.

/** Anything that may show nothing or change the order of what is shown. Most of it has a legitimate use somewhere. */
const SUSPICIOUS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: each code point counts by itself
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/u;

/** The flags of England, Scotland and Wales are the only ones written with tag characters. */
const TAG_FLAGS =
  /\u{1f3f4}\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f}/gu;
// biome-ignore lint/suspicious/noMisleadingCharacterClass: each code point counts by itself
const EMOJI_JOINERS = /(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])\u200d(?=\p{Extended_Pictographic})/gu;
const EMOJI_STYLES = /(?<=[\p{Emoji}\p{S}])[\ufe0e\ufe0f]/gu;
const JOINED_SCRIPTS =
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: each code point counts by itself
  /(?<=[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mongolian}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}])[\u200c\u200d\u180b-\u180f]/gu;
/** Scripts without spaces between words use U+200B to mark where a line may break. */
const BREAKS = /(?<=[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}])\u200b/gu;
const SOFT_HYPHENS = /(?<=\p{L})\u00ad(?=\p{L})/gu;
const BRAILLE = /(?<=[\u2801-\u28ff])\u2800|\u2800(?=[\u2801-\u28ff])/gu;
const IDEOGRAPH_VARIANTS = /(?<=\p{Script=Han})[\ufe00-\ufe02\u{e0100}-\u{e01ef}]/gu;
/** Each can carry a byte, so only a few are taken for what they claim to be. */
const MOST_IDEOGRAPH_VARIANTS = 3;

const RIGHT_TO_LEFT =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;
const MARKS = /[\u200e\u200f\u061c]/g;
const ISOLATES = /[\u202a-\u202c\u2066-\u2069]/g;
const GAP = /(?:\n[^\S\n]*(?:[.*|_-][^\S\n]*)?){20}|[^\S\n]{200}|\t{25}/;
/** A comment in Markdown: a link that leads nowhere. */
const LINK_COMMENT = /(?:^|\s)\[[^\]\n]{0,20}\]:[^\S\n]*(?:#|<>)[^\S\n]*["'(]/;
const SHORTEST_COMMENT = 20;
/** An element that a page would not show. */
const UNSEEN =
  /<[a-z][^<>]{0,200}?(?:\shidden(?=[\s=>])|display\s?:\s?none|visibility\s?:\s?hidden|(?:font-size|opacity)\s?:\s?0(?![.\d]))/i;

/** What is hidden in a text, in a few words each, such as `U+200B`; empty if nothing is. */
export function hiddenIn(text: string): string[] {
  const found: string[] = [];
  if (GAP.test(text)) found.push("text after a long gap");
  if (hasComment(text)) found.push("a comment");
  if (UNSEEN.test(text)) found.push("an element that is not shown");
  if (!SUSPICIOUS.test(text)) return found;
  const rest = withoutLegitimate(text);
  const characters = new Set(rest.match(new RegExp(SUSPICIOUS, "gu")) ?? []);
  return [...found, ...[...characters].sort().map(codePointOf)];
}

/** Whether there is a long comment, from the first mark to the last one: a regular expression would try all of them. */
function hasComment(text: string): boolean {
  const start = text.indexOf("<!--");
  const isLong = start !== -1 && text.lastIndexOf("-->") - (start + "<!--".length) >= SHORTEST_COMMENT;
  return isLong || LINK_COMMENT.test(text);
}

function withoutLegitimate(text: string): string {
  let rest = text
    .replace(/^\ufeff/, "")
    .replace(TAG_FLAGS, " ")
    .replace(EMOJI_JOINERS, "")
    .replace(EMOJI_STYLES, "")
    .replace(JOINED_SCRIPTS, "")
    .replace(BREAKS, "")
    .replace(SOFT_HYPHENS, "")
    .replace(BRAILLE, "");
  if ((rest.match(IDEOGRAPH_VARIANTS)?.length ?? 0) <= MOST_IDEOGRAPH_VARIANTS)
    rest = rest.replace(IDEOGRAPH_VARIANTS, "");
  if (!RIGHT_TO_LEFT.test(rest)) return rest;
  rest = rest.replace(MARKS, "");
  return isBalanced(rest) ? rest.replace(ISOLATES, "") : rest;
}

function isBalanced(text: string): boolean {
  let open = 0;
  for (const char of text.match(ISOLATES) ?? []) {
    open += char === "\u202c" || char === "\u2069" ? -1 : 1;
    if (open < 0) return false;
  }
  return open === 0;
}

function codePointOf(char: string): string {
  return `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}
