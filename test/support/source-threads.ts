// Makes worker threads and child processes run the sources too. A thread loads a file, not the modules that Vitest has
// transformed, and Node does not load TypeScript. So if `new URL("./x.js", import.meta.url)` refers to a source file
// `x.ts`, it becomes the URL of a bundle of that file. The bundles of a package are built once per run, when a test
// first needs one.
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type Alias, build, type Plugin } from "vite";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const SOURCE = /\/packages\/([^/]+)\/(?:src|test)\/.*\.ts$/;
const FILE_URL = /new URL\("(\.\.?\/[^"]+)\.js", import\.meta\.url\)/g;

/** Running and finished builds, by package folder, shared by all projects. */
const builds = new Map<string, Promise<void>>();

/** Makes the tests' threads and child processes run the sources. `alias` maps packages to their sources. */
export function sourceThreads(alias: Alias[], building?: string): Plugin {
  return {
    name: "source-threads",
    enforce: "pre",
    buildStart: removeOldBundles,
    // Any source file can be part of a bundle.
    watchChange: () => builds.clear(),
    async transform(code, id) {
      const [file = ""] = id.split("?");
      const folder = SOURCE.exec(file)?.[1];
      if (folder === undefined) return undefined;
      const sources = sourcesIn(file, code);
      if (sources.size === 0) return undefined;
      if (folder !== building) {
        const built = builds.get(folder) ?? buildBundles(folder, alias);
        builds.set(folder, built);
        await built;
      }
      const url = (source: string) => pathToFileURL(join(outputOf(folder), `${basename(source, ".ts")}.js`)).href;
      const replaced = code.replace(FILE_URL, (expression) => {
        const source = sources.get(expression);
        return source === undefined ? expression : `new URL(${JSON.stringify(url(source))})`;
      });
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

/** Builds all bundles of a package at once, so those in the same thread share their modules. */
async function buildBundles(folder: string, alias: Alias[]): Promise<void> {
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
    plugins: [sourceThreads(alias, folder)],
    ssr: { noExternal: [/^@trunkline\//] },
    build: {
      ssr: true,
      outDir: outputOf(folder),
      target: "node20",
      minify: false,
      rolldownOptions: { input, output: { entryFileNames: "[name].js" } },
    },
  });
}

/** Returns a folder inside the package, so its dependencies can be resolved. */
function outputOf(folder: string): string {
  return join(bundlesOf(folder), String(process.pid));
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
