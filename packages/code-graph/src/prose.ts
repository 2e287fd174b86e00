// Extracts links and headings from Markdown and HTML. A heading is a symbol whose qualified name is its anchor, so
// links to it resolve by name.

import type { FileEdge, GraphLanguage, GraphLink, GraphSymbol } from "./model/graph-model.js";
import { fileKey, symbolKey } from "./model/node-keys.js";

interface Prose {
  readonly symbols: readonly GraphSymbol[];
  readonly edges: readonly FileEdge[];
  readonly links: readonly GraphLink[];
}

interface Heading {
  readonly level: number;
  readonly text: string;
  readonly line: number;
  readonly column: number;
  readonly id?: string;
}

const MAX_LINKS = 20_000;
const MAX_HEADINGS = 5_000;

export function readProse(path: string, text: string, language: GraphLanguage): Prose {
  const links: GraphLink[] = [];
  const headings: Heading[] = [];
  if (language === "markdown") readMarkdown(text, links, headings);
  else readHtml(text, 1, links, headings);
  const lineCount = text.split("\n").length;
  return { ...outline(path, headings, lineCount), links: links.slice(0, MAX_LINKS) };
}

/** Returns the anchor that GitHub and most renderers give a heading. */
export function slugOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}\s_-]/gu, "")
    .replace(/\s/g, "-");
}

function outline(path: string, headings: readonly Heading[], lineCount: number): Pick<Prose, "symbols" | "edges"> {
  const symbols: GraphSymbol[] = [];
  const edges: FileEdge[] = [];
  const used = new Set<string>();
  const open: { level: number; key: string }[] = [];
  headings.slice(0, MAX_HEADINGS).forEach((heading, index) => {
    const base = heading.id ?? slugOf(heading.text);
    if (base === "" || /\s/.test(base)) return;
    let qualifiedName = base;
    for (let number = 1; used.has(qualifiedName); number++) qualifiedName = `${base}-${number}`;
    used.add(qualifiedName);
    const key = symbolKey(path, qualifiedName);
    const next = headings.slice(index + 1).find((later) => later.level <= heading.level);
    symbols.push({
      key,
      kind: "heading",
      name: heading.text,
      qualifiedName,
      startLine: heading.line,
      startColumn: heading.column,
      endLine: Math.max(heading.line, next === undefined ? lineCount : next.line - 1),
      endColumn: 1,
      exported: true,
    });
    while ((open.at(-1)?.level ?? 0) >= heading.level) open.pop();
    edges.push({ from: fileKey(path), to: key, relation: "DEFINES", line: heading.line });
    const outer = open.at(-1);
    if (outer !== undefined) edges.push({ from: outer.key, to: key, relation: "CONTAINS", line: heading.line });
    open.push({ level: heading.level, key });
  });
  return { symbols, edges };
}

function addLink(links: GraphLink[], raw: string, line: number, label?: string): void {
  const target = raw.trim().replace(/^<|>$/g, "").replace(/&amp;/g, "&");
  if (
    target === "" ||
    target.length > 2_000 ||
    /^(?:javascript|data|mailto|tel):/i.test(target) ||
    target.includes("{{")
  )
    return;
  const hash = target.indexOf("#");
  const anchor = hash === -1 ? "" : target.slice(hash + 1);
  const text = label?.replace(/\s+/g, " ").trim().slice(0, 200);
  links.push({
    target: hash === -1 ? target : target.slice(0, hash),
    ...(anchor === "" ? {} : { anchor }),
    ...(text === undefined || text === "" ? {} : { text }),
    line,
  });
}

// No nested quantifiers: each pattern is linear per line, and the length of lines is capped to keep that cheap.
const INLINE =
  /!?\[((?:[^[\]\\]|\\.|\[[^[\]]*\]){0,500})\]\(\s*(<[^<>\n]{0,1000}>|(?:[^\s()\\]|\\.|\([^\s()]{0,500}\)){1,1000})(?:\s+(?:"[^"]{0,500}"|'[^']{0,500}'|\([^)]{0,500}\)))?\s*\)/g;
const REFERENCE = /!?\[([^[\]]{1,300})\](?:\[([^[\]]{0,300})\])?(?![(:])/g;
const DEFINITION = /^ {0,3}\[([^[\]]{1,300})\]:\s*(<[^<>]{0,1000}>|\S{1,1000})/;
const AUTOLINK = /<(https?:\/\/[^\s<>]{1,1000})>/g;
const MAX_LINE = 20_000;

function readMarkdown(text: string, links: GraphLink[], headings: Heading[]): void {
  const lines = text.split("\n");
  const definitions = new Map<string, string>();
  const bodies: { line: number; body: string }[] = [];
  let fence = "";
  let previous = "";
  let frontMatter = lines[0]?.trim() === "---";
  lines.forEach((full, index) => {
    const source = full.slice(0, MAX_LINE).replace(/\r$/, "");
    const number = index + 1;
    if (frontMatter) {
      if (index > 0 && /^(?:---|\.\.\.)\s*$/.test(source)) frontMatter = false;
      return;
    }
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(source)?.[1];
    if (fence !== "") {
      if (mark?.startsWith(fence) === true && source.trim() === mark) fence = "";
      return;
    }
    if (mark !== undefined) {
      fence = mark;
      previous = "";
      return;
    }
    const atx = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/.exec(source);
    const setext = /^ {0,3}(=+|-+)\s*$/.exec(source)?.[1];
    if (atx !== null) heading(headings, atx[1]?.length ?? 1, (atx[2] ?? "").replace(/\s+#+\s*$/, ""), number);
    else if (setext !== undefined && /^ {0,3}[^\s>|#*+-]/.test(previous)) {
      heading(headings, setext.startsWith("=") ? 1 : 2, previous, number - 1);
    }
    previous = source;
    const definition = DEFINITION.exec(source);
    if (definition !== null) {
      definitions.set((definition[1] ?? "").toLowerCase(), definition[2] ?? "");
      return;
    }
    const body = source.replace(/(`+)(?:(?!\1).){1,2000}?\1/g, "");
    if (/[[<]/.test(body)) bodies.push({ line: number, body });
  });
  for (const { line, body } of bodies) readMarkdownLine(body, line, { links, definitions });
}

function heading(headings: Heading[], level: number, raw: string, line: number): void {
  const id = /\{#([\w-]+)\}\s*$/.exec(raw)?.[1];
  const text = raw
    .replace(/\{#[\w-]+\}\s*$/, "")
    .replace(/!?\[([^[\]]{0,500})\]\([^()]{0,1000}\)/g, "$1")
    .replace(/[*`]|<[^<>]{0,500}>/g, "")
    .trim();
  if (text !== "") headings.push({ level, text: text.slice(0, 200), line, column: 1, id });
}

function readMarkdownLine(
  body: string,
  line: number,
  found: { readonly links: GraphLink[]; readonly definitions: ReadonlyMap<string, string> },
): void {
  const rest = body.replace(INLINE, (_whole, label: string, target: string) => {
    addLink(found.links, target.replace(/\\(.)/g, "$1"), line, label);
    // A linked image has a link inside its label.
    for (const inner of label.matchAll(INLINE)) addLink(found.links, inner[2] ?? "", line, inner[1]);
    return "";
  });
  for (const match of rest.matchAll(AUTOLINK)) addLink(found.links, match[1] ?? "", line);
  for (const match of rest.matchAll(REFERENCE)) {
    const label = (match[2] === undefined || match[2] === "" ? match[1] : match[2]) ?? "";
    const target = found.definitions.get(label.toLowerCase());
    if (target !== undefined) addLink(found.links, target, line, match[1]);
  }
  if (rest.includes("<")) readHtml(rest, line, found.links, undefined);
}

const TAG = /<(\/?)([A-Za-z][\w-]{0,40})((?:[^<>"']|"[^"<]{0,4000}"|'[^'<]{0,4000}'){0,4000})>|<!--/g;
const ATTRIBUTE = /(?<![\w-])(href|src|id|name)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/gi;
const LINKING = new Set([
  "a",
  "area",
  "link",
  "img",
  "script",
  "iframe",
  "source",
  "video",
  "audio",
  "embed",
  "form",
  "use",
]);

function readHtml(text: string, firstLine: number, links: GraphLink[], headings: Heading[] | undefined): void {
  let line = firstLine;
  let counted = 0;
  const lineAt = (index: number) => {
    for (let at = text.indexOf("\n", counted); at !== -1 && at < index; at = text.indexOf("\n", counted)) {
      line++;
      counted = at + 1;
    }
    return line;
  };
  TAG.lastIndex = 0;
  const tags = new RegExp(TAG.source, TAG.flags);
  for (let match = tags.exec(text); match !== null && links.length < MAX_LINKS; match = tags.exec(text)) {
    if (match[0] === "<!--") {
      const end = text.indexOf("-->", tags.lastIndex);
      if (end === -1) return;
      tags.lastIndex = end + 3;
      continue;
    }
    const name = (match[2] ?? "").toLowerCase();
    if (match[1] === "/") continue;
    const attributes = attributesOf(match[3] ?? "");
    const number = lineAt(match.index);
    if (LINKING.has(name)) {
      const target = attributes.get("href") ?? attributes.get("src");
      if (target !== undefined) addLink(links, target, number);
    }
    if (headings !== undefined && /^h[1-6]$/.test(name)) {
      const end = text.indexOf(`</${match[2] ?? ""}`, tags.lastIndex);
      const inner = end === -1 || end - tags.lastIndex > 2_000 ? "" : text.slice(tags.lastIndex, end);
      const label = inner
        .replace(/<[^<>]*>/g, "")
        .replace(/\s+/g, " ")
        .trim();
      if (label !== "")
        headings.push({
          level: Number(name[1]),
          text: label.slice(0, 200),
          line: number,
          column: 1,
          id: attributes.get("id"),
        });
    }
    if (name === "script" || name === "style") {
      const end = text.indexOf(`</${match[2] ?? ""}`, tags.lastIndex);
      if (end !== -1) tags.lastIndex = end;
    }
  }
}

function attributesOf(source: string): Map<string, string> {
  const attributes = new Map<string, string>();
  for (const match of source.matchAll(ATTRIBUTE)) {
    const name = (match[1] ?? "").toLowerCase();
    if (!attributes.has(name)) attributes.set(name, match[2] ?? match[3] ?? match[4] ?? "");
  }
  return attributes;
}
