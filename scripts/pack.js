// Packs the packages as they are published. The libraries are packed as they are. The command is packed from a folder of
// its own: the bundle holds our other packages, so its manifest lists only what is not in the bundle, and it can be
// installed without them.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const cli = join(root, "packages", "cli");

/** The dependencies of the command that are not in the bundle: WebAssembly and, optionally, native code. */
const NOT_BUNDLED = ["@swc/wasm-typescript", "web-tree-sitter", "better-sqlite3"];

/**
 * @typedef {object} Manifest
 * @property {string} name
 * @property {string} version
 * @property {Record<string, { types: string, default: string }>} exports
 * @property {Record<string, string>} [dependencies]
 * @property {Record<string, string>} [optionalDependencies]
 */

/**
 * Returns the manifests of all packages, with their folders.
 *
 * @returns {(Manifest & { folder: string })[]}
 */
export function readPackages() {
  return readdirSync(join(root, "packages")).map((name) => {
    const folder = join(root, "packages", name);
    return { ...JSON.parse(readFileSync(join(folder, "package.json"), "utf8")), folder };
  });
}

/**
 * Packs one package into the folder `target`. The packages must be built.
 *
 * @param {{ name: string, folder: string }} each
 * @param {string} target
 * @returns {{ tarball: string, files: string[], sizeBytes: number }}
 */
export function pack({ name, folder }, target) {
  if (name !== "trunkline") return npmPack(folder, target);
  const staged = mkdtempSync(join(tmpdir(), "trunkline-pack-"));
  try {
    stageCommand(staged);
    return npmPack(staged, target);
  } finally {
    rmSync(staged, { recursive: true, force: true });
  }
}

/** @param {string} folder @param {string} target */
function npmPack(folder, target) {
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", target];
  const stdout = execFileSync("npm", args, {
    cwd: folder,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    maxBuffer: 16 * 1024 * 1024,
    shell: process.platform === "win32",
  });
  /** @type {{ filename: string, size: number, files: { path: string }[] }[]} */
  const [packed] = Object.values(JSON.parse(stdout));
  if (packed === undefined) throw new Error(`npm packed nothing in ${folder}.`);
  return {
    tarball: join(target, packed.filename),
    files: packed.files.map(({ path }) => path),
    sizeBytes: packed.size,
  };
}

/** Puts everything that the published command consists of into a folder. @param {string} folder */
function stageCommand(folder) {
  for (const name of ["bin", "LICENSE", "README.md"]) cpSync(join(cli, name), join(folder, name), { recursive: true });
  cpSync(join(cli, "bundle"), join(folder, "bundle"), {
    recursive: true,
    filter: (path) => basename(path) !== "inputs.json",
  });
  // Read by `trunkline completion`.
  const completion = join("src", "commands", "completion");
  cpSync(join(cli, completion), join(folder, completion), {
    recursive: true,
    filter: (path) => !path.endsWith(".ts"),
  });
  const types = writeTypes(join(cli, "dist", "index.d.ts"), join(folder, "types"));
  const manifest = JSON.parse(readFileSync(join(cli, "package.json"), "utf8"));
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(publishedManifest(manifest, types), undefined, 2)}\n`);
}

/**
 * Returns the manifest that the command is published with.
 *
 * @param {Manifest & Record<string, unknown>} manifest
 * @param {string} types The file with its types.
 */
export function publishedManifest(manifest, types) {
  const { private: _private, scripts: _scripts, files: _files, devDependencies: _dev, ...published } = manifest;
  /** @param {Record<string, string>} [all] */
  const external = (all = {}) => Object.fromEntries(Object.entries(all).filter(([name]) => NOT_BUNDLED.includes(name)));
  return {
    ...published,
    exports: { ".": { types: `./types/${types}`, default: "./bundle/trunkline.cjs" } },
    dependencies: external(manifest.dependencies),
    optionalDependencies: external(manifest.optionalDependencies),
  };
}

/**
 * Copies a file with types, and all it imports from our packages, into a folder: `packages/core/dist/errors.d.ts`
 * becomes `core/errors.d.ts`. Returns the path of the copy in the folder.
 *
 * @param {string} entry
 * @param {string} target
 */
function writeTypes(entry, target) {
  const packages = new Map(readPackages().map((each) => [each.name, each]));
  /** @param {string} file */
  const placeOf = (file) => relative(join(root, "packages"), file).split(sep).join("/").replace("/dist/", "/");
  /** @type {Set<string>} */
  const written = new Set();
  /** @param {string} file */
  const write = (file) => {
    if (written.has(file)) return;
    written.add(file);
    const text = rewriteTypes(readFileSync(file, "utf8"), (specifier) => {
      const imported = specifier.startsWith(".")
        ? join(dirname(file), specifier.replace(/\.js$/, ".d.ts"))
        : typesFile(specifier, packages);
      if (imported === undefined) return undefined;
      write(imported);
      const path = relative(dirname(placeOf(file)), placeOf(imported))
        .split(sep)
        .join("/")
        .replace(/\.d\.ts$/, ".js");
      return path.startsWith(".") ? path : `./${path}`;
    });
    const copy = join(target, placeOf(file));
    mkdirSync(dirname(copy), { recursive: true });
    writeFileSync(copy, text);
  };
  write(entry);
  return placeOf(entry);
}

/** @param {string} specifier @param {Map<string, Manifest & { folder: string }>} packages */
function typesFile(specifier, packages) {
  const [, name = "", path = ""] = /^((?:@[^/]+\/)?[^/]+)(.*)$/.exec(specifier) ?? [];
  const own = packages.get(name);
  const types = own?.exports[`.${path}`]?.types;
  return own === undefined || types === undefined ? undefined : join(own.folder, types);
}

/**
 * Changes the imports of a file with types. `find` returns the new specifier of our own modules. Types from other
 * packages become `any`: ours use them internally, and most of those packages are in the bundle.
 *
 * @param {string} text
 * @param {(specifier: string) => string | undefined} find
 */
export function rewriteTypes(text, find) {
  return text
    .replace(/^\/\/# sourceMappingURL=.*\n?/m, "")
    .replaceAll(/^((?:import|export)\b[^;"']*?\bfrom\s*)"([^"]+)";/gm, (statement, start, specifier) => {
      const found = find(specifier);
      if (found !== undefined) return `${start}"${found}";`;
      if (specifier.startsWith("node:")) return statement;
      const names = /^import (?:type )?\{([^}]*)\} from $/.exec(start)?.[1];
      if (names === undefined) throw new Error(`Cannot pack the types of ${specifier}: ${statement}`);
      // `A`, `type A` or `A as B`: the last word is the name in this file.
      return [...names.matchAll(/(\w+)\s*(?:,|$)/g)].map(([, name]) => `type ${name} = any;`).join("\n");
    })
    .replaceAll(/^(?!\s*\*)(.*\bimport\()"([^"]+)"/gm, (expression, start, specifier) => {
      const found = find(specifier);
      return found === undefined ? expression : `${start}"${found}"`;
    });
}
