// Counts what a reader of the sources has to hold in mind: `npm run counts`.
//
//   npm run counts               the figures of every package
//   npm run counts -- --lower    writes figures that fell into test/ratchet/limits.json
//
// test/ratchet/counts.test.ts compares them with the limits. See "Ratchets" in CONTRIBUTING.md.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseAst } from "rolldown/parseAst";
import { root } from "./checkout-copy.js";

export const LIMITS = join(root, "test", "ratchet", "limits.json");

/**
 * @typedef {Record<string, number>} Counts
 * @typedef {number | { limit: number, was: number, because: string }} Limit
 * @typedef {Record<string, Record<string, Limit>>} Limits
 * @typedef {{ type: string, [key: string]: any }} Node a node of the syntax tree, as ESTree describes it
 * @typedef {{ types: Map<string, number>, functions: string[], optionFields: number, optionTypes: number }} Declared
 */

const FIGURES = ["files", "lines", "exports", "types", "optionTypes", "optionFields", "ofFunctions"];

/** @param {string} name of a package's folder @returns {string[]} */
function sourcesOf(name) {
  return ["src", "page"].flatMap((folder) => {
    try {
      return readdirSync(join(root, "packages", name, folder), { recursive: true, encoding: "utf8" })
        .filter((path) => /\.tsx?$/.test(path) && !path.endsWith(".d.ts"))
        .map((path) => join(root, "packages", name, folder, path));
    } catch {
      return [];
    }
  });
}

/** @param {string} text @param {string} path @returns {Node} */
export function parse(text, path) {
  return parseAst(text, { lang: path.endsWith("x") ? "tsx" : "ts" });
}

/** Calls `visit` for a node and everything in it. @param {unknown} node @param {(node: Node) => void} visit */
function walk(node, visit) {
  if (Array.isArray(node)) for (const item of node) walk(item, visit);
  else if (typeof node === "object" && node !== null) {
    if ("type" in node && typeof node.type === "string") visit(/** @type {Node} */ (node));
    for (const value of Object.values(node)) walk(value, visit);
  }
}

/** How many fields a type lists itself, without those that it extends. @param {Node} node */
function fieldsOf(node) {
  let fields = 0;
  const parts = node.type === "TSIntersectionType" ? node.types : [node];
  for (const part of parts) {
    const members = part.type === "TSInterfaceBody" ? part.body : part.type === "TSTypeLiteral" ? part.members : [];
    fields += members.length;
  }
  return fields;
}

/** What a source declares at any depth. @param {Node} program @returns {Declared} */
export function declaredIn(program) {
  /** @type {Declared} */
  const declared = { types: new Map(), functions: [], optionFields: 0, optionTypes: 0 };
  walk(program, (node) => {
    if (node.type === "TSInterfaceDeclaration" || node.type === "TSTypeAliasDeclaration") {
      const name = node.id.name;
      declared.types.set(name, (declared.types.get(name) ?? 0) + 1);
      if (!name.endsWith("Options")) return;
      declared.optionTypes += 1;
      declared.optionFields += fieldsOf(node.body ?? node.typeAnnotation);
    } else if (node.type === "FunctionDeclaration" && node.id !== null) {
      declared.functions.push(node.id.name);
    } else if (node.type === "MethodDefinition" && node.kind === "method") {
      declared.functions.push(node.key.name ?? "");
    } else if (node.type === "VariableDeclarator" && /Function/.test(node.init?.type ?? "")) {
      declared.functions.push(node.id.name ?? "");
    }
  });
  return declared;
}

/** The names that a module exports, including those of a relative `export *`. @param {string} path @returns {string[]} */
export function exportedBy(path) {
  return parse(readFileSync(path, "utf8"), path).body.flatMap((/** @type {Node} */ node) => {
    if (node.type === "ExportDefaultDeclaration") return ["default"];
    if (node.type === "ExportAllDeclaration") {
      return exportedBy(join(dirname(path), node.source.value.replace(/\.js$/, ".ts")));
    }
    if (node.type !== "ExportNamedDeclaration") return [];
    if (node.declaration?.type === "VariableDeclaration") {
      return node.declaration.declarations.map((/** @type {Node} */ { id }) => id.name);
    }
    if (node.declaration) return [node.declaration.id.name];
    return node.specifiers.map((/** @type {Node} */ { exported }) => exported.name ?? exported.value);
  });
}

/** @param {string} name of a package's folder */
function entryPointsOf(name) {
  const { exports = {} } = JSON.parse(readFileSync(join(root, "packages", name, "package.json"), "utf8"));
  return Object.values(exports).map((/** @type {{ default: string }} */ { default: built }) => {
    return join(root, "packages", name, built.replace("./dist/", "src/").replace(/\.js$/, ".ts"));
  });
}

/** The rows of the glossary's tables. @param {string} page */
export function glossaryTerms(page) {
  return page.split("\n").filter((line) => /^\| (?!term \|)/.test(line)).length;
}

/** @returns {Record<string, Counts>} figures by package, and "all" for the figures of the whole repository */
export function countSources() {
  /** @type {Record<string, Counts>} */
  const counts = {};
  /** @type {Map<string, number>} */
  const meanings = new Map();
  for (const name of readdirSync(join(root, "packages")).sort()) {
    /** @type {Counts} */
    const figures = Object.fromEntries(FIGURES.map((figure) => [figure, 0]));
    const add = (/** @type {string} */ figure, /** @type {number} */ by) => {
      figures[figure] = (figures[figure] ?? 0) + by;
    };
    for (const path of sourcesOf(name)) {
      const text = readFileSync(path, "utf8");
      const { types, functions, optionFields, optionTypes } = declaredIn(parse(text, path));
      add("files", 1);
      add("lines", text.split("\n").length - 1);
      add("types", types.size);
      add("optionTypes", optionTypes);
      add("optionFields", optionFields);
      add("ofFunctions", functions.filter((written) => /[a-z0-9]Of$/.test(written)).length);
      for (const type of types.keys()) meanings.set(type, (meanings.get(type) ?? 0) + 1);
    }
    for (const path of entryPointsOf(name)) add("exports", new Set(exportedBy(path)).size);
    counts[name] = figures;
  }
  counts.all = {
    sharedTypeNames: [...meanings.values()].filter((times) => times > 1).length,
    glossaryTerms: glossaryTerms(readFileSync(join(root, "GLOSSARY.md"), "utf8")),
  };
  return counts;
}

/** @returns {Limits} */
export const readLimits = () => JSON.parse(readFileSync(LIMITS, "utf8"));

/** @param {Limit | undefined} limit */
const numberOf = (limit) => (typeof limit === "object" ? limit.limit : limit);

/**
 * Names every figure above its limit, and every limit that rose without a reason.
 *
 * @param {Record<string, Counts>} counts
 * @param {Limits} limits
 * @returns {string[]}
 */
export function overLimits(counts, limits) {
  return Object.entries(counts).flatMap(([name, figures]) =>
    Object.entries(figures).flatMap(([figure, value]) => {
      const limit = limits[name]?.[figure];
      const allowed = numberOf(limit);
      if (allowed === undefined) return [`${name}.${figure} is ${value} and has no limit yet`];
      if (value > allowed) return [`${name}.${figure} rose from ${allowed} to ${value}`];
      if (typeof limit !== "object" || limit.limit <= limit.was || limit.because.length >= 20) return [];
      return [`${name}.${figure} was raised from ${limit.was} to ${limit.limit} without a reason`];
    }),
  );
}

/**
 * The limits after figures fell. A limit that does not hold any more is kept: only a person may raise it.
 *
 * @param {Record<string, Counts>} counts
 * @param {Limits} limits
 * @returns {Limits}
 */
export function loweredLimits(counts, limits) {
  /** @type {Limits} */
  const lowered = {};
  for (const [name, figures] of Object.entries(counts)) {
    const before = limits[name] ?? {};
    lowered[name] = Object.fromEntries(
      Object.entries(figures).map(([figure, value]) => {
        const limit = before[figure];
        return [figure, limit === undefined || value < (numberOf(limit) ?? value) ? value : limit];
      }),
    );
  }
  return lowered;
}

/** @param {Record<string, Counts>} counts */
function printTable(counts) {
  const { all, ...packages } = counts;
  const totals = Object.fromEntries(
    FIGURES.map((figure) => [figure, Object.values(packages).reduce((sum, each) => sum + (each[figure] ?? 0), 0)]),
  );
  console.table({ ...packages, total: totals });
  for (const [figure, value] of Object.entries(all ?? {})) console.log(`${figure}: ${value}`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const counts = countSources();
  if (process.argv.includes("--lower")) {
    // Limits that other tests own, such as those of the flows, stay as they are.
    const limits = readLimits();
    writeFileSync(LIMITS, `${JSON.stringify({ ...limits, ...loweredLimits(counts, limits) }, undefined, 2)}\n`);
  }
  printTable(counts);
  for (const line of overLimits(counts, readLimits())) console.log(line);
}
