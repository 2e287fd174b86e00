// Unicode properties and simple case folding as code point sets. They are derived from the JavaScript engine's own
// regular expressions. Each takes about ten milliseconds, once, so the few that nearly every pattern needs are in a
// table.
import { type CharSet, charSet, complement, difference, union } from "./char-set.js";
import { UNICODE_TABLES } from "./unicode-tables.js";

/** The planes with irregular runs of assigned code points. The others are uniform up to their last two. */
const MIXED_PLANES = [0, 1, 2, 3, 14];
const UNIFORM_PLANES = [4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 16];

let planes: { plane: number; text: string }[] | undefined;

function planeTexts(): { plane: number; text: string }[] {
  planes ??= MIXED_PLANES.map((plane) => {
    const units = new Uint16Array(plane === 0 ? 0x10000 : 0x20000);
    for (let low = 0; low < 0x10000; low++) {
      if (plane === 0) {
        // Surrogates are not characters; replace them with spaces to keep the offsets.
        units[low] = low >= 0xd800 && low <= 0xdfff ? 0x20 : low;
      } else {
        const offset = plane * 0x10000 + low - 0x10000;
        units[low * 2] = 0xd800 + (offset >> 10);
        units[low * 2 + 1] = 0xdc00 + (offset & 0x3ff);
      }
    }
    return { plane, text: Buffer.from(units.buffer).toString("utf16le") };
  });
  return planes;
}

const SURROGATES: CharSet = [0xd800, 0xdfff];

/** Returns all code points matched by a class in the engine's own syntax, such as `\p{Lu}`. Throws `SyntaxError`. */
export function setOfClass(source: string): CharSet {
  const runs = new RegExp(`(?:${source})+`, "gu");
  const one = new RegExp(`^(?:${source})$`, "u");
  const pairs: number[] = [];
  for (const { plane, text } of planeTexts()) {
    const unitsPerChar = plane === 0 ? 1 : 2;
    const base = plane * 0x10000;
    for (const match of text.matchAll(runs)) {
      const from = base + match.index / unitsPerChar;
      pairs.push(from, from + match[0].length / unitsPerChar - 1);
    }
  }
  for (const plane of UNIFORM_PLANES) {
    const base = plane * 0x10000;
    if (one.test(String.fromCodePoint(base))) pairs.push(base, base + 0xfffd);
    if (one.test(String.fromCodePoint(base + 0xfffe))) pairs.push(base + 0xfffe, base + 0xffff);
  }
  return difference(charSet(pairs), SURROGATES);
}

export const TABLE_CLASSES = {
  d: "\\p{Nd}",
  s: "\\p{White_Space}",
  w: "[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}]",
  cased: "[\\p{Changes_When_Casemapped}\\p{Changes_When_Casefolded}]",
} as const;

/** Encodes a set for the table, as differences in base 36. */
export function encodeSet(set: CharSet): string {
  return set.map((value, index) => (value - (set[index - 1] ?? 0)).toString(36)).join(" ");
}

function fromTable(name: keyof typeof TABLE_CLASSES): CharSet {
  let set = sets.get(name);
  if (set === undefined) {
    let value = 0;
    set = UNICODE_TABLES[name].split(" ").map((difference) => (value += Number.parseInt(difference, 36)));
    sets.set(name, set);
  }
  return set;
}

const sets = new Map<string, CharSet>();

function kept(source: string): CharSet {
  let set = sets.get(source);
  if (set === undefined) {
    set = setOfClass(source);
    sets.set(source, set);
  }
  return set;
}

/** All code points except surrogates. */
export const ANY: CharSet = complement(SURROGATES);

/** Returns `\d`, `\s` or `\w` as defined by Unicode Technical Standard 18. */
export function perlClass(letter: "d" | "s" | "w"): CharSet {
  return fromTable(letter);
}

/** Returns `\d`, `\s` or `\w` under `(?-u)`. */
export function asciiPerlClass(letter: "d" | "s" | "w"): CharSet {
  switch (letter) {
    case "d":
      return [0x30, 0x39];
    case "s":
      return [0x09, 0x0d, 0x20, 0x20];
    case "w":
      return [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a];
  }
}

const POSIX: Readonly<Record<string, CharSet>> = {
  alnum: [0x30, 0x39, 0x41, 0x5a, 0x61, 0x7a],
  alpha: [0x41, 0x5a, 0x61, 0x7a],
  ascii: [0x00, 0x7f],
  blank: [0x09, 0x09, 0x20, 0x20],
  cntrl: [0x00, 0x1f, 0x7f, 0x7f],
  digit: [0x30, 0x39],
  graph: [0x21, 0x7e],
  lower: [0x61, 0x7a],
  print: [0x20, 0x7e],
  punct: [0x21, 0x2f, 0x3a, 0x40, 0x5b, 0x60, 0x7b, 0x7e],
  space: [0x09, 0x0d, 0x20, 0x20],
  upper: [0x41, 0x5a],
  word: [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a],
  xdigit: [0x30, 0x39, 0x41, 0x46, 0x61, 0x66],
};

/** Returns the class for `[:name:]`. */
export function posixClass(name: string): CharSet | undefined {
  return Object.hasOwn(POSIX, name) ? POSIX[name] : undefined;
}

// Names are matched loosely (`greek`, `Old Italic`, `isLu`), but the engine needs the exact names, so they are listed
// here.
const CATEGORIES =
  "L Letter Lu Uppercase_Letter Ll Lowercase_Letter Lt Titlecase_Letter LC Cased_Letter Lm Modifier_Letter Lo Other_Letter M Mark Mn Nonspacing_Mark Mc Spacing_Mark Me Enclosing_Mark N Number Nd Decimal_Number Nl Letter_Number No Other_Number P Punctuation Pc Connector_Punctuation Pd Dash_Punctuation Ps Open_Punctuation Pe Close_Punctuation Pi Initial_Punctuation Pf Final_Punctuation Po Other_Punctuation S Symbol Sm Math_Symbol Sc Currency_Symbol Sk Modifier_Symbol So Other_Symbol Z Separator Zs Space_Separator Zl Line_Separator Zp Paragraph_Separator C Other Cc Control Cf Format Cs Surrogate Co Private_Use Cn Unassigned digit punct cntrl".split(
    " ",
  );
const BINARY =
  "Alphabetic Alpha ASCII_Hex_Digit AHex Bidi_Control Bidi_C Bidi_Mirrored Bidi_M Case_Ignorable CI Cased Changes_When_Casefolded CWCF Changes_When_Casemapped CWCM Changes_When_Lowercased CWL Changes_When_Titlecased CWT Changes_When_Uppercased CWU Dash Default_Ignorable_Code_Point DI Deprecated Dep Diacritic Dia Emoji Emoji_Component Emoji_Modifier Emoji_Modifier_Base Emoji_Presentation Extended_Pictographic Extender Ext Grapheme_Base Gr_Base Grapheme_Extend Gr_Ext Hex_Digit Hex ID_Continue IDC ID_Start IDS IDS_Binary_Operator IDSB IDS_Trinary_Operator IDST Ideographic Ideo Join_Control Join_C Logical_Order_Exception LOE Lowercase Lower Math Noncharacter_Code_Point NChar Pattern_Syntax Pat_Syn Pattern_White_Space Pat_WS Quotation_Mark QMark Radical Regional_Indicator RI Sentence_Terminal STerm Soft_Dotted SD Terminal_Punctuation Term Unified_Ideograph UIdeo Uppercase Upper Variation_Selector VS White_Space space XID_Continue XIDC XID_Start XIDS".split(
    " ",
  );
const SCRIPTS =
  "Adlam Ahom Anatolian_Hieroglyphs Arabic Armenian Avestan Balinese Bamum Bassa_Vah Batak Bengali Bhaiksuki Bopomofo Brahmi Braille Buginese Buhid Canadian_Aboriginal Carian Caucasian_Albanian Chakma Cham Cherokee Chorasmian Common Coptic Cuneiform Cypriot Cypro_Minoan Cyrillic Deseret Devanagari Dives_Akuru Dogra Duployan Egyptian_Hieroglyphs Elbasan Elymaic Ethiopic Georgian Glagolitic Gothic Grantha Greek Gujarati Gunjala_Gondi Gurmukhi Han Hangul Hanifi_Rohingya Hanunoo Hatran Hebrew Hiragana Imperial_Aramaic Inherited Inscriptional_Pahlavi Inscriptional_Parthian Javanese Kaithi Kannada Katakana Kawi Kayah_Li Kharoshthi Khitan_Small_Script Khmer Khojki Khudawadi Lao Latin Lepcha Limbu Linear_A Linear_B Lisu Lycian Lydian Mahajani Makasar Malayalam Mandaic Manichaean Marchen Masaram_Gondi Medefaidrin Meetei_Mayek Mende_Kikakui Meroitic_Cursive Meroitic_Hieroglyphs Miao Modi Mongolian Mro Multani Myanmar Nabataean Nag_Mundari Nandinagari New_Tai_Lue Newa Nko Nushu Nyiakeng_Puachue_Hmong Ogham Ol_Chiki Old_Hungarian Old_Italic Old_North_Arabian Old_Permic Old_Persian Old_Sogdian Old_South_Arabian Old_Turkic Old_Uyghur Oriya Osage Osmanya Pahawh_Hmong Palmyrene Pau_Cin_Hau Phags_Pa Phoenician Psalter_Pahlavi Rejang Runic Samaritan Saurashtra Sharada Shavian Siddham SignWriting Sinhala Sogdian Sora_Sompeng Soyombo Sundanese Syloti_Nagri Syriac Tagalog Tagbanwa Tai_Le Tai_Tham Tai_Viet Takri Tamil Tangsa Tangut Telugu Thaana Thai Tibetan Tifinagh Tirhuta Toto Ugaritic Vai Vithkuqi Wancho Warang_Citi Yezidi Yi Zanabazar_Square".split(
    " ",
  );

function loose(name: string): string {
  const plain = name.toLowerCase().replace(/[\s_-]/g, "");
  return plain.startsWith("is") && plain.length > 2 && plain !== "isc" ? plain.slice(2) : plain;
}

function byLooseName(names: readonly string[], name: string): string | undefined {
  return names.find((candidate) => loose(candidate) === name);
}

/** Returns the set for `\p{name}` or `\p{name=value}`, or undefined if there is no such property. */
export function unicodeProperty(text: string): CharSet | undefined {
  const parts = /^([^=:]*)[=:](.*)$/s.exec(text);
  if (parts) return propertyValue(loose(parts[1] ?? ""), loose(parts[2] ?? ""));
  const name = loose(text);
  if (name === "any") return ANY;
  if (name === "assigned") return difference(ANY, kept("\\p{Cn}"));
  if (name === "ascii") return [0, 0x7f];
  // `sc`, `cf` and `lc` are categories first, as in the Rust crate.
  return category(name) ?? binary(name) ?? script("Script", name);
}

function propertyValue(property: string, value: string): CharSet | undefined {
  if (property === "gc" || property === "generalcategory") return category(value);
  if (property === "sc" || property === "script") return script("Script", value);
  if (property === "scx" || property === "scriptextensions") return script("Script_Extensions", value);
  return undefined;
}

function category(name: string): CharSet | undefined {
  if (name === "any") return ANY;
  const found = byLooseName(CATEGORIES, name);
  return found === undefined ? undefined : kept(`\\p{gc=${found}}`);
}

function binary(name: string): CharSet | undefined {
  const found = byLooseName(BINARY, name);
  return found === undefined ? undefined : kept(`\\p{${found}}`);
}

function script(property: string, name: string): CharSet | undefined {
  const code = /^[a-z]{4}$/.test(name) ? name.charAt(0).toUpperCase() + name.slice(1) : undefined;
  for (const candidate of [byLooseName(SCRIPTS, name), code]) {
    if (candidate === undefined) continue;
    try {
      return kept(`\\p{${property}=${candidate}}`);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  return undefined;
}

let orbits: Map<number, readonly number[]> | undefined;

/** Maps every code point that has case variants to all of them, including itself. */
function caseOrbits(): Map<number, readonly number[]> {
  if (orbits !== undefined) return orbits;
  // With `iu` the engine uses simple case folding, like Rust. The upper and lower case forms are only candidates.
  const sameButForCase = /^(.)\1$/iu;
  const groups = new Map<number, Set<number>>();
  const cased = fromTable("cased");
  for (let index = 0; index < cased.length; index += 2) {
    for (let codePoint = cased[index] as number; codePoint <= (cased[index + 1] as number); codePoint++) {
      const char = String.fromCodePoint(codePoint);
      for (const other of [char.toLowerCase(), char.toUpperCase()]) {
        if (other === char || !sameButForCase.test(char + other)) continue;
        join(groups, codePoint, other.codePointAt(0) as number);
      }
    }
  }
  orbits = new Map([...groups].map(([codePoint, group]) => [codePoint, [...group]]));
  return orbits;
}

function join(groups: Map<number, Set<number>>, a: number, b: number): void {
  const merged = new Set([a, b, ...(groups.get(a) ?? []), ...(groups.get(b) ?? [])]);
  for (const member of merged) groups.set(member, merged);
}

let foldable: readonly number[] | undefined;

/** Adds all case variants of a set's members. */
export function foldCase(set: CharSet): CharSet {
  const all = caseOrbits();
  foldable ??= [...all.keys()].sort((a, b) => a - b);
  const added: number[] = [];
  let index = 0;
  for (let range = 0; range < set.length; range += 2) {
    const from = set[range] as number;
    const to = set[range + 1] as number;
    while (index < foldable.length && (foldable[index] as number) < from) index++;
    for (; index < foldable.length && (foldable[index] as number) <= to; index++) {
      for (const other of all.get(foldable[index] as number) ?? []) added.push(other, other);
    }
  }
  return added.length === 0 ? set : union(set, charSet(added));
}

/** Does the same as {@link foldCase} under `(?-u)`: ASCII letters only. */
export function foldAsciiCase(set: CharSet): CharSet {
  const pairs = [...set];
  for (let index = 0; index < set.length; index += 2) {
    for (const [base, shift] of [
      [0x41, 32],
      [0x61, -32],
    ] as const) {
      const from = Math.max(set[index] as number, base);
      const to = Math.min(set[index + 1] as number, base + 25);
      if (from <= to) pairs.push(from + shift, to + shift);
    }
  }
  return charSet(pairs);
}
