// Checks, packs and publishes all packages. `npm run release -- --dry-run` does everything except publishing and tagging.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { pack, readPackages } from "./pack.js";

const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * Returns a version's section of the changelog, without its heading.
 *
 * @param {string} changelog
 * @param {string} version
 */
export function releaseNotes(changelog, version) {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((each) => each.split(/\s/, 1)[0]?.replace(/[[\]]/g, "") === version);
  const notes = section?.slice(section.indexOf("\n") + 1).trim() ?? "";
  if (notes === "") throw new Error(`CHANGELOG.md has no entries for ${version}. Add a section "## ${version}".`);
  return notes;
}

/**
 * Lists packages, and dependencies between them, whose version differs from the release.
 *
 * @param {string} version
 * @param {readonly { name: string, version: string, dependencies?: Record<string, string> }[]} packages
 */
export function versionProblems(version, packages) {
  const names = new Set(packages.map(({ name }) => name));
  return packages.flatMap((each) => [
    ...(each.version === version ? [] : [`${each.name} has version ${each.version}`]),
    ...Object.entries(each.dependencies ?? {})
      .filter(([name, wanted]) => names.has(name) && wanted !== version)
      .map(([name, wanted]) => `${each.name} depends on ${name} ${wanted}`),
  ]);
}

/**
 * Sorts the packages so that each comes after the ones it depends on.
 *
 * @param {readonly { name: string, folder: string, dependencies?: Record<string, string> }[]} packages
 */
export function publishOrder(packages) {
  /** @type {typeof packages[number][]} */
  const ordered = [];
  /** @param {typeof packages[number]} each */
  const add = (each) => {
    if (ordered.includes(each)) return;
    for (const other of packages) if (each.dependencies?.[other.name] !== undefined) add(other);
    ordered.push(each);
  };
  for (const each of packages) add(each);
  return ordered;
}

/**
 * Finds problems in a package's file list: private or missing files, and output that doesn't match the sources.
 *
 * @param {readonly string[]} files
 */
export function packageProblems(files) {
  const packed = new Set(files);
  const unwanted = files.filter((file) =>
    /(^|\/)(test|node_modules)\/|\.test\.|\.tsbuildinfo$|^bundle\/inputs\.json$|\.inputs$|\.env$|(^|\/)(biome|tsconfig)\.json$/.test(
      file,
    ),
  );
  const wanted = ["package.json", "README.md", "LICENSE"];
  if (packed.has("bin/trunkline.cjs")) {
    wanted.push("types/cli/index.d.ts", "bundle/main.cjs", "bundle/trunkline.cjs", "bundle/THIRD-PARTY-LICENSES.txt");
    wanted.push("bundle/console-assets/index.html", "bundle/code-graph-grammars/tree-sitter-typescript.wasm");
  } else wanted.push("dist/index.js", "dist/index.d.ts");
  if (packed.has("src/contract/api.ts")) wanted.push("assets/index.html");
  if (packed.has("src/extract.ts")) wanted.push("grammars/tree-sitter-typescript.wasm");
  const missing = wanted.filter((file) => !packed.has(file));
  const stale = files.filter((file) => file.startsWith("dist/") && !packed.has(sourceOf(file)));
  const unbuilt = files.filter((file) => /^src\/.*(?<!\.d)\.ts$/.test(file) && !packed.has(outputOf(file)));
  return [
    ...unwanted.map((file) => `${file} must not be packed`),
    ...missing.map((file) => `${file} is missing`),
    ...stale.map((file) => `${file} has no source`),
    ...unbuilt.map((file) => `${file} was not built`),
  ];
}

/** @param {string} output a file below dist/ */
function sourceOf(output) {
  return output.replace(/^dist\//, "src/").replace(/(\.d\.ts|\.js)(\.map)?$/, ".ts");
}

/** @param {string} source a TypeScript file below src/ */
function outputOf(source) {
  return source.replace(/^src\//, "dist/").replace(/\.ts$/, ".js");
}

/** @param {string} command @param {readonly string[]} args @param {string} [cwd] */
function run(command, args, cwd = root) {
  return execFileSync(command, args, {
    cwd,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    shell: process.platform === "win32",
  });
}

/** @param {boolean} isDryRun */
function release(isDryRun) {
  if (run("git", ["status", "--porcelain"]) !== "") {
    if (!isDryRun) throw new Error("The working tree has changes. Commit them first.");
    console.log("The working tree has changes; they must be committed before a release.");
  }
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const packages = readPackages();
  const mismatches = versionProblems(version, packages);
  if (mismatches.length > 0) throw new Error(`All packages must be version ${version}: ${mismatches.join("; ")}.`);
  const notes = releaseNotes(readFileSync(join(root, "CHANGELOG.md"), "utf8"), version);

  // The compiler leaves the output of deleted sources behind.
  for (const { folder } of packages) rmSync(join(folder, "dist"), { recursive: true, force: true });
  run("npm", ["run", "build"]);
  const target = join(root, "dist");
  rmSync(target, { recursive: true, force: true });
  // Apart, so that `npm install -g ./dist/trunkline-*.tgz` means the command alone.
  const libraries = join(target, "libraries");
  mkdirSync(libraries, { recursive: true });
  const tarballs = publishOrder(packages).map((each) => {
    const { tarball, files, sizeBytes } = pack(each, each.name === "trunkline" ? target : libraries);
    const problems = packageProblems(files);
    if (problems.length > 0) throw new Error(`${each.name}: ${problems.join("; ")}.`);
    console.log(`${each.name} ${version}: ${files.length} files, ${Math.round(sizeBytes / 1024)} KB`);
    return tarball;
  });
  writeFileSync(join(target, "NOTES.md"), `${notes}\n`);
  console.log(`Packages and NOTES.md are in ${target}.`);
  if (isDryRun) {
    console.log("Dry run: nothing was published or tagged.");
    return;
  }
  for (const tarball of tarballs) run("npm", ["publish", tarball, "--provenance", "--access", "public"]);
  run("git", ["tag", "--annotate", `v${version}`, "--message", `v${version}`]);
  console.log(`Published ${version}. Push the tag: git push origin v${version}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { "dry-run": { type: "boolean", default: false } } });
  try {
    release(values["dry-run"]);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
