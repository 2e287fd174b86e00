// Plants a violation of every layer rule in a small tree with the repository's lint configuration and runs the linter
// once.
import { spawn } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { filesIn, folderGraph, LAYERS, layerRules } from "../../scripts/layers.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const biome = join(root, "node_modules", ".bin", process.platform === "win32" ? "biome.cmd" : "biome");
const packages = Object.entries(LAYERS);

const IMPORTS = "lint/style/noRestrictedImports";

/** File names that several features use for their own parts. */
const SHARED_NAMES = new Set(["index.ts", "command.ts", "run.ts"]);

const uses = (specifier: string) => `import * as planted from "${specifier}";\nexport const use = planted;\n`;
const usesType = (specifier: string) => `import type { Planted } from "${specifier}";\nexport type Use = Planted;\n`;

interface Planted {
  rule: string;
  file: string;
  text: string;
  category: string;
}

interface Permitted {
  what: string;
  file: string;
  text: string;
}

const LIBRARIES = [
  "zod",
  "@modelcontextprotocol/client",
  "@modelcontextprotocol/server",
  "better-sqlite3",
  "onnxruntime-node",
];
const NAMES = packages.map(([name]) => (name === "cli" ? "trunkline" : `@trunkline/${name}`));

/** Imports from one folder, or top-level file, to another: in both spellings, and from a nested file. */
const directions = packages.flatMap(([name, { folders = {} }]) =>
  Object.entries(folders).flatMap(([from, allowed]) =>
    Object.keys(folders)
      .filter((to) => to !== from)
      .map((to) => ({ name, from, to, isAllowed: allowed.includes(to) })),
  ),
);

function fileFor({ name, from, to }: { name: string; from: string; to: string }, at = ""): string {
  const target = to.replace(/\.ts$/, "");
  if (!from.endsWith(".ts")) return `packages/${name}/src/${from}/${at}planted-${target}.ts`;
  return `packages/${name}/src/${from}`;
}

function specifierOf({ from, to }: { from: string; to: string }, up = "../"): string {
  const target = to.endsWith(".ts") ? to.replace(/\.ts$/, ".js") : `${to}/planted.js`;
  return `${from.endsWith(".ts") ? "./" : up}${target}`;
}

const forbidden = directions.filter(({ isAllowed }) => !isAllowed);
const allowed = directions.filter(({ isAllowed }) => isAllowed);

const planted: Planted[] = [
  ...packages.flatMap(([name, { imports, only = {} }]) =>
    imports === undefined
      ? []
      : [...NAMES, ...LIBRARIES, ...Object.values(only).flat()]
          .filter((specifier) => specifier !== `@trunkline/${name}` && !imports.includes(specifier))
          .map((specifier, index) => ({
            rule: `${name} must not import ${specifier}`,
            file: `packages/${name}/src/planted-import-${index}.ts`,
            text: uses(specifier),
            category: IMPORTS,
          })),
  ),
  ...forbidden.flatMap((direction) => {
    const rule = `${direction.name}: ${direction.from} must not import ${direction.to}`;
    const near = { rule, file: fileFor(direction), text: usesType(specifierOf(direction)), category: IMPORTS };
    if (direction.from.endsWith(".ts")) return [{ ...near, text: usesType(specifierOf(direction)) }];
    const deep = fileFor(direction, "deep/");
    return [
      { ...near, rule: `${rule}, not even a type` },
      { rule, file: deep, text: uses(specifierOf(direction, "../../")), category: IMPORTS },
    ];
  }),
  ...packages
    .filter(([name]) => name !== "cli")
    .flatMap(([name]) => [
      {
        rule: `${name} must not use console`,
        file: `packages/${name}/src/planted-console.ts`,
        text: `console.log("planted");\n`,
        category: "lint/suspicious/noConsole",
      },
      {
        rule: `${name} must not read process.env`,
        file: `packages/${name}/src/planted-env.ts`,
        text: `export const home = process.env.HOME;\n`,
        category: "lint/style/noProcessEnv",
      },
      {
        rule: `${name} must not read the environment through node:process`,
        file: `packages/${name}/src/planted-env-import.ts`,
        text: `import { env } from "node:process";\n\nexport const home = env.HOME;\n`,
        category: IMPORTS,
      },
      {
        rule: `${name} must not call process.exit`,
        file: `packages/${name}/src/planted-exit.ts`,
        text: `export const stop = () => process.exit(1);\n`,
        category: "plugin",
      },
    ]),
  {
    rule: "a package must not reach into the sources of another",
    file: "packages/cli/src/planted-reach.ts",
    text: uses("../../client/src/planted.js"),
    category: IMPORTS,
  },
  {
    rule: "a package must not import what another does not list in its index",
    file: "packages/cli/src/planted-deep.ts",
    text: uses("@trunkline/client/dist/planted.js"),
    category: IMPORTS,
  },
  {
    rule: "cli must declare what it imports",
    file: "packages/cli/src/planted-undeclared.ts",
    text: uses("zod"),
    category: "lint/correctness/noUndeclaredDependencies",
  },
  {
    rule: "imports must not form a cycle",
    file: "packages/core/src/planted-cycle-a.ts",
    text: `import { b } from "./planted-cycle-b.js";\n\nexport const a = () => b;\n`,
    category: "lint/suspicious/noImportCycles",
  },
  {
    rule: "an index must not re-export everything",
    file: "packages/core/src/planted-star.ts",
    text: `export * from "./planted-cycle-a.js";\n`,
    category: "lint/performance/noReExportAll",
  },
  {
    rule: "a promise must not float",
    file: "packages/core/src/planted-floating.ts",
    text: `export function start(): void {\n  Promise.resolve(1);\n}\n`,
    category: "lint/nursery/noFloatingPromises",
  },
];

/** Without these, a rule that forbids everything would pass. */
const permitted: Permitted[] = [
  ...packages.flatMap(([name, { imports = ["@trunkline/core", "@trunkline/config"] }]) =>
    ["node:fs/promises", ...imports.filter((specifier) => !specifier.includes("*"))].map((specifier, index) => ({
      what: `${name} may import ${specifier}`,
      file: `packages/${name}/src/permitted-${index}.ts`,
      text: uses(specifier),
    })),
  ),
  ...packages.flatMap(([name, { only = {} }]) =>
    Object.entries(only).flatMap(([folder, specifiers]) =>
      specifiers.map((specifier, index) => ({
        what: `${name}/src/${folder} may import ${specifier}`,
        file: `packages/${name}/src/${folder}/permitted-${index}.ts`,
        text: uses(specifier),
      })),
    ),
  ),
  ...allowed
    .filter(({ from }) => !from.endsWith(".ts"))
    .flatMap((direction) => [
      {
        what: `${direction.name}: ${direction.from} may import ${direction.to}`,
        file: fileFor(direction),
        text: uses(specifierOf(direction)),
      },
      {
        what: `${direction.name}: ${direction.from}/deep may import ${direction.to}`,
        file: fileFor(direction, "deep/"),
        text: usesType(specifierOf(direction, "../../")),
      },
    ]),
  {
    what: "cli may read the environment",
    file: "packages/cli/src/permitted-env.ts",
    text: `export const home = process.env.HOME;\n`,
  },
  {
    what: "cli may end the process",
    file: "packages/cli/src/permitted-exit.ts",
    text: `export const stop = () => process.exit(1);\n`,
  },
];

/** Joins the texts of each file: a top-level file is a single file, so its violations are planted together. */
function textsByFile(files: readonly { file: string; text: string }[]): Map<string, string> {
  const texts = new Map<string, string>();
  for (const { file, text } of files) texts.set(file, `${texts.get(file) ?? ""}${text}`);
  return texts;
}

describe("the layer table", () => {
  it("lists every package", () => {
    expect(Object.keys(LAYERS).sort()).toEqual(readdirSync(join(root, "packages")).sort());
  });

  it.each(packages)("has no cycle in %s and lists all of its folders", (name, { folders = {} }) => {
    const graph = folderGraph(join(root, "packages", name, "src"));
    const done = new Set<string>();
    const visit = (unit: string, way: readonly string[]): void => {
      if (done.has(unit)) return;
      expect(way, `${unit} imports itself through others`).not.toContain(unit);
      for (const next of folders[unit] ?? []) visit(next, [...way, unit]);
      done.add(unit);
    };
    for (const unit of Object.keys(folders)) visit(unit, []);
    const present = new Set(filesIn(join(root, "packages", name, "src")).map((file) => file.split("/")[0] ?? ""));
    const unlisted = [...present].filter((unit) => !unit.endsWith(".ts") && !(unit in folders));
    expect(unlisted, "folders that the table lacks").toEqual([]);
    expect(
      Object.keys(folders).filter((unit) => !present.has(unit)),
      "units that don't exist",
    ).toEqual([]);
    for (const [unit, mayImport] of Object.entries(folders)) {
      const imported = [...(graph.get(unit) ?? [])].filter((each) => !mayImport.includes(each));
      expect(imported, `imports of ${unit}`).toEqual([]);
    }
  });
});

describe("file names", () => {
  it("are unique across all packages", () => {
    const places = new Map<string, string[]>();
    for (const [name] of packages) {
      for (const file of filesIn(join(root, "packages", name, "src"))) {
        const base = file.split("/").at(-1) ?? file;
        if (!SHARED_NAMES.has(base)) places.set(base, [...(places.get(base) ?? []), `${name}/src/${file}`]);
      }
    }
    expect([...places.values()].filter((files) => files.length > 1)).toEqual([]);
  });
});

describe("the linter", () => {
  interface Finding {
    category: string;
    severity: string;
    file: string;
  }

  let tree: string;
  let findings: Finding[];
  let exitCode: number | null;

  // Biome takes a second or two, and much longer on a busy machine.
  beforeAll(async () => {
    tree = mkdtempSync(join(tmpdir(), "trunkline-layers-"));
    for (const name of ["biome.json", "package.json", ".gitignore"]) copyFileSync(join(root, name), join(tree, name));
    cpSync(join(root, "scripts", "lint"), join(tree, "scripts", "lint"), { recursive: true });
    mkdirSync(join(tree, ".git"));
    for (const [name] of packages) {
      mkdirSync(join(tree, "packages", name, "src"), { recursive: true });
      copyFileSync(join(root, "packages", name, "package.json"), join(tree, "packages", name, "package.json"));
    }
    for (const [path, text] of layerRules(root)) writeFileSync(join(tree, path), text);
    const cycle = uses("./planted-cycle-a.js").replace("use =", "b =");
    const files = [...planted, ...permitted, { file: "packages/core/src/planted-cycle-b.ts", text: cycle }];
    for (const [file, text] of textsByFile(files)) {
      mkdirSync(dirname(join(tree, file)), { recursive: true });
      writeFileSync(join(tree, file), text);
    }
    ({ findings, exitCode } = await lint(tree));
  }, 300_000);

  afterAll(() => rmSync(tree, { recursive: true, force: true }));

  async function lint(cwd: string): Promise<{ findings: Finding[]; exitCode: number | null }> {
    const child = spawn(biome, ["lint", "--reporter=json", "--max-diagnostics=none", "packages"], {
      cwd,
      stdio: ["ignore", "pipe", "ignore"],
      shell: process.platform === "win32",
    });
    const status = new Promise<number | null>((resolve, reject) => {
      child.once("close", resolve);
      child.once("error", reject);
    });
    let stdout = "";
    for await (const chunk of child.stdout.setEncoding("utf8")) stdout += chunk;
    const report: {
      diagnostics: { category: string; severity: string; location: { path: string | { file: string } } }[];
    } = JSON.parse(stdout.slice(stdout.indexOf("{")));
    return {
      exitCode: await status,
      findings: report.diagnostics.map(({ category, severity, location }) => ({
        category,
        severity,
        file: (typeof location.path === "string" ? location.path : location.path.file).replaceAll("\\", "/"),
      })),
    };
  }

  it("fails", () => {
    expect(exitCode).not.toBe(0);
  });

  it.each(planted)("$rule", ({ file, category }) => {
    expect(findings).toContainEqual({ category, severity: "error", file });
  });

  it.each(permitted)("$what", ({ file }) => {
    expect(findings.filter((finding) => finding.file === file && finding.category === IMPORTS)).toEqual([]);
  });
});
