// Makes worker threads and child processes run the sources too. A thread loads a file, not the modules that Vitest has
// transformed, and Node does not load TypeScript. So if `new URL("./x.js", import.meta.url)` refers to a source file
// `x.ts`, it becomes the URL of a bundle of that file. The bundles of a package are built once per run, when a test
// first needs one. The URL of a folder, `new URL("../x/", import.meta.url)`, keeps its meaning in a bundle.
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type Alias, build, type Plugin } from "vite";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const SOURCE = /\/packages\/([^/]+)\/(?:src|test)\/.*\.ts$/;
const FILE_URL = /new URL\("(\.\.?\/[^"]+)\.js", import\.meta\.url\)/g;
const FOLDER_URL = /new URL\("(\.\.?\/[^"]*\/)", import\.meta\.url\)/g;

interface Builds {
  /** Where the bundles of each package are, or will be. */
  readonly folders: Map<string, Promise<string>>;
  count: number;
}

/**
 * The builds of this process. Vitest loads its configuration, and with it this module, once for each project: without a
 * common place, the second project would build again, over bundles that threads of the first one are loading.
 */
const SHARED = Symbol.for("trunkline.source-threads");
const shared = globalThis as typeof globalThis & { [SHARED]?: Builds };
shared[SHARED] ??= { folders: new Map(), count: 0 };
const builds = shared[SHARED];

/**
 * Makes the tests' threads and child processes run the sources. `alias` maps packages to their sources. `building` is the
 * package being built, and where its bundles go.
 */
export function sourceThreads(alias: Alias[], building?: { folder: string; output: string }): Plugin {
  return {
    name: "source-threads",
    enforce: "pre",
    buildStart: removeOldBundles,
    // Any source file can be part of a bundle.
    watchChange: () => builds.folders.clear(),
    async transform(code, id) {
      const [file = ""] = id.split("?");
      const folder = SOURCE.exec(file)?.[1];
      if (folder === undefined) return undefined;
      const sources = sourcesIn(file, code);
      if (sources.size === 0 && code.search(FOLDER_URL) === -1) return undefined;
      let output = building?.output ?? "";
      if (folder !== building?.folder && sources.size > 0) {
        const built = builds.folders.get(folder) ?? buildBundles(folder, alias);
        builds.folders.set(folder, built);
        output = await built;
      }
      const url = (source: string) => pathToFileURL(join(output, `${basename(source, ".ts")}.js`)).href;
      const replaced = code
        .replace(FILE_URL, (expression) => {
          const source = sources.get(expression);
          return source === undefined ? expression : `new URL(${JSON.stringify(url(source))})`;
        })
        .replace(
          FOLDER_URL,
          (_expression, path: string) => `new URL(${JSON.stringify(new URL(path, pathToFileURL(file)).href)})`,
        );
      return { code: replaced, map: null };
    },
  };
}

/** Finds the source files a module refers to, by the expression that refers to them. */
function sourcesIn(file: string, code: string): Map<string, string> {
  const named = [...code.matchAll(FILE_URL)].map(
    ([expression, path = ""]) => [expression, `${resolve(dirname(file), path)}.ts`] as const,
  );
  return new Map(named.filter(([, source]) => existsSync(source)));
}

/** Builds all bundles of a package at once, so those in the same thread share their modules. Returns their folder. */
async function buildBundles(folder: string, alias: Alias[]): Promise<string> {
  // Never the folder of an earlier build: its threads may still load parts of it. Inside the package, so that its
  // dependencies can be resolved.
  const output = join(bundlesOf(folder), String(process.pid), String(++builds.count));
  const root = join(ROOT, "packages", folder);
  const files = ["src", "test"].flatMap((part) =>
    readdirSync(join(root, part), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => join(root, part, name)),
  );
  const sources = new Set(files.flatMap((file) => [...sourcesIn(file, readFileSync(file, "utf8")).values()]));
  const input = Object.fromEntries([...sources].map((source) => [basename(source, ".ts"), source]));
  await build({
    configFile: false,
    root: ROOT,
    logLevel: "error",
    resolve: { alias },
    plugins: [sourceThreads(alias, { folder, output })],
    ssr: { noExternal: [/^@trunkline\//] },
    build: {
      ssr: true,
      outDir: output,
      target: "node20",
      minify: false,
      rolldownOptions: { input, output: { entryFileNames: "[name].js" } },
    },
  });
  return output;
}

function bundlesOf(folder: string): string {
  return join(ROOT, "packages", folder, "node_modules", ".source-threads");
}

/** Removes bundles of finished runs, whose folders are named after their process ids. */
function removeOldBundles(): void {
  for (const folder of readdirSync(join(ROOT, "packages"))) {
    if (!existsSync(bundlesOf(folder))) continue;
    for (const pid of readdirSync(bundlesOf(folder))) {
      if (!isRunning(Number(pid))) rmSync(join(bundlesOf(folder), pid), { recursive: true, force: true });
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
