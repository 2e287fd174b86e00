// Plants one violation of each layer rule in a copy of the repository and sees the check find it.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const biome = join(root, "node_modules", ".bin", process.platform === "win32" ? "biome.cmd" : "biome");

const IMPORTS = "lint/style/noRestrictedImports";
const UNDECLARED = "lint/correctness/noUndeclaredDependencies";

const uses = (specifier: string) => `import * as planted from "${specifier}";\nexport const use = planted;\n`;

interface Planted {
  rule: string;
  file: string;
  text: string;
  category: string;
}

const forbiddenImports: Record<string, string[]> = {
  core: ["@trunkline/client", "zod"],
  client: [
    "@trunkline/store",
    "@trunkline/server",
    "@trunkline/agent",
    "trunkline",
    "@modelcontextprotocol/server",
    "better-sqlite3",
  ],
  store: [
    "@trunkline/client",
    "@trunkline/embed",
    "@trunkline/server",
    "@modelcontextprotocol/client",
    "onnxruntime-node",
    "better-sqlite3",
  ],
  embed: ["@trunkline/client", "@trunkline/store", "better-sqlite3"],
  server: ["@trunkline/store", "@trunkline/agent", "trunkline", "@modelcontextprotocol/client", "better-sqlite3"],
  agent: ["@trunkline/client", "@trunkline/server", "@trunkline/store", "@modelcontextprotocol/client"],
};

const planted: Planted[] = [
  ...Object.entries(forbiddenImports).flatMap(([name, specifiers]) =>
    specifiers.map((specifier, index) => ({
      rule: `${name} must not import ${specifier}`,
      file: `packages/${name}/src/planted-import-${index}.ts`,
      text: uses(specifier),
      category: IMPORTS,
    })),
  ),
  ...["core", "client", "store", "embed", "server", "agent"].flatMap((name) => [
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
    text: uses("../../client/src/names.js"),
    category: IMPORTS,
  },
  {
    rule: "a package must not import what another does not list in its index",
    file: "packages/cli/src/planted-deep.ts",
    text: uses("@trunkline/client/dist/names.js"),
    category: IMPORTS,
  },
  {
    rule: "cli must declare what it imports",
    file: "packages/cli/src/planted-undeclared.ts",
    text: uses("zod"),
    category: UNDECLARED,
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
    text: `export * from "./errors.js";\n`,
    category: "lint/performance/noReExportAll",
  },
  {
    rule: "a promise must not float",
    file: "packages/core/src/planted-floating.ts",
    text: `export function start(): void {\n  Promise.resolve(1);\n}\n`,
    category: "lint/nursery/noFloatingPromises",
  },
];

/** What the rules must leave alone: without these, a rule that forbids everything would pass the test above. */
const permitted: { what: string; file: string; text: string }[] = [
  { what: "core may use Node itself", file: "packages/core/src/permitted.ts", text: uses("node:fs/promises") },
  { what: "client may import core", file: "packages/client/src/permitted-core.ts", text: uses("@trunkline/core") },
  {
    what: "client may import the client SDK",
    file: "packages/client/src/permitted-sdk.ts",
    text: uses("@modelcontextprotocol/client"),
  },
  {
    what: "server may import client",
    file: "packages/server/src/permitted-client.ts",
    text: uses("@trunkline/client"),
  },
  {
    what: "server may import its SDK",
    file: "packages/server/src/permitted-sdk.ts",
    text: uses("@modelcontextprotocol/server"),
  },
  { what: "cli may import the others", file: "packages/cli/src/permitted-client.ts", text: uses("@trunkline/client") },
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

interface Finding {
  category: string;
  severity: string;
  file: string;
}

let copy: string;
let findings: Finding[];
let exitCode: number | null;

/** Runs the same linter with the same rules over the copy. */
function lint(): { findings: Finding[]; exitCode: number | null } {
  const { stdout, status } = spawnSync(biome, ["lint", "--reporter=json", "--max-diagnostics=none", "packages"], {
    cwd: copy,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  const report: {
    diagnostics: { category: string; severity: string; location: { path: string | { file: string } } }[];
  } = JSON.parse(stdout.slice(stdout.indexOf("{")));
  return {
    exitCode: status,
    findings: report.diagnostics.map(({ category, severity, location }) => ({
      category,
      severity,
      file: (typeof location.path === "string" ? location.path : location.path.file).replaceAll("\\", "/"),
    })),
  };
}

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), "trunkline-layers-"));
  for (const name of ["biome.json", "package.json", "tsconfig.base.json", ".gitignore", "scripts", "packages"]) {
    cpSync(join(root, name), join(copy, name), {
      recursive: true,
      filter: (source) => !/[\\/](dist|node_modules)$/.test(source),
    });
  }
  mkdirSync(join(copy, ".git"));
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"), "junction");
});

afterAll(() => rmSync(copy, { recursive: true, force: true }));

describe("the copy as it is", () => {
  it("passes", () => {
    expect(lint()).toEqual({ findings: [], exitCode: 0 });
  });
});

describe("the copy with one violation of each rule", () => {
  beforeAll(() => {
    const files = [
      ...planted,
      ...permitted,
      { file: "packages/core/src/planted-cycle-b.ts", text: uses("./planted-cycle-a.js").replace("use =", "b =") },
    ];
    for (const { file, text } of files) {
      mkdirSync(dirname(join(copy, file)), { recursive: true });
      writeFileSync(join(copy, file), text);
    }
    ({ findings, exitCode } = lint());
  });

  it("fails", () => {
    expect(exitCode).not.toBe(0);
  });

  it.each(planted)("$rule", ({ file, category }) => {
    expect(findings).toContainEqual({ category, severity: "error", file });
  });

  it.each(permitted)("$what", ({ file }) => {
    expect(findings.filter((finding) => finding.file === file)).toEqual([]);
  });
});
