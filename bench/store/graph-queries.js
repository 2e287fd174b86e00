// Tree-sitter queries against the `visit` functions of the code graph, for Go and Python: what each approach finds and
// how long it takes. The queries capture the nodes and fields that the `visit` functions use; resolving scopes and
// types, which would have to follow in both cases, is timed only for ours.
//   node bench/store/graph-queries.js <folder with source files> [--rounds 5]

import { readdirSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { extractGraphSync } from "../../packages/code-graph/dist/extract.js";
import { loadParser } from "../../packages/code-graph/dist/reading/parser.js";

const { values, positionals } = parseArgs({
  options: { rounds: { type: "string", default: "5" }, files: { type: "string", default: "1000" } },
  allowPositionals: true,
});
const [folder] = positionals;
if (folder === undefined) throw new Error("Name a folder with source files.");
const requireFromStore = createRequire(new URL("../../packages/store/package.json", import.meta.url));
// The module the store has already loaded: the ES module next to the file that require resolves to.
const library = requireFromStore.resolve("web-tree-sitter").replace(/\.cjs$/, ".js");
const { Query } = await import(pathToFileURL(library).href);

/** @type {Record<string, { ending: string, query: string }>} */
const LANGUAGES = {
  go: {
    ending: ".go",
    query: `
(package_clause (package_identifier) @package)
(import_spec name: (_)? @alias path: (_) @specifier) @import
(function_declaration name: (_) @name result: (_)? @type) @function
(method_declaration receiver: (parameter_list (parameter_declaration type: (_) @owner)) name: (_) @name
  result: (_)? @type) @method
(func_literal) @scope
(type_spec name: (_) @name type: (_) @value) @type_definition
(type_alias name: (_) @name type: (_) @value) @type_definition
(const_spec name: (_) @name) @variable
(var_spec name: (_) @name) @variable
(field_declaration name: (_) @name type: (_) @type) @property
(field_declaration !name type: (_) @type) @embedded
(method_elem name: (_) @name result: (_)? @type) @method
(type_elem . (_) @base .) @inherits
(parameter_declaration name: (_) @name type: (_) @type) @local
(variadic_parameter_declaration name: (_) @name) @local
(short_var_declaration left: (_) @left right: (_) @right) @local
(range_clause left: (_) @left) @local
(call_expression function: (_) @callee) @call`,
  },
  python: {
    ending: ".py",
    query: `
(class_definition name: (_) @name superclasses: (argument_list (_) @base)?) @class
(function_definition name: (_) @name parameters: (_) @parameters return_type: (_)? @type) @function
(lambda parameters: (_)? @parameters) @scope
(assignment left: (_) @left type: (_)? @type right: (_)? @right) @variable
(type_alias_statement left: (_) @name) @type_definition
(for_statement left: (_) @left) @local
(for_in_clause left: (_) @left) @local
(with_item value: (as_pattern alias: (_) @left)) @local
(except_clause (as_pattern alias: (_) @left)) @local
(decorator (_) @callee) @call
(call function: (_) @callee) @call
(import_statement name: (_) @specifier) @import
(import_from_statement module_name: (_) @specifier name: (_)? @name) @import`,
  },
};
const DEFINITIONS = new Set(["function", "method", "class", "type_definition"]);

/** @param {string} ending */
function* sources(ending) {
  let count = 0;
  for (const name of readdirSync(/** @type {string} */ (folder), { recursive: true, encoding: "utf8" })) {
    const path = join(/** @type {string} */ (folder), name);
    if (!name.endsWith(ending) || !statSync(path).isFile()) continue;
    yield { path: name, text: readFileSync(path, "utf8") };
    if (++count >= Number(values.files)) return;
  }
}

/** @param {() => number} work */
function fastest(work) {
  let ms = Number.POSITIVE_INFINITY;
  let count = 0;
  for (let round = 0; round < Number(values.rounds); round++) {
    const start = performance.now();
    count = work();
    ms = Math.min(ms, performance.now() - start);
  }
  return { ms, count };
}

console.log(
  "| language | files | lines | parse ms | parse + query ms | parse + visit + scopes and types ms | definitions by query / visit |",
);
console.log("|---|---|---|---|---|---|---|");
for (const [name, { ending, query: text }] of Object.entries(LANGUAGES)) {
  const files = [...sources(ending)];
  if (files.length === 0) continue;
  const language = /** @type {"go" | "python"} */ (name);
  const parser = await loadParser(language);
  const query = new Query(/** @type {any} */ (parser).language, text);
  const lines = files.reduce((sum, file) => sum + file.text.split("\n").length, 0);

  const parsing = fastest(() => {
    for (const file of files) parser.parse(file.text)?.delete();
    return files.length;
  });
  const queried = fastest(() => {
    let definitions = 0;
    for (const file of files) {
      const tree = parser.parse(file.text);
      if (tree === null) continue;
      for (const { captures } of query.matches(tree.rootNode)) {
        let isDefinition = false;
        for (const { name: capture, node } of captures) {
          // Every rule needs a capture's position and text.
          file.text.slice(node.startIndex, node.endIndex);
          isDefinition ||= DEFINITIONS.has(capture);
        }
        if (isDefinition) definitions++;
      }
      tree.delete();
    }
    return definitions;
  });
  const visited = fastest(() => {
    let definitions = 0;
    for (const file of files) {
      const { symbols } = extractGraphSync({ ...file, language });
      for (const { kind } of symbols) if (kind !== "variable" && kind !== "property") definitions++;
    }
    return definitions;
  });
  const times = [parsing.ms, queried.ms, visited.ms].map((ms) => ms.toFixed(0)).join(" | ");
  console.log(`| ${name} | ${files.length} | ${lines} | ${times} | ${queried.count} / ${visited.count} |`);
}
