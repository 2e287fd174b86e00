// The layers of the repository, in one table: the allowed imports of each package and of each folder inside it. `npm
// run layers` writes the lint rules that enforce the table to a biome.json in each package, and `npm run check` runs it
// first: Biome looks at every override for every file, so all of them in one file would take most of its time.
// test/layers checks that every rule catches a planted violation.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * @typedef {object} PackageLayer
 * @property {string} message Shown with a violation of `imports`.
 * @property {readonly string[] | undefined} imports Packages and libraries that it may import. Default: everything it
 * declares.
 * @property {Readonly<Record<string, readonly string[]>>} [only] Imports that only one folder (by path) may use.
 * @property {Readonly<Record<string, readonly string[]>>} [folders]
 *   For each folder in src, and each file next to it that folders import: the folders and files it may import. Every other
 *   file in src may import everything below it.
 */

/** @type {Readonly<Record<string, PackageLayer>>} */
export const LAYERS = {
  core: {
    message: "core imports nothing but Node built-ins.",
    imports: [],
    folders: { schema: ["json.ts"], threads: ["deadline.ts", "errors.ts", "ports.ts"] },
  },
  protocol: { message: "protocol imports nothing but Node built-ins.", imports: [] },
  config: {
    message: "config imports core and config file parsers.",
    imports: ["@trunkline/core", "cross-spawn", "jsonc-parser", "yaml", "smol-toml"],
    folders: {
      names: [],
      secrets: [],
      import: ["config-files.ts", "entry-fields.ts", "program-text.ts", "written-entry.ts"],
      "permission-rules": [
        "config-files.ts",
        "edit.ts",
        "entry-fields.ts",
        "import",
        "parse-file.ts",
        "program-text.ts",
      ],
    },
  },
  client: {
    message: "client imports core, protocol, config, the MCP client SDK and undici.",
    imports: [
      "@trunkline/core",
      "@trunkline/core/network",
      "@trunkline/core/schema",
      "@trunkline/core/threads",
      "@trunkline/protocol",
      "@trunkline/config",
      "@modelcontextprotocol/client",
      "@modelcontextprotocol/client/stdio",
      "cross-spawn",
      "undici",
      "undici/lib/dispatcher/pool.js",
    ],
    folders: {
      channel: [],
      results: [],
      auth: ["channel"],
      wire: ["auth", "results"],
      connection: ["auth", "channel", "results", "wire"],
      pool: ["auth", "channel", "connection"],
      pins: ["auth"],
      catalogue: ["auth", "connection", "pins", "pool"],
      hub: ["auth", "catalogue", "channel", "connection", "pins", "pool", "results"],
    },
  },
  grep: { message: "grep imports core; no database.", imports: ["@trunkline/core", "@trunkline/core/threads"] },
  "code-graph": {
    message: "code-graph imports core and the parser; no database.",
    imports: ["@trunkline/core", "web-tree-sitter"],
    folders: {
      model: [],
      reading: ["model"],
      languages: ["model", "reading"],
      resolve: ["model", "reading"],
    },
  },
  store: {
    message: "store imports core, grep, code-graph and sqlite; sqlite only in engine/sqlite.",
    imports: [
      "@trunkline/core",
      "@trunkline/core/network",
      "@trunkline/core/threads",
      "@trunkline/grep",
      "@trunkline/code-graph",
      "@cloudpss/zstd/wasm",
      "chokidar",
    ],
    only: { "engine/sqlite": ["better-sqlite3"] },
    folders: {
      contract: [],
      engine: ["contract"],
      search: ["contract", "engine"],
      grep: ["contract", "engine"],
      graph: ["contract", "engine"],
      documents: ["contract", "engine", "graph"],
      sessions: ["contract", "documents", "engine"],
      maintenance: ["contract", "documents", "engine", "graph", "search"],
    },
  },
  "store-postgres": {
    message: "store-postgres imports core, the store's contract and parts, and pg.",
    imports: [
      "@trunkline/core",
      "@trunkline/core/threads",
      "@trunkline/store/contract",
      "@trunkline/store/parts",
      "pg",
    ],
    folders: {
      database: [],
      words: [],
      contents: ["database"],
      thread: ["words"],
      search: ["contents", "database", "words"],
      documents: ["contents", "database", "search", "thread", "words"],
      graph: ["contents", "database", "search"],
      grep: ["contents", "database"],
      indexing: ["contents", "database", "graph", "search", "thread", "words"],
      maintenance: ["contents", "database", "graph", "indexing", "search"],
      team: ["database"],
      transfer: ["contents", "database", "documents", "search"],
    },
  },
  embed: {
    message: "embed imports core and onnxruntime-node.",
    imports: ["@trunkline/core", "@trunkline/core/threads", "onnxruntime-node"],
    folders: { "models.ts": [], inference: [], weights: ["models.ts"], runtime: ["weights"] },
  },
  gateway: {
    message:
      "gateway imports core, protocol, config, client and the MCP server SDK; it uses the store through its port in core.",
    imports: [
      "@trunkline/core",
      "@trunkline/core/schema",
      "@trunkline/core/threads",
      "@trunkline/protocol",
      "@trunkline/config",
      "@trunkline/client",
      "@trunkline/client/catalogue",
      "@trunkline/client/internal",
      "@modelcontextprotocol/server",
      "yaml",
    ],
    folders: {
      interfaces: [],
      find: [],
      tokens: [],
      journal: ["tokens"],
      protocol: ["interfaces"],
      budget: ["interfaces", "tokens"],
      upstreams: ["interfaces"],
      endpoints: ["interfaces", "protocol"],
      prompts: ["interfaces", "upstreams"],
      resources: ["interfaces", "upstreams"],
      operations: ["budget", "find", "interfaces", "journal", "upstreams"],
      pipeline: ["budget", "interfaces", "journal", "operations"],
      surface: ["budget", "interfaces", "journal", "operations", "upstreams"],
      composite: ["budget", "interfaces", "journal", "operations", "pipeline"],
    },
  },
  agent: {
    message: "agent imports core and the model library; it uses the hub through the ToolSource port in core.",
    imports: ["@trunkline/core", "@trunkline/core/schema", "ai", "@ai-sdk/*", "zod"],
    folders: {
      tools: [],
      model: ["tools"],
      loop: ["model", "tools"],
      record: ["loop", "model", "tools"],
      conversation: ["loop", "model", "record"],
    },
  },
  daemon: {
    message: "daemon imports core; its relay imports nothing but Node built-ins.",
    imports: ["@trunkline/core"],
    folders: { wire: [], relay: ["wire"], server: ["wire"] },
  },
  console: {
    message: "console imports core; its page is bundled apart.",
    imports: ["@trunkline/core"],
    folders: { contract: [], server: ["contract"] },
  },
  cli: {
    message: "cli imports the other packages; the native libraries it declares are only for the bundle.",
    imports: [
      ...["agent", "client", "config", "console", "core", "daemon", "embed", "gateway", "protocol", "store"].map(
        (name) => `@trunkline/${name}`,
      ),
      "@trunkline/store-postgres",
      "@trunkline/client/*",
      "@trunkline/console/*",
      "@trunkline/core/*",
      "@trunkline/daemon/*",
      "@trunkline/gateway/*",
      "@trunkline/store/*",
      "@swc/wasm-typescript",
      "commander",
    ],
    folders: {
      terminal: [],
      install: ["terminal"],
      tokens: [],
      registry: [],
      updates: ["terminal"],
      app: ["terminal"],
      agent: ["app", "terminal"],
      console: ["app", "install", "terminal"],
      move: ["app", "install", "terminal"],
      scripting: ["agent", "app", "terminal"],
      commands: [
        "agent",
        "app",
        "console",
        "install",
        "move",
        "registry",
        "scripting",
        "terminal",
        "tokens",
        "updates",
      ],
    },
  },
};

const PROCESS = "Only cli reads the environment and exits the process. Use the global process for the rest.";
const CLI = {
  includes: ["**"],
  linter: { rules: { suspicious: { noConsole: "off" }, style: { noProcessEnv: "off" } } },
};
const BY_NAME = "Import a package by name, using only what its index exports.";

/**
 * Returns the texts of the lint configurations that enforce the table, by path.
 *
 * @param {string} root The repository.
 * @returns {Map<string, string>}
 */
export function layerRules(root) {
  const listed = Object.keys(LAYERS).flatMap((name) => entriesOf(join(root, "packages", name)));
  return new Map(
    Object.entries(LAYERS).map(([name, layer]) => {
      const files = filesIn(join(root, "packages", name, "src"));
      const units = Object.keys(layer.folders ?? {});
      const paths = name === "cli" ? {} : { paths: { "node:process": PROCESS } };
      const overrides = [
        name === "cli" ? CLI : { includes: ["src/**"], plugins: ["../../scripts/lint/no-process-exit.grit"] },
        { includes: ["test/**"], linter: { rules: { correctness: { noUndeclaredDependencies: "off" } } } },
        // A later override replaces the options of an earlier one.
        override(["src/**"], { ...paths, patterns: patternsOf(layer, { listed }) }),
        ...Object.entries(layer.only ?? {}).map(([folder, libraries]) => {
          const within = { listed, libraries, folder: folder.split("/")[0], files };
          return override([`src/${folder}/**`], { ...paths, patterns: patternsOf(layer, within) });
        }),
        ...units.map((unit) => {
          const isFile = unit.endsWith(".ts");
          const below = Object.keys(layer.only ?? {}).filter((folder) => folder.startsWith(`${unit}/`));
          const includes = isFile ? [`src/${unit}`] : [`src/${unit}/**`, ...below.map((each) => `!src/${each}/**`)];
          return override(includes, { ...paths, patterns: patternsOf(layer, { listed, folder: unit, files }) });
        }),
      ].map((each) => JSON.stringify(each));
      const text = `{"root":false,"extends":"//","overrides":[\n${overrides.join(",\n")}\n]}\n`;
      return [`packages/${name}/biome.json`, text];
    }),
  );
}

/**
 * Returns the exports of a package other than its index, such as `@trunkline/config`, as patterns that allow
 * them.
 *
 * @param {string} folder
 */
function entriesOf(folder) {
  const { name, exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return Object.keys(exports)
    .filter((path) => path !== "." && !path.endsWith(".json"))
    .map((path) => `!${name}${path.slice(1)}`);
}

/**
 * @param {PackageLayer} layer
 * @param {{ listed: readonly string[], libraries?: readonly string[], folder?: string | undefined, files?: readonly string[] }} within
 */
function patternsOf({ message, imports, folders }, { listed, libraries = [], folder, files = [] }) {
  const patterns = [];
  if (imports !== undefined) {
    const allowed = ["./**", "../**", "node:*", "node:*/**", ...imports, ...libraries];
    patterns.push({ group: ["**", ...allowed.map((each) => `!${each}`)], message });
  }
  patterns.push({ group: ["../**/src/**", "../**/dist/**", "@trunkline/*/**", ...listed], message: BY_NAME });
  const allowed = folder === undefined ? undefined : folders?.[folder];
  if (folders === undefined || folder === undefined || allowed === undefined) return patterns;
  const forbidden = unitsOf(files).filter((unit) => unit !== folder && unit !== "index.ts" && !allowed.includes(unit));
  if (forbidden.length === 0) return patterns;
  const ups = folder.endsWith(".ts") ? ["./"] : ["../", "../../", "../../../"];
  const group = forbidden.flatMap((unit) =>
    ups.map((up) => (unit.endsWith(".ts") ? `${up}${unit.replace(/\.ts$/, ".js")}` : `${up}${unit}/**`)),
  );
  const may = allowed.length === 0 ? "nothing else in this package" : `only ${allowed.join(", ")}`;
  patterns.push({ group, message: `${folder} may import ${may}. The table is in scripts/layers.js.` });
  return patterns;
}

/**
 * @param {readonly string[]} includes
 * @param {Readonly<Record<string, unknown>>} options
 */
function override(includes, options) {
  return { includes, linter: { rules: { style: { noRestrictedImports: { level: "error", options } } } } };
}

/**
 * Finds the imports between the folders of a package, by value or by type: maps a folder, or a file next to the
 * folders, to its imports.
 *
 * @param {string} src
 * @returns {Map<string, Set<string>>}
 */
export function folderGraph(src) {
  const graph = new Map();
  for (const file of filesIn(src)) {
    const from = unitOf(file);
    for (const [, specifier = ""] of readFileSync(join(src, file), "utf8").matchAll(
      /\b(?:from|import)[ (]*"(\.[^"]+)"/g,
    )) {
      const to = unitOf(
        relative(src, join(src, dirname(file), specifier))
          .replaceAll(sep, "/")
          .replace(/\.js$/, ".ts"),
      );
      if (to === from || to === "..") continue;
      graph.set(from, (graph.get(from) ?? new Set()).add(to));
    }
  }
  return graph;
}

/** @param {string} file */
function unitOf(file) {
  return /** @type {string} */ (file.split("/")[0]);
}

/** @param {readonly string[]} files */
function unitsOf(files) {
  return [...new Set(files.map(unitOf))].sort();
}

/** @param {string} folder */
export function filesIn(folder) {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((file) => file.replaceAll(sep, "/"))
    .filter((file) => file.endsWith(".ts"))
    .sort();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL("..", import.meta.url));
  for (const [path, text] of layerRules(root)) writeFileSync(join(root, path), text);
}
