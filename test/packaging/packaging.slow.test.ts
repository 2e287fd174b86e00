// Packs the packages as for publishing, installs them in an empty folder, and uses them from there.
import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));
const names = readdirSync(join(root, "packages"));
const base = mkdtempSync(join(tmpdir(), "trunkline-packaging-"));
const hello = join(root, "test", "servers", "hello.js");
const INSTALL_TIMEOUT_MS = 1_800_000;

/** Tarballs by package folder. */
const tarballs = new Map<string, string>();

beforeAll(async () => {
  const { stdout } = await run("npm", ["pack", "--json", "--workspaces", "--pack-destination", base], {
    cwd: root,
    maxBuffer: 16 * 1024 * 1024,
  });
  const packed: { name: string; filename: string }[] = Object.values(JSON.parse(stdout));
  for (const { name, filename } of packed) tarballs.set(name.replace("@trunkline/", ""), join(base, filename));
}, INSTALL_TIMEOUT_MS);

afterAll(() => rmSync(base, { recursive: true, force: true }));

/** Creates a folder with these packages installed from their tarballs. */
async function install(folder: string, packages: readonly string[]): Promise<string> {
  const cwd = mkdtempSync(join(base, folder));
  writeFileSync(join(cwd, "package.json"), JSON.stringify({ name: folder, private: true, type: "module" }));
  const files = packages.map((name) => tarballs.get(name) ?? `no tarball of ${name}`);
  await run("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline", "--ignore-scripts", ...files], { cwd });
  const driver = join("node_modules", "better-sqlite3", "build");
  // The repository's setup already proves that the driver compiles; once is enough.
  if (existsSync(join(cwd, "node_modules", "better-sqlite3")))
    cpSync(join(root, driver), join(cwd, driver), { recursive: true });
  return cwd;
}

/** Checks that a script next to the installed package runs and finds its types. */
async function runsAndTypesScript(cwd: string, bin: string): Promise<void> {
  writeFileSync(
    join(cwd, "script.ts"),
    `import { agent, args, hub, model, registerAgent, store, type AgentResult } from "trunkline";
     const { text }: { text: string } = await hub.call("hello.hello", { name: args[0] });
     const said: string = await model.ask(text, { model: { provider: "echo" } });
     const { totalObjects }: { totalObjects: number } = await store.status();
     const result: AgentResult = await agent("tools", "again", { model: { provider: "echo" } });
     console.log(said, totalObjects > 0, result.text, typeof registerAgent);`,
  );
  const env = { ...process.env, TRUNKLINE_STORE: "kept" };
  const { stdout } = await run(bin, ["--mcp", "mcp.json", "run", "script.ts", "Ada"], { cwd, env });
  expect(stdout).toBe("Hello, Ada! true again function\n");
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
  const options = ["--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "--skipLibCheck", ...types];
  await run(process.execPath, [tsc, ...options, "script.ts", "wrong.ts"], { cwd }).catch((error) => {
    throw new Error(`the types are not found: ${error.stdout}`);
  });
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" });
}

describe("every package", () => {
  it.each(names)("%s is built, typed, has source maps and a license", (name) => {
    const folder = join(root, "packages", name);
    const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const workspace = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    expect(manifest).toMatchObject({
      name: name === "cli" ? "trunkline" : `@trunkline/${name}`,
      version: workspace.version,
      license: "MIT",
      type: "module",
      engines: { node: workspace.engines.node },
    });
    for (const file of ["index.js", "index.d.ts", "index.js.map", "index.d.ts.map"])
      expect(existsSync(join(folder, "dist", file))).toBe(true);
    expect(tarballs.has(name === "cli" ? "trunkline" : name)).toBe(true);
  });

  it.each(names)("%s pins its dependencies, and the other packages to the shared version", (name) => {
    const manifest = JSON.parse(readFileSync(join(root, "packages", name, "package.json"), "utf8"));
    for (const [dependency, version] of Object.entries<string>(manifest.dependencies ?? {})) {
      expect(version, dependency).toMatch(/^\d+\.\d+\.\d+/);
      if (dependency.startsWith("@trunkline/")) expect(version).toBe(manifest.version);
    }
  });
});

describe("the client by itself", () => {
  it(
    "installs no native code and works",
    async () => {
      const cwd = await install("client", ["core", "protocol", "client"]);
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

/** Checks that the installed command starts the broker and uses it. */
async function startsBroker(cwd: string, bin: string): Promise<void> {
  // The path of a socket must be short.
  const home = mkdtempSync(join(tmpdir(), "tp-"));
  const env = { PATH: process.env.PATH, HOME: home, TRUNKLINE_BROKER: "on" };
  mkdirSync(join(home, ".trunkline"));
  writeFileSync(
    join(home, ".trunkline", "settings.json"),
    JSON.stringify({ mcpServers: { hello: { command: process.execPath, args: [hello] } } }),
  );
  try {
    expect((await run(bin, ["call", "hello.hello", "name=Ada"], { cwd, env })).stdout).toBe("Hello, Ada!\n");
    const status = JSON.parse((await run(bin, ["broker", "--json"], { cwd, env })).stdout);
    expect(status).toMatchObject({ running: true, servers: [{ name: "hello", state: "connected" }] });
    const { origin } = new URL((await run(bin, ["console", "--no-open"], { cwd, env })).stdout);
    const page = await (await fetch(origin)).text();
    const [, script = ""] = /src="\.(\/[^"]+\.js)"/.exec(page) ?? [];
    expect(await (await fetch(`${origin}${script}`)).text()).toContain("Trunkline");
  } finally {
    const { stderr } = await run(bin, ["broker", "stop"], { cwd, env });
    expect(stderr).toMatch(/^Stopped the broker \(pid \d+\) and its servers\.\n$/);
    rmSync(home, { recursive: true, force: true });
  }
}

describe("the command", () => {
  it(
    "runs from its installed location",
    async () => {
      const own = ["core", "protocol", "client", "server", "store", "agent", "broker", "console", "trunkline"];
      const cwd = await install("command", own);
      const bin = join(cwd, "node_modules", ".bin", "trunkline");
      const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
      expect((await run(bin, ["--version"], { cwd })).stdout).toBe(`${version}\n`);
      writeFileSync(
        join(cwd, "mcp.json"),
        JSON.stringify({ servers: { hello: { command: process.execPath, args: [hello] } } }),
      );
      expect((await run(bin, ["call", "hello.hello", "name=Ada", "--mcp", "mcp.json"], { cwd })).stdout).toBe(
        "Hello, Ada!\n",
      );
      await run(bin, ["store", "add", "mcp.json", "--store", "kept"], { cwd });
      const { stdout } = await run(bin, ["store", "search", "hello", "--paths-only", "--store", "kept"], { cwd });
      expect(stdout).toBe("mcp.json\n");
      await runsAndTypesScript(cwd, bin);
      await startsBroker(cwd, bin);
    },
    INSTALL_TIMEOUT_MS,
  );
});
