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

/**
 * WebAssembly that a package loads by its own path, and the client for PostgreSQL, which only teams install. Native code
 * is loaded with `require`, which is not bundled.
 */
const EXTERNAL = [/^web-tree-sitter$/, /^pg$/];

/**
 * Modules that go into one file together with everything they import. The first group that wants a module gets it. Each
 * group holds only what a command loads anyway.
 */
const GROUPS = [
  // All that a relay loads, and loads first, whatever the command is: nothing else may be in here.
  {
    name: "relay",
    modules:
      /packages\/(daemon\/dist\/(relay|wire)\/[\w-]+|cli\/dist\/(relay-main|relay-process|person-relay|commands\/broker\/broker-commands))\.js$/,
  },
  { name: "core", modules: /packages\/(core|protocol)\/dist\/(?!network\.js|schema\/|threads\/)/ },
  { name: "network", modules: /packages\/core\/dist\/network\.js$/ },
  { name: "schema", modules: /packages\/core\/dist\/schema\// },
  { name: "zod", modules: /node_modules\/zod\// },
  { name: "contract", modules: /packages\/store\/dist\/contract\// },
  { name: "program", modules: /packages\/cli\/dist\/program\.js$/ },
  { name: "app", modules: /packages\/cli\/dist\/app\/app\.js$/ },
  {
    name: "config",
    modules: /packages\/config\/dist\/(index|parse-file)\.js$|packages\/cli\/dist\/app\/live-config\.js$/,
  },
  { name: "journal", modules: /packages\/gateway\/dist\/journal\/index\.js$/ },
  { name: "remembered", modules: /packages\/client\/dist\/catalogue\/remembered-tools\.js$/ },
  { name: "hub", modules: /packages\/client\/dist\/(index|internal)\.js$/ },
];

/** Loaded in process, but an ES module like the threads: zstd has a top-level await. */
const TEAM_STORE = "store-postgres";

const PACKAGES = readdirSync(join(root, "packages"));

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
 * Entries for the modules that scripts import by package name: `@trunkline/store/contract` is `store-contract.cjs`.
 */
function packageEntries() {
  /** @type {Record<string, string>} */
  const entries = { main: join(cli, "dist", "main.js"), "relay-main": join(cli, "dist", "relay-main.js") };
  for (const folder of PACKAGES.filter((name) => name !== TEAM_STORE)) {
    const { name, exports } = JSON.parse(readFileSync(join(root, "packages", folder, "package.json"), "utf8"));
    for (const [path, { default: file }] of Object.entries(exports)) {
      // The bundle of the command is `trunkline.cjs`.
      const entry = `${name.replace("@trunkline/", "")}${path.slice(1).replaceAll("/", "-")}`;
      // Parts are for other engines, which bring the store along.
      if (path !== "./testing" && path !== "./parts") entries[entry] = join(root, "packages", folder, file);
    }
  }
  return entries;
}

/**
 * Makes `new URL("./file", import.meta.url)` work from the bundle's folder. A module becomes an entry: a thread
 * of the store or the embedded model is added to `threads`, if given, any other one to this bundle. A folder, such as the console's
 * page, is added to `folders`, to be copied. Other files stay where they are.
 *
 * @param {Record<string, string>} entries
 * @param {Record<string, string> | undefined} threads
 * @param {Record<string, string>} folders
 * @returns {import("rolldown").Plugin}
 */
function fileUrls(entries, threads, folders) {
  /** @type {Map<string, string>} names by file */
  const names = new Map(Object.entries(entries).map(([name, file]) => [file, name]));
  return {
    name: "file-urls",
    resolveId: {
      filter: { id: /^@trunkline\/store-postgres$/ },
      handler: () => ({ id: `./${TEAM_STORE}.mjs`, external: true }),
    },
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
          const isThread = /^packages\/(store|store-postgres|grep|embed)\//.test(posix(relative(root, file)));
          if (!names.has(file)) {
            if ([...names.values()].includes(name)) throw new Error(`${file}: "${name}" is taken. Rename the file.`);
            names.set(file, name);
            if (isThread && threads !== undefined) threads[name] = file;
            else this.emitFile({ type: "chunk", id: file, fileName: `${name}.${isThread ? "mjs" : "cjs"}` });
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
  const threads = { [TEAM_STORE]: join(root, "packages", TEAM_STORE, "dist", "index.js") };
  /** @type {Record<string, string>} */
  const folders = {};
  const command = await writeFormat(entries, fileUrls(entries, threads, folders), {
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
  // These threads are ES modules: zstd has a top-level await.
  const others = await writeFormat(threads, fileUrls(threads, undefined, folders), {
    dir: folder,
    format: "esm",
    entryFileNames: "[name].mjs",
    chunkFileNames: "[name]-[hash].mjs",
  });
  writeFileSync(join(folder, "THIRD-PARTY-LICENSES.txt"), licensesOf([...command, ...others, ...pageModules()]));
  for (const [name, source] of Object.entries(folders)) {
    const isStamp = (/** @type {string} */ path) => basename(path) === ".inputs";
    cpSync(source, join(folder, name), { recursive: true, filter: (path) => !isStamp(path) });
  }
}

/**
 * @param {Record<string, string>} input
 * @param {import("rolldown").Plugin} plugin
 * @param {import("rolldown").OutputOptions} output
 * @returns {Promise<string[]>} the modules in it
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
  const written = await build.write(output);
  await build.close();
  return written.output.flatMap((part) => (part.type === "chunk" ? part.moduleIds : []));
}

/** One file of each package that is part of the console's page, which was bundled before. */
function pageModules() {
  const names = ["preact", "uplot", "d3-force", "d3-dispatch", "d3-quadtree", "d3-timer"];
  return names.map((name) => join(root, "node_modules", name, "package.json"));
}

/**
 * Returns the licenses of the packages from npm that are in the bundle. Fails if one has none.
 *
 * @param {readonly string[]} modules
 */
function licensesOf(modules) {
  const folders = modules.map((file) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(posix(file))?.[0]);
  const texts = [...new Set(folders)].flatMap((folder) => {
    if (folder === undefined) return [];
    const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
    if (file === undefined && license === undefined) throw new Error(`${name} is in the bundle and has no license.`);
    const text = file === undefined ? "" : readFileSync(join(folder, file), "utf8").trim();
    return [`${name} ${version} (${license})\n\n${text}`.trim()];
  });
  return `${texts.sort().join(`\n\n${"-".repeat(80)}\n\n`)}\n`;
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
