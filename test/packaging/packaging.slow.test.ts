// Packs the libraries as for publishing, installs them in an empty folder, and uses them from there.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { filesBelow } from "../../scripts/npm-installs.js";
import { packageProblems } from "../../scripts/release.js";
import { hello, INSTALL_TIMEOUT_MS, root, run, Tarballs } from "./tarballs.js";

const names = readdirSync(join(root, "packages"));
const packageName = (folder: string) => (folder === "cli" ? "trunkline" : `@trunkline/${folder}`);
let tarballs: Tarballs;

beforeAll(() => {
  tarballs = new Tarballs();
}, INSTALL_TIMEOUT_MS);

afterAll(() => tarballs[Symbol.dispose]());

async function manifestOf(name: string) {
  const { stdout } = await run("tar", ["-xOf", tarballs.fileOf(packageName(name)), "package/package.json"]);
  return JSON.parse(stdout);
}

describe("every package", () => {
  it.each(names)("%s is built, typed, described and licensed", async (name) => {
    const manifest = await manifestOf(name);
    const workspace = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    expect(manifest).toMatchObject({
      name: packageName(name),
      version: workspace.version,
      license: "MIT",
      type: "module",
      engines: { node: workspace.engines.node },
      publishConfig: { access: "public", provenance: true },
    });
    expect(manifest).not.toHaveProperty("private");
    const files = tarballs.packed.get(packageName(name))?.files ?? [];
    expect(packageProblems(files)).toEqual([]);
    for (const entry of Object.values<{ types: string; default: string }>(manifest.exports))
      expect(files).toEqual(expect.arrayContaining([entry.types.slice(2), entry.default.slice(2)]));
  });

  it.each(names.filter((name) => name !== "cli"))("%s has source maps, and the sources", (name) => {
    for (const file of ["index.js", "index.d.ts", "index.js.map", "index.d.ts.map"])
      expect(existsSync(join(root, "packages", name, "dist", file))).toBe(true);
    expect(tarballs.packed.get(packageName(name))?.files).toContain("src/index.ts");
  });

  it.each(names)("%s pins its dependencies, and the other packages to the shared version", async (name) => {
    const manifest = await manifestOf(name);
    const all = { ...manifest.dependencies, ...manifest.optionalDependencies };
    for (const [dependency, version] of Object.entries<string>(all)) {
      for (const each of version.split(" || ")) expect(each, dependency).toMatch(/^\d+\.\d+\.\d+$/);
      if (dependency.startsWith("@trunkline/")) expect(version).toBe(manifest.version);
    }
  });
});

describe("the client by itself", () => {
  it(
    "installs no native code and works",
    async () => {
      const cwd = await tarballs.project(["core", "protocol", "config", "client"].map(packageName));
      const files = filesBelow(join(cwd, "node_modules"));
      expect(files.filter((file) => file.endsWith(".node"))).toEqual([]);
      expect(files.filter((file) => /better-sqlite3|onnxruntime/.test(file))).toEqual([]);
      writeFileSync(
        join(cwd, "mcp.json"),
        JSON.stringify({ servers: { hello: { command: process.execPath, args: [hello] } } }),
      );
      writeFileSync(
        join(cwd, "use.js"),
        `import { loadConfig, openHub, renderText } from "@trunkline/client";
         const hub = await openHub(await loadConfig({ cwd: process.cwd(), mcpPath: "mcp.json" }));
         const { raw } = await hub.callTool("hello", "hello", { name: "Ada" });
         console.log(renderText(raw));
         await hub.close();`,
      );
      expect((await run(process.execPath, ["use.js"], { cwd })).stdout).toBe("Hello, Ada!\n");
    },
    INSTALL_TIMEOUT_MS,
  );
});

describe("the store by itself", () => {
  it(
    "works, with its own grammars",
    async () => {
      const cwd = await tarballs.project(["core", "grep", "code-graph", "store"].map(packageName));
      expect(filesBelow(join(cwd, "node_modules")).filter((file) => file.includes("tree-sitter-wasm"))).toEqual([]);
      writeFileSync(
        join(cwd, "use.js"),
        `import { openStore } from "@trunkline/store";
         const store = await openStore({ path: "kept" });
         await store.add({ content: "export function greet() {}", name: "greet.ts" });
         await store.indexed();
         const { results } = await store.search({ query: "greet" });
         console.log(results.map(({ path }) => path), JSON.stringify(await store.graph({ listType: "function" })).includes("greet"));
         await store.close();`,
      );
      expect((await run(process.execPath, ["use.js"], { cwd })).stdout).toBe("[ 'greet.ts' ] true\n");
    },
    INSTALL_TIMEOUT_MS,
  );
});
