// `trunkline run`, through the built command: what counts as a script, what it gets, and how it ends.
import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { bin, Place, root } from "./command.js";

/** Runs one script in its own place. */
async function runScript(text: string, { name = "script.ts", args = [] as string[], files = {} } = {}) {
  using place = new Place({ ...files, [name]: text });
  return await place.runProcess(["run", name, ...args]);
}

describe("a script", () => {
  it("can be TypeScript with relative imports, JSON, packages from its folder and top-level await", async () => {
    const outcome = await runScript(
      `import { readFile } from "node:fs/promises";
       import { twice } from "./lib/twice.js";
       import { thrice } from "./lib/thrice";
       import { quarter } from "./lib/quarter.mts";
       import { name, type Kind } from "dep";
       import data from "./data.json" with { type: "json" };
       type Sum = { readonly total: number };
       const kind: Kind = "kind";
       const sum = { total: twice(2) + thrice(1) + quarter(4) } satisfies Sum as Sum;
       console.log(sum.total, name, kind, data.deep[1], (await readFile("here.txt", "utf8")).trim());`,
      {
        files: {
          "lib/twice.ts": "export const twice = (n: number): number => n * 2;",
          "lib/thrice.ts": "export function thrice<T extends number>(n: T): number { return n * 3; }",
          "lib/quarter.mts": "export const quarter = (n: number) => n / 4;",
          "data.json": { deep: [1, 2] },
          "here.txt": "the caller's folder",
          "node_modules/dep/package.json": { name: "dep", type: "module", exports: "./index.js" },
          "node_modules/dep/index.js": "export const name = 'dep';",
        },
      },
    );
    expect(outcome).toEqual({ code: 0, stdout: "8 dep kind 2 the caller's folder\n", stderr: "" });
  });

  it.each([
    [
      "script.js",
      `import { args } from "trunkline"; console.log(args.length);`,
      { "package.json": { type: "module" } },
    ],
    ["script.mjs", `import { args } from "trunkline"; console.log(args.length);`, {}],
    ["script.mts", `import { args } from "trunkline"; console.log(args.length as number);`, {}],
    ["script.cjs", `import("trunkline").then(({ args }) => console.log(args.length));`, {}],
    ["script", `import { args } from "trunkline"; console.log(args.length as number);`, {}],
    [
      "script.ts",
      `import { args } from "trunkline"; console.log(args.length);`,
      { "package.json": { type: "commonjs" } },
    ],
  ])("can be %s", async (name, text, files) => {
    const outcome = await runScript(text, { name, files, args: ["one", "two"] });
    expect(outcome).toEqual({ code: 0, stdout: "2\n", stderr: "" });
  });

  it("gets only the arguments after its name, including options", async () => {
    const outcome = await runScript(
      `import { args } from "trunkline"; console.log(JSON.stringify([args, process.argv.slice(2), process.argv[1]]));`,
      { args: ["in.md", "--mcp", "x", "-h", "--", "--version"] },
    );
    const given = ["in.md", "--mcp", "x", "-h", "--", "--version"];
    expect(JSON.parse(outcome.stdout)).toEqual([given, given, expect.stringMatching(/script\.ts$/)]);
  });

  it("can be read from standard input with -", async () => {
    using place = new Place({ "lib.ts": "export const n: number = 4;" });
    const input = `import { args } from "trunkline";\nimport { n } from "./lib.ts";\nconsole.log(args[0], n as number);\nthrow new Error("end");`;
    const outcome = await place.runProcess(["run", "-", "a"], { input });
    expect(outcome).toMatchObject({ code: 1, stdout: "a 4\n" });
    expect(outcome.stderr).toMatch(/stdin-script\.ts:4:7/);
  });

  it.skipIf(process.platform === "win32")("can be run as a command with a shebang", async () => {
    using place = new Place();
    const bins = join(place.base, "bin");
    mkdirSync(bins);
    symlinkSync(bin, join(bins, "trunkline"));
    const script = place.write(
      "greet",
      `#!/usr/bin/env -S trunkline run\nimport { args } from "trunkline";\nconst [name]: readonly string[] = args;\nconsole.log("Hello", name);\n`,
    );
    chmodSync(script, 0o755);
    const env = { PATH: `${bins}:${process.env.PATH}`, HOME: place.home };
    expect((await promisify(execFile)(script, ["Ada"], { cwd: place.cwd, env })).stdout).toBe("Hello Ada\n");
  });

  it("shares one instance of trunkline and its packages with the command, whatever is in its own folder", async () => {
    const outcome = await runScript(
      `import { TrunklineError } from "trunkline";
       import { TrunklineError as same } from "@trunkline/core";
       import { loadConfig } from "@trunkline/client";
       import { TrunklineError as again } from "./other.mjs";
       console.log(TrunklineError === same, same === again, typeof loadConfig);`,
      {
        files: {
          "other.mjs": `export { TrunklineError } from "trunkline";`,
          "node_modules/trunkline/package.json": { name: "trunkline", exports: "./index.js" },
          "node_modules/trunkline/index.js": "throw new Error('the wrong one');",
        },
      },
    );
    expect(outcome).toEqual({ code: 0, stdout: "true true function\n", stderr: "" });
  });
});

describe("a script that fails", () => {
  const source = [
    "interface Wide {",
    "  readonly a: string;",
    "}",
    "function inner(wide: Wide, n: number): never {",
    '  const value: string = wide.a as string;   throw new Error("no " + value + n);',
    "}",
    'inner({ a: "way" }, 1);',
  ].join("\n");

  it("shows its own lines and columns and ends with 1", async () => {
    const { code, stderr } = await runScript(source);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^Error: no way1\n {4}at inner \(file:.*script\.ts:5:51\)\n {4}at file:.*script\.ts:7:1\n$/);
  });

  it("shows the same lines if enums had to be transformed, even in an imported file", async () => {
    const lib = `class Box { constructor(readonly size: number) {} }\nenum Size { Small, Large }\nnamespace Sizes { export const largest = Size.Large; }\n${source.replaceAll("inner", "lib")}`;
    const { code, stderr } = await runScript(`import "./lib.ts";`, { files: { "lib.ts": lib } });
    expect(code).toBe(1);
    expect(stderr).toMatch(/Error: no way1\n {4}at lib \(.*lib\.ts:8:\d+\)\n {4}at .*lib\.ts:10:1/);
  });

  it("ends with 1 for later exceptions and unhandled rejections", async () => {
    for (const late of ["setTimeout(() => fail(), 10);", "void (async () => fail())();"]) {
      const { code, stderr } = await runScript(
        `function fail(): never {\n  throw new TypeError("late");\n}\n${late}\nsetInterval(() => {}, 1000);`,
      );
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: expect.stringMatching(/^TypeError: late\n.*script\.ts:2:9/),
      });
    }
  });

  it("keeps its line numbers if the error comes from a server that went away", async () => {
    using place = new Place({
      "mcp.json": {
        servers: { crashing: { command: process.execPath, args: [join(root, "test/servers/crashing.js")] } },
      },
      "script.ts": `import { hub } from "trunkline";\n\nconst [tool] = (await hub.tools()).filter(({ tool }) => /crash|exit/.test(tool));\nawait hub.call(\`crashing.\${tool?.tool}\`);`,
    });
    const { code, stderr } = await place.runProcess(["run", "--mcp", "mcp.json", "script.ts"]);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/TrunklineError \[\w+\][\s\S]*script\.ts:4:11/),
    });
  });

  it.each([
    [
      "script.ts",
      "const a: number = 1;\n\nconst b: number = (;\n",
      /script\.ts:3:20\nconst b: number = \(;\n {19}\^\n\nSyntaxError/,
    ],
    ["script.mjs", "const a = 1;\n\nconst b = (;\n", /script\.mjs:3\nconst b = \(;\n {11}\^\n\nSyntaxError/],
    // Only the engine detects this error: the type stripper lets it pass.
    ["script.ts", "const a: number = 1;\nlet a: number = 2;\n", /script\.ts:2\b[\s\S]*SyntaxError/],
    ["script.cjs", "const b = (;\n", /script\.cjs:1\n[\s\S]*SyntaxError/],
    ["script.ts", 'import "data:text/javascript,0";\nimport { lost } from "trunkline";\n', /script\.ts:2\n[\s\S]*lost/],
  ])("shows the position of a syntax error in %s and exits with 2", async (name, text, place) => {
    const { code, stderr } = await runScript(text, { name });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(place) });
  });

  it("exits with 2 for a syntax error in an imported or required file, and on standard input", async () => {
    using place = new Place({
      "broken.mjs": "const b = (;",
      "broken.cjs": "const b = (;",
      "imports.ts": 'import "./broken.mjs";',
      "requires.cjs": 'require("./broken.cjs");',
    });
    expect((await place.runProcess(["run", "imports.ts"])).code).toBe(2);
    expect((await place.runProcess(["run", "requires.cjs"])).code).toBe(2);
    expect((await place.runProcess(["run", "-"], { input: "const b: number = (;" })).code).toBe(2);
  });

  it("exits with 1 for a SyntaxError that the script itself causes", async () => {
    const { code, stderr } = await runScript('JSON.parse("{");');
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^SyntaxError: .*JSON/) });
  });

  it("shows a missing import with its fields, without stack frames of Node or the command", async () => {
    const { code, stderr } = await runScript('import "no-such-package";');
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^Error \[ERR_MODULE_NOT_FOUND\]: Cannot find package 'no-such-package' [^\n]* \{\n {2}code: [^\n]*\n\}\n$/,
    );
  });

  it("reports that its top level waits forever", async () => {
    const { code, stderr } = await runScript("await new Promise(() => {});");
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("a top-level await never settles") });
  });

  it("sets its own exit code, now or later", async () => {
    expect((await runScript("process.exitCode = 7;")).code).toBe(7);
    expect((await runScript("setTimeout(() => { process.exitCode = 8; }, 10);")).code).toBe(8);
    expect((await runScript("process.exit(9);")).code).toBe(9);
  });
});

describe("run without a runnable script", () => {
  it.each([
    ["digset.ts", "Did you mean digest.ts?"],
    ["elsewhere/x.ts", "Looked for it at"],
    ["table.py", "Scripts end in .ts"],
    ["folder", "Name the script inside it."],
  ])("says what to do about %s, with exit code 2", async (name, hint) => {
    using place = new Place({ "digest.ts": "", "table.py": "", "folder/x.ts": "" });
    const { code, stderr } = await place.runProcess(["run", name]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(hint) });
  });
});
