// Bundles the built command into packages/cli/bundle: one file for each part that is loaded on its own. Loading a few
// large CommonJS files takes a third of the time that Node needs for the same code as hundreds of ES modules.
//
// bin/trunkline.cjs runs the bundle only if `inputs.json` still matches, so compiling or installing without bundling
// runs the build output instead of an old bundle.
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = fileURLToPath(new URL("..", import.meta.url));
const cli = join(root, "packages", "cli");
const bundle = join(cli, "bundle");

/** Native code and WebAssembly, which packages load by their own paths. */
const EXTERNAL = [/^better-sqlite3$/, /^@cloudpss\/zstd/, /^web-tree-sitter$/, /^@vscode\/tree-sitter-wasm/];

/**
 * Modules that go into one file together with everything they import. The first group that wants a module gets it. Each
 * group holds only what a command loads anyway.
 */
const GROUPS = [
  // All that a relay loads, and loads first, whatever the command is: nothing else may be in here.
  {
    name: "relay",
    modules:
      /packages\/(broker\/dist\/(relay|wire)\/[\w-]+|cli\/dist\/(relay-main|relay-process|person-relay|commands\/broker\/broker-commands))\.js$/,
  },
  { name: "core", modules: /packages\/(core|protocol)\/dist\/(?!network\.js)/ },
  { name: "network", modules: /packages\/core\/dist\/network\.js$/ },
  { name: "zod", modules: /node_modules\/zod\// },
  { name: "contract", modules: /packages\/store\/dist\/contract\// },
  { name: "program", modules: /packages\/cli\/dist\/program\.js$/ },
  { name: "app", modules: /packages\/cli\/dist\/app\/app\.js$/ },
  {
    name: "config",
    modules: /packages\/client\/dist\/config\/(index|parse-file)\.js$|packages\/cli\/dist\/app\/live-config\.js$/,
  },
  { name: "journal", modules: /packages\/server\/dist\/(journal\/index|upstreams\/kept-tools)\.js$/ },
  { name: "hub", modules: /packages\/client\/dist\/(index|internal)\.js$/ },
];

/** The packages in the bundle. The embedded model is installed on its own. */
const PACKAGES = readdirSync(join(root, "packages")).filter((name) => name !== "embed");

/** The files that change whenever a package is compiled or a dependency is installed. */
function inputs() {
  const files = [
    ...PACKAGES.map((name) => `packages/${name}/dist/.tsbuildinfo`),
    "packages/console/assets/.inputs",
    "node_modules/.package-lock.json",
    "scripts/bundle.js",
  ];
  // Only npm writes the lock file into node_modules.
  const present = files.filter((file) => existsSync(join(root, file)));
  return present.map((file) => ({
    file: posix(relative(bundle, join(root, file))),
    changedMs: statSync(join(root, file)).mtimeMs,
  }));
}

/** @param {string} path */
const posix = (path) => path.split(sep).join("/");

/**
 * Entries for the modules that scripts import by package name: `@trunkline/client/config` is `client-config.cjs`.
 */
function packageEntries() {
  /** @type {Record<string, string>} */
  const entries = { main: join(cli, "dist", "main.js"), "relay-main": join(cli, "dist", "relay-main.js") };
  for (const folder of PACKAGES) {
    const { name, exports } = JSON.parse(readFileSync(join(root, "packages", folder, "package.json"), "utf8"));
    for (const [path, { default: file }] of Object.entries(exports)) {
      // The bundle of the command is `trunkline.cjs`.
      const entry = `${name.replace("@trunkline/", "")}${path.slice(1).replaceAll("/", "-")}`;
      if (path !== "./testing") entries[entry] = join(root, "packages", folder, file);
    }
  }
  return entries;
}

/**
 * Makes `new URL("./file", import.meta.url)` work from the bundle's folder. A module becomes an entry: one of the
 * store's threads is added to `threads`, any other one to this bundle. A folder, such as the console's page, is added to
 * `folders`, to be copied. Other files stay where they are.
 *
 * @param {Record<string, string>} entries
 * @param {Record<string, string>} threads
 * @param {Record<string, string>} [folders]
 * @returns {import("rolldown").Plugin}
 */
function fileUrls(entries, threads, folders = {}) {
  /** @type {Map<string, string>} names by file */
  const names = new Map(Object.entries(entries).map(([name, file]) => [file, name]));
  return {
    name: "file-urls",
    transform: {
      filter: { id: /[\\/]packages[\\/][^\\/]+[\\/]dist[\\/]/, code: /new URL\([^)]*import\.meta\.url\)/ },
      handler(code, id) {
        return code.replaceAll(/new URL\(([^()]*?),?\s*import\.meta\.url\)/g, (expression, argument) => {
          const path = /^["`](\.\.?\/[^"]*)["`]$/.exec(argument)?.[1];
          if (path === undefined) throw new Error(`${id}: cannot bundle ${expression}. Use a relative path.`);
          const file = resolve(dirname(id), path);
          if (path.endsWith("/")) {
            const name = posix(relative(join(root, "packages"), file)).replaceAll("/", "-");
            folders[name] = file;
            return `new URL("./${name}/", import.meta.url)`;
          }
          if (!path.endsWith(".js"))
            return `new URL(${argument.replace(path, posix(relative(bundle, file)))}, import.meta.url)`;
          const name = names.get(file) ?? basename(file, ".js");
          const isThread = file.startsWith(join(root, "packages", "store"));
          if (!names.has(file)) {
            if ([...names.values()].includes(name)) throw new Error(`${file}: "${name}" is taken. Rename the file.`);
            names.set(file, name);
            if (isThread) threads[name] = file;
            else this.emitFile({ type: "chunk", id: file, fileName: `${name}.cjs` });
          }
          return `new URL("./${name}.${isThread ? "mjs" : "cjs"}", import.meta.url)`;
        });
      },
    },
  };
}

/**
 * Names a chunk after its last module: `cli-commands-run-run` for packages/cli/dist/commands/run/run.js. Stack traces
 * show these names, and `trunkline run` hides those of its own. Groups keep their names.
 *
 * @param {string | undefined} file
 */
function placeOf(file = "") {
  if (GROUPS.some(({ modules }) => modules.test(posix(file)))) return undefined;
  const [, folder, path] = /\/packages\/([^/]+)\/dist\/(.*)\.js$/.exec(posix(file)) ?? [];
  return path === undefined ? undefined : `${folder}-${path.replaceAll("/", "-")}`;
}

/** @param {string} folder */
async function write(folder) {
  const entries = packageEntries();
  /** @type {Record<string, string>} */
  const threads = {};
  /** @type {Record<string, string>} */
  const folders = {};
  await writeFormat(entries, fileUrls(entries, threads, folders), {
    dir: folder,
    format: "cjs",
    entryFileNames: "[name].cjs",
    chunkFileNames: ({ name, moduleIds }) => `${placeOf(moduleIds.at(-1)) ?? name}-[hash].cjs`,
    codeSplitting: {
      groups: GROUPS.map(({ name, modules }, index) => ({
        name,
        priority: GROUPS.length - index,
        test: (id) => modules.test(posix(id)),
      })),
    },
  });
  // The store's threads are ES modules: zstd has a top-level await.
  await writeFormat(threads, fileUrls(threads, {}), {
    dir: folder,
    format: "esm",
    entryFileNames: "[name].mjs",
    chunkFileNames: "[name]-[hash].mjs",
  });
  for (const [name, source] of Object.entries(folders)) {
    const isStamp = (/** @type {string} */ path) => basename(path) === ".inputs";
    cpSync(source, join(folder, name), { recursive: true, filter: (path) => !isStamp(path) });
  }
}

/**
 * @param {Record<string, string>} input
 * @param {import("rolldown").Plugin} plugin
 * @param {import("rolldown").OutputOptions} output
 */
async function writeFormat(input, plugin, output) {
  const build = await rolldown({
    cwd: root,
    input,
    platform: "node",
    external: EXTERNAL,
    // Without it, jsonc-parser comes as UMD, which cannot be bundled.
    resolve: { mainFields: ["module", "main"] },
    tsconfig: false,
    plugins: [plugin],
    // Expected: a module can be in a group and be loaded lazily by others.
    checks: { ineffectiveDynamicImport: false },
    // Fails in Rolldown 1.2 with CommonJS output.
    experimental: { chunkOptimization: false },
  });
  await build.write(output);
  await build.close();
}

const stamp = `${JSON.stringify(inputs(), undefined, 2)}\n`;
const stampFile = join(bundle, "inputs.json");
if (!existsSync(stampFile) || readFileSync(stampFile, "utf8") !== stamp) {
  // A bundle that is being written is never run.
  const unfinished = `${bundle}.${process.pid}`;
  try {
    mkdirSync(unfinished);
    await write(unfinished);
    writeFileSync(join(unfinished, "inputs.json"), stamp);
    rmSync(bundle, { recursive: true, force: true });
    renameSync(unfinished, bundle);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}
