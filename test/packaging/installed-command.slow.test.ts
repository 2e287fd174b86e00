// Installs the packed command into an empty prefix, for a user with an empty home, and uses it from there: on this Node
// and on Node 24.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { haveWeights, UNREACHABLE } from "../../packages/embed/test/weights.js";
import { postgresBinaries, startPostgres } from "../../packages/store-postgres/test/support/postgres-cluster.js";
import { filesBelow, megabytesOf, npmSettings } from "../../scripts/npm-installs.js";
import { nodeOfMajor } from "../../scripts/test-on-node.js";
import { hello, INSTALL_TIMEOUT_MS, type Installed, root, run, Tarballs } from "./tarballs.js";

const MAX_MEGABYTES = 90;
const MAX_MEGABYTES_WITH_MODEL = 160;
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
const needsDriver = major < 22 || (major === 22 && minor < 16);
const isLinux = process.platform === "linux" && process.arch === "x64";
const available = await haveWeights();

const nodes = [
  { name: `Node ${process.versions.node}`, isThisNode: true },
  ...(isLinux && available && major < 24 ? [{ name: "Node 24", isThisNode: false }] : []),
];

const binaries = postgresBinaries();

let tarballs: Tarballs;

beforeAll(() => {
  tarballs = new Tarballs(["trunkline"]);
}, INSTALL_TIMEOUT_MS);

afterAll(() => tarballs[Symbol.dispose]());

describe.each(nodes)("the command, installed on $name", ({ isThisNode }) => {
  let installed: Installed;

  beforeAll(async () => {
    installed = await tarballs.global(isThisNode ? undefined : nodeOfMajor("24"));
    installed.write("mcp.json", JSON.stringify({ servers: { hello: { command: process.execPath, args: [hello] } } }));
  }, INSTALL_TIMEOUT_MS);

  afterAll(() => installed[Symbol.dispose]());

  it("is small, and has no files for development and none of another place", async () => {
    const megabytes = megabytesOf(installed.prefix);
    console.log(`installed in ${(installed.tookMs / 1000).toFixed(1)} s, ${megabytes.toFixed(1)} MB`);
    expect(megabytes).toBeLessThan(MAX_MEGABYTES);
    const own = filesBelow(installed.folder).filter((file) => !file.startsWith("node_modules"));
    expect(
      own.filter((file) => /(^|\/)(test|dist)\/|\.map$|tsconfig|biome|\.tsbuildinfo|inputs\.json/.test(file)),
    ).toEqual([]);
    expect(own.filter((file) => file.startsWith("src/") && file.endsWith(".ts"))).toEqual([]);
    const mentions = own.filter((file) => /\.([cm]?js|ts|json)$/.test(file) && textOf(installed, file).includes(root));
    expect(mentions).toEqual([]);
  });

  it("imports only what it is installed with", () => {
    const manifest = JSON.parse(textOf(installed, "package.json"));
    const known = new Set([
      ...builtinModules,
      ...Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }),
      "trunkline",
    ]);
    expect([...known].filter((name) => name.startsWith("@trunkline/"))).toEqual([]);
    const code = filesBelow(installed.folder).filter((file) => /^bundle\/[^/]+\.[cm]js$/.test(file));
    const imported = code.flatMap((file) => {
      const statements = textOf(installed, file).matchAll(
        /^(?:import|export)\b.*?from ?"([^"]+)"|^.*= require\("([^"]+)"\)/gm,
      );
      return [...statements].map(([, module, required]) => module ?? required ?? "");
    });
    const outside = imported.filter((name) => !name.startsWith(".") && !name.startsWith("node:"));
    expect(outside).toContain("web-tree-sitter");
    expect(outside.filter((name) => !known.has(name))).toEqual([]);
  });

  it("says its version, and what is wrong", async () => {
    expect((await installed.run(["--version"])).stdout).toBe(`${version}\n`);
    const doctor = installed.run(["doctor"]);
    // Without a driver the store does not work, and doctor says so.
    if (needsDriver && isThisNode) {
      await expect(doctor).rejects.toMatchObject({
        code: 1,
        stdout: expect.stringMatching(/^trunkline [\s\S]*its database driver is not built/),
      });
    } else expect((await doctor).stdout).toContain(`trunkline ${version}`);
  });

  it("lists and calls the tools of a server", async () => {
    const { stdout } = await installed.run(["tools", "--", process.execPath, hello]);
    expect(stdout).toContain("hello(name?: string)");
    expect((await installed.run(["call", "hello.hello", "name=Ada", "--mcp", "mcp.json"])).stdout).toBe(
      "Hello, Ada!\n",
    );
  });

  it("answers a client that speaks MCP over stdio", async () => {
    const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } };
    const stdin = `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`;
    const { stdout } = await installed.run(["--mcp", "mcp.json", "serve"], { stdin });
    expect(JSON.parse(stdout)).toMatchObject({ id: 1, result: { serverInfo: { name: "trunkline", version } } });
  });

  it("completes command lines", async () => {
    expect((await installed.run(["completion", "bash"])).stdout).toContain("trunkline");
  });

  if (needsDriver && isThisNode) {
    it("says in one sentence what the store needs if its driver is missing", async () => {
      await expect(installed.run(["store", "add", "mcp.json", "--store", "none"])).rejects.toMatchObject({
        code: 1,
        stderr: `trunkline: The store cannot be used with Node ${process.versions.node}: its database driver is not built.\n  Use Node 22.16 or newer, which needs no driver, or install Trunkline again with --foreground-scripts: npm then says why the driver could be neither downloaded nor compiled.\n`,
      });
    });
  }

  it("stores and finds documents, and reads code", async () => {
    if (isThisNode) installed.buildDriver();
    // With the driver that was built, if this Node needs one.
    expect(megabytesOf(installed.prefix)).toBeLessThan(MAX_MEGABYTES);
    installed.write("greet.ts", "export function greet() {}\n");
    await installed.run(["store", "add", "mcp.json", "greet.ts", "--store", "kept"]);
    const { stdout } = await installed.run(["store", "search", "hello", "--paths-only", "--store", "kept"]);
    expect(stdout).toBe("mcp.json\n");
    const functions = await installed.run(["store", "graph", "--list-type", "function", "--store", "kept"]);
    expect(functions.stdout).toContain("greet");
  });

  if (isThisNode) {
    it.skipIf(binaries === undefined)(
      "says what a store in PostgreSQL needs, and works after it was installed (needs postgresql)",
      async () => {
        await using cluster = await startPostgres(binaries as string);
        const url = cluster.createDatabase();
        await expect(installed.run(["store", "init", url])).rejects.toMatchObject({
          code: 1,
          stderr: expect.stringMatching(/needs the package pg, which is not installed[\s\S]*npm install --global pg@8/),
        });
        await tarballs.installNextTo(installed, "pg@8");
        expect((await installed.run(["store", "init", url])).stdout).toContain("created a store");
        await installed.run(["store", "--store", url, "add", "mcp.json"]);
        const { stdout } = await installed.run(["store", "--store", url, "search", "hello", "--paths-only"]);
        expect(stdout).toBe("mcp.json\n");
      },
      INSTALL_TIMEOUT_MS,
    );
  }

  it("runs a script with everything at hand", async () => {
    installed.write("script.ts", SCRIPT);
    const { stdout } = await installed.run(["--mcp", "mcp.json", "run", "script.ts", "Ada"], {
      env: { TRUNKLINE_STORE: "kept" },
    });
    expect(stdout).toBe("Hello, Ada! true again function true\n");
  });

  it("starts the broker, and serves the console", async () => {
    const env = { TRUNKLINE_BROKER: "on" };
    mkdirSync(join(installed.home, ".trunkline"), { recursive: true });
    writeFileSync(
      join(installed.home, ".trunkline", "settings.json"),
      JSON.stringify({ mcpServers: { hello: { command: process.execPath, args: [hello] } } }),
    );
    try {
      expect((await installed.run(["call", "hello.hello", "name=Ada"], { env })).stdout).toBe("Hello, Ada!\n");
      const status = JSON.parse((await installed.run(["broker", "--json"], { env })).stdout);
      expect(status).toMatchObject({ running: true, servers: [{ name: "hello", state: "connected" }] });
      const { origin } = new URL((await installed.run(["console", "--no-open"], { env })).stdout);
      const page = await (await fetch(origin)).text();
      const [, script = ""] = /src="\.(\/[^"]+\.js)"/.exec(page) ?? [];
      expect(await (await fetch(`${origin}${script}`)).text()).toContain("Trunkline");
    } finally {
      const { stderr } = await installed.run(["broker", "stop"], { env });
      expect(stderr).toMatch(/^Stopped the broker \(pid \d+\) and its servers\.\n$/);
    }
  });

  it.skipIf(!available)(
    `pulls the model, stays small and searches by meaning ${available ? "" : UNREACHABLE}`,
    async () => {
      const startedMs = performance.now();
      const { PATH, HOME } = installed.env;
      const env = { ...process.env, ...npmSettings, PATH, HOME };
      const { stderr } = await installed.run(["models", "pull"], { env });
      expect(stderr).toContain("fetching onnxruntime-node@");
      const own = megabytesOf(join(installed.home, ".trunkline", "packages"));
      const model = megabytesOf(join(installed.home, ".trunkline", "models"));
      const megabytes = megabytesOf(installed.prefix) + own + model;
      const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
      console.log(`pulled in ${seconds} s; ${megabytes.toFixed(1)} MB with the command`);
      expect(megabytes).toBeLessThan(MAX_MEGABYTES_WITH_MODEL);
      installed.write("pets.md", "The house cat sleeps.\n");
      installed.write("cars.md", "The engine needs oil.\n");
      await installed.run(["store", "add", "pets.md", "cars.md", "--store", "animals"]);
      const search = ["store", "search", "--type", "semantic", "--json", "a feline resting", "--store", "animals"];
      const { results } = JSON.parse((await installed.run(search)).stdout);
      expect(results[0].title).toBe("pets.md");
    },
    INSTALL_TIMEOUT_MS,
  );
});

const SCRIPT = `import { agent, args, hub, model, registerAgent, store, TrunklineError, type AgentResult } from "trunkline";
import { TrunklineError as SameError } from "@trunkline/core";
const { text }: { text: string } = await hub.call("hello.hello", { name: args[0] });
const said: string = await model.ask(text, { model: { provider: "echo" } });
const { totalObjects }: { totalObjects: number } = await store.status();
const result: AgentResult = await agent("tools", "again", { model: { provider: "echo" } });
console.log(said, totalObjects > 0, result.text, typeof registerAgent, TrunklineError === SameError);
`;

function textOf(installed: Installed, file: string): string {
  return readFileSync(join(installed.folder, file), "utf8");
}

describe("the tarball of the command", () => {
  it(
    "runs with npx",
    async () => {
      const env = { ...process.env, npm_config_ignore_scripts: "true" };
      const args = ["--yes", "-p", tarballs.fileOf("trunkline"), "trunkline", "--version"];
      const { stdout } = await run("npx", args, { cwd: tarballs.base, env });
      expect(stdout).toBe(`${version}\n`);
    },
    INSTALL_TIMEOUT_MS,
  );

  it(
    "is a library with types for a project",
    async () => {
      const cwd = await tarballs.project(["trunkline"]);
      writeFileSync(
        join(cwd, "mcp.json"),
        JSON.stringify({ servers: { hello: { command: process.execPath, args: [hello] } } }),
      );
      writeFileSync(
        join(cwd, "use.js"),
        `import { hub, isTrunklineError, store } from "trunkline";
         await store.add({ content: "a", name: "a.md" });
         console.log((await store.status()).totalObjects, (await hub.call("hello.hello", { name: "Ada" })).text);
         console.log(isTrunklineError(await store.get({ path: "none" }).catch((error) => error)));`,
      );
      const home = join(cwd, "home");
      const env = {
        PATH: process.env.PATH,
        HOME: home,
        TRUNKLINE_MCP_FILE: "mcp.json",
        TRUNKLINE_STORE: "kept",
        TRUNKLINE_BROKER: "off",
      };
      expect((await run(process.execPath, ["use.js"], { cwd, env })).stdout).toBe("1 Hello, Ada!\ntrue\n");
      rmSync(home, { recursive: true, force: true });

      writeFileSync(
        join(cwd, "script.ts"),
        SCRIPT.replace(/^import .*core";\n/m, "const SameError = TrunklineError;\n"),
      );
      writeFileSync(
        join(cwd, "wrong.ts"),
        `import { args, hub } from "trunkline";
         // @ts-expect-error: a result has text, and no texts.
         console.log((await hub.call("hello.hello")).texts);
         // @ts-expect-error: arguments are not changed.
         args.push("x");`,
      );
      const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
      const types = ["--types", "node", "--typeRoots", join(root, "node_modules", "@types")];
      const libraries = ["--lib", "es2023,esnext.disposable"];
      const options = ["--noEmit", "--strict", "--target", "es2023", "--module", "nodenext", ...libraries, ...types];
      await run(process.execPath, [tsc, ...options, "script.ts", "wrong.ts"], { cwd }).catch((error) => {
        throw new Error(`the types are not found: ${error.stdout}`);
      });
    },
    INSTALL_TIMEOUT_MS,
  );
});
