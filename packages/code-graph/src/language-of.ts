// Detects a document's language by its name, then by its first line.
import type { GraphLanguage } from "./model/graph-model.js";

const BY_EXTENSION: Readonly<Record<string, GraphLanguage>> = {
  ts: "typescript",
  mts: "typescript",
  cts: "typescript",
  tsx: "tsx",
  js: "javascript",
  mjs: "javascript",
  cjs: "javascript",
  jsx: "javascript",
  py: "python",
  pyi: "python",
  pyw: "python",
  go: "go",
  rs: "rust",
  c: "c",
  h: "c",
  cc: "cpp",
  cpp: "cpp",
  cxx: "cpp",
  "c++": "cpp",
  hh: "cpp",
  hpp: "cpp",
  hxx: "cpp",
  "h++": "cpp",
  ipp: "cpp",
  inl: "cpp",
  java: "java",
  cs: "csharp",
  rb: "ruby",
  rake: "ruby",
  gemspec: "ruby",
  php: "php",
  phtml: "php",
  md: "markdown",
  markdown: "markdown",
  mdx: "markdown",
  html: "html",
  htm: "html",
  xhtml: "html",
};

const BY_NAME: Readonly<Record<string, GraphLanguage>> = { Rakefile: "ruby", Gemfile: "ruby" };

const BY_PROGRAM: readonly (readonly [RegExp, GraphLanguage])[] = [
  [/\b(?:node|deno|bun)\b/, "javascript"],
  [/\b(?:tsx|ts-node)\b/, "typescript"],
  [/\bpython[\d.]*\b/, "python"],
  [/\bruby\b/, "ruby"],
  [/\bphp\b/, "php"],
];

/** C++ in a header that could be C. */
const CPP_IN_HEADER =
  /^[ \t]*(?:class\s+\w+[^;]*[{:]|namespace\s+\w*|template\s*<|using\s+\w+|(?:public|private|protected)\s*:)|\bstd::/m;

/** Returns the language of a document; undefined if there is no parser for it. */
export function languageOf(path: string, text = ""): GraphLanguage | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const dot = name.lastIndexOf(".");
  const extension = dot > 0 ? name.slice(dot + 1).toLowerCase() : "";
  if (extension === "h") return CPP_IN_HEADER.test(text.slice(0, 200_000)) ? "cpp" : "c";
  const known = Object.hasOwn(BY_EXTENSION, extension) ? BY_EXTENSION[extension] : undefined;
  if (known !== undefined) return known;
  if (Object.hasOwn(BY_NAME, name)) return BY_NAME[name];
  if (dot > 0 || !text.startsWith("#!")) return undefined;
  const first = text.slice(0, 200).split("\n", 1)[0] ?? "";
  return BY_PROGRAM.find(([program]) => program.test(first))?.[1];
}
