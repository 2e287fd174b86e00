// A client reaches only the files in its allowed folders, over every transport.
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Channel } from "@trunkline/client";
import { describe, expect, it, vi } from "vitest";
import type { Caller } from "../../packages/gateway/src/interfaces/exchange.js";
import { exchangeOf, openBench } from "../../packages/gateway/test/operations/support.js";
import { outcomeOf, seen } from "../e2e/command.js";
import { ServedStdio } from "../e2e/serve-stdio-client.js";
import { HANG_MS } from "../support/hang.js";
import { asking, attempt, Machine } from "./paths-support.js";

const evil = { content: "evil", collection: "evil" };

/** Starts a server in the project. */
async function serveIn(machine: Machine, cwd = machine.project, args: readonly string[] = [], client = {}) {
  return await ServedStdio.start(machine, args, { cwd, client });
}

describe("a client over stdio without elicitation", () => {
  it("writes nothing outside its workspace, in any spelling", async () => {
    using machine = new Machine();
    const { home, project } = machine;
    await using served = await serveIn(machine);
    for (const name of ["passwd", ".bashrc", "authorized_keys"]) await attempt(served, "add", { ...evil, name });
    symlinkSync(home, join(project, "to-home"));
    symlinkSync(join(home, ".ssh"), join(project, "keys"));
    symlinkSync(join(home, "not-there"), join(project, "dangling"));
    for (const output_directory of [
      // First, so that a broken defence is noticed before it could reach the machine's own files.
      home,
      "../../../../etc",
      "/etc",
      "../..",
      join(home, ".ssh"),
      "to-home",
      "keys",
      "keys/deep",
      "src/../../../.ssh",
      "dangling",
      `${project}/../app-2`,
      "/proc/self/cwd/../../.ssh",
    ]) {
      const error = await attempt(served, "restore", { collection: "evil", output_directory, overwrite: true });
      expect(error, output_directory).toMatchObject({ code: "DENIED" });
    }
    expect(readFileSync(join(home, ".bashrc"), "utf8")).toBe("# mine\n");
    expect(existsSync(join(home, ".ssh", "authorized_keys"))).toBe(false);
    expect(existsSync(join(home, "not-there"))).toBe(false);
  });

  it("does not learn which files exist outside its workspace", async () => {
    using machine = new Machine();
    await using served = await serveIn(machine);
    const refusal = async (name: string) =>
      JSON.stringify(await attempt(served, "add", { path: join(machine.home, ".ssh", name) })).replaceAll(name, "name");
    const known = await refusal("id_rsa");
    expect(known).toContain("DENIED");
    expect(await refusal("id_dsa")).toBe(known);
  });

  it("says how to allow a folder", async () => {
    using machine = new Machine();
    await using served = await serveIn(machine);
    const error = await attempt(served, "add", { path: join(machine.home, "other") });
    expect(error).toMatchObject({ code: "DENIED", hint: expect.stringContaining("--allow-path") });
    expect(error.hint).toContain("paths.read");
  });

  it("reads nothing outside its workspace with add, watch or a step of a query", async () => {
    using machine = new Machine();
    const { home, project } = machine;
    await using served = await serveIn(machine);
    symlinkSync(join(home, ".ssh", "id_rsa"), join(project, "notes.txt"));
    symlinkSync(join(home, ".ssh"), join(project, "docs"));
    const key = join(home, ".ssh", "id_rsa");
    for (const path of [
      key,
      "../../.ssh/id_rsa",
      "notes.txt",
      "docs",
      "docs/id_rsa",
      home,
      machine.base,
      join(home, ".ssh"),
    ])
      expect(await attempt(served, "add", { path }), path).toMatchObject({ code: "DENIED" });
    expect(await attempt(served, "add", { paths: ["src/main.ts", key] })).toMatchObject({ code: "DENIED" });
    const { value } = await served.call("session", { action: "start" });
    expect(value).toMatchObject({ session_id: expect.any(String) });
    for (const path of [key, "docs", home])
      expect(JSON.stringify((await served.call("session", { action: "watch", paths: [path] })).value)).toContain(
        "DENIED",
      );
    expect(JSON.stringify((await served.query("list")).value)).not.toContain("id_rsa");
  });

  it("creates files with get only in its workspace, and never replaces one", async () => {
    using machine = new Machine();
    const { home, project } = machine;
    await using served = await serveIn(machine);
    await attempt(served, "add", { ...evil, name: "evil.txt" });
    symlinkSync(join(home, "planted"), join(project, "link"));
    symlinkSync(home, join(project, "to-home"));
    const get = (outputPath: string) => attempt(served, "get", { path: "evil.txt", outputPath }, "query");
    for (const path of [join(home, ".bashrc"), "../../x", "to-home/x", join(home, ".ssh/authorized_keys")])
      expect(await get(path), path).toMatchObject({ code: "DENIED" });
    for (const path of ["link", "src/main.ts"]) expect(await get(path), path).toHaveProperty("code");
    expect(existsSync(join(home, "planted"))).toBe(false);
    expect(readFileSync(join(project, "src/main.ts"), "utf8")).toBe("export const a = 1;\n");
    for (const path of [".git/hooks/pre-commit", ".trunkline/mcp.json", ".mcp.json", ".envrc", ".vscode/tasks.json"])
      expect(await get(path), path).toMatchObject({ code: "DENIED" });
  });

  it("does not reach secrets in its workspace by naming them", async () => {
    using machine = new Machine({
      "code/app/certs/server.key": "KEY",
      "code/app/deploy": "-----BEGIN OPENSSH PRIVATE KEY-----\nKEY\n",
      "code/app/.npmrc": "KEY",
      "code/app/.npmrc~": "KEY",
      "code/app/.env.example": "TOKEN=",
    });
    const { project } = machine;
    symlinkSync(join(project, ".env"), join(project, "readme.md"));
    await using served = await serveIn(machine);
    const secrets = [
      ".env",
      "./src/../.env",
      join(project, ".env"),
      "certs/server.key",
      "readme.md",
      "deploy",
      ".npmrc",
      ".npmrc~",
    ];
    for (const path of secrets) expect(await attempt(served, "add", { path }), path).toMatchObject({ code: "DENIED" });
    expect(await attempt(served, "add", { path: ".env.example" })).not.toHaveProperty("code");
    for (const path of [".", project, "src/.."]) await attempt(served, "add", { path, include: [".env", "certs/*"] });
    expect(JSON.stringify((await served.query("list")).value)).not.toMatch(/\.env"|server\.key/);
  });

  it("does not write files that other programs execute or obey", async () => {
    using machine = new Machine();
    const { project } = machine;
    await using served = await serveIn(machine);
    const names = [
      ".mcp.json",
      ".vscode/tasks.json",
      ".claude/settings.json",
      ".envrc",
      ".env",
      "CLAUDE.md",
      ".cursor/mcp.json",
      ".husky/pre-commit",
      ".github/workflows/ci.yml",
      ".Vscode/settings.json",
      "sub/.bashrc",
      "vendor/bare/HEAD",
      ".hg/hgrc",
      ".tekton/build.yaml",
      ".pnp.cjs",
      ".direnvrc",
    ];
    for (const name of [...names, "ordinary.txt"]) await attempt(served, "add", { ...evil, name });
    const result = await attempt(served, "restore", {
      collection: "evil",
      output_directory: ".",
      overwrite: true,
    });
    expect(result).toMatchObject({ restored: 1 });
    expect(result.conflicts.map(({ path }: { path: string }) => path).sort()).toEqual([...names].sort());
    expect(readFileSync(join(project, ".env"), "utf8")).toBe("TOKEN=secret\n");
    expect(existsSync(join(project, ".mcp.json"))).toBe(false);
    // The folder itself can carry the name, directly or through a link.
    await attempt(served, "add", { content: "evil", collection: "tasks", name: "tasks.json" });
    mkdirSync(join(project, ".vscode"), { recursive: true });
    symlinkSync(join(project, ".vscode"), join(project, "out"));
    for (const output_directory of [".vscode", "out", ".claude", "out/deep"])
      await attempt(served, "restore", { collection: "tasks", output_directory });
    for (const path of [".vscode/tasks.json", ".claude/tasks.json", ".vscode/deep/tasks.json"])
      expect(existsSync(join(project, path)), path).toBe(false);
  });

  it("does not write hooks into the folder that Git's configuration names", async () => {
    using machine = new Machine({ "code/app/.git/config": '[core]\n\tbare = false\n\thooksPath = "tools/hooks"\n' });
    const { project } = machine;
    await using served = await serveIn(machine);
    for (const name of ["tools/hooks/pre-commit", "tools/plain.txt"]) await attempt(served, "add", { ...evil, name });
    expect(await attempt(served, "restore", { collection: "evil", output_directory: "." })).toMatchObject({
      restored: 1,
      conflicts: [{ path: "tools/hooks/pre-commit" }],
    });
    mkdirSync(join(project, "tools/hooks"), { recursive: true });
    await attempt(served, "add", { content: "evil", collection: "hook", name: "pre-push" });
    await attempt(served, "restore", { collection: "hook", output_directory: "tools/hooks" });
    const get = { path: "pre-push", outputPath: "tools/hooks/pre-push" };
    expect(await attempt(served, "get", get, "query")).toMatchObject({ code: "DENIED" });
    expect(readdirSync(join(project, "tools/hooks"))).toEqual([]);
  });

  it("replaces only files whose bytes are in the store", async () => {
    using machine = new Machine();
    const { project } = machine;
    await using served = await serveIn(machine);
    await attempt(served, "add", { ...evil, name: "src/main.ts" });
    const restore = () => attempt(served, "restore", { collection: "evil", output_directory: ".", overwrite: true });
    expect(await restore()).toMatchObject({
      code: "DENIED",
      hint: expect.stringContaining("add it to the store first"),
    });
    expect(readFileSync(join(project, "src/main.ts"), "utf8")).toBe("export const a = 1;\n");
    await attempt(served, "add", { path: "src/main.ts" });
    expect(await restore()).toMatchObject({ restored: 1, conflicts: [] });
  });

  it("does not write through a hard link", async () => {
    using machine = new Machine();
    const { home, project } = machine;
    linkSync(join(home, ".bashrc"), join(project, "linked"));
    await using served = await serveIn(machine);
    await attempt(served, "add", { path: "linked" });
    await attempt(served, "add", { ...evil, name: "linked" });
    await attempt(served, "restore", { collection: "evil", output_directory: ".", overwrite: true });
    expect(readFileSync(join(home, ".bashrc"), "utf8")).toBe("# mine\n");
  });

  it("does not write into the store's own folder, wherever it is", async () => {
    using machine = new Machine();
    const { project } = machine;
    const store = join(project, "data");
    await using served = await serveIn(machine, project, ["--store", store]);
    await attempt(served, "add", { ...evil, name: "content.sqlite" });
    await attempt(served, "add", { ...evil, name: "data/content.sqlite", collection: "below" });
    symlinkSync(store, join(project, "alias"));
    const before = readFileSync(join(store, "content.sqlite")).subarray(0, 16);
    for (const output_directory of ["data", "alias", "DATA", "data/deep"])
      expect(
        await attempt(served, "restore", { collection: "evil", output_directory, overwrite: true }),
        output_directory,
      ).toMatchObject({ code: "DENIED" });
    const below = await attempt(served, "restore", { collection: "below", output_directory: ".", overwrite: true });
    expect(below).toMatchObject({ restored: 0, conflicts: [{ path: "data/content.sqlite" }] });
    expect(await attempt(served, "add", { path: "data/content.sqlite" })).toMatchObject({ code: "DENIED" });
    expect(readFileSync(join(store, "content.sqlite")).subarray(0, 16)).toEqual(before);
  });
});

describe("a server started in the home folder or above it", () => {
  it.each(["home", "above", "root", "keys"])("has no allowed folder and says so (%s)", async (where) => {
    using machine = new Machine();
    const { home, base } = machine;
    const cwd = { home, above: base, root: "/", keys: join(home, ".ssh") }[where] as string;
    expect((await machine.run(["doctor"], { cwd })).stdout).toMatch(/allowed folders +none/);
    await using served = await serveIn(machine, cwd, ["--store", join(machine.base, "store")]);
    await served.says(/no allowed folder/);
    for (const path of ["id_rsa", ".ssh/id_rsa", "home/.ssh/id_rsa", join(home, "other"), home]) {
      const error = await attempt(served, "add", { path });
      expect(error, path).toMatchObject({ code: "DENIED" });
      expect(error.hint).toMatch(/--allow-path/);
    }
    await attempt(served, "add", { ...evil, name: ".bashrc" });
    const restored = await attempt(served, "restore", { collection: "evil", output_directory: machine.home });
    expect(restored).toMatchObject({ code: "DENIED" });
  });

  it("does not treat the home folder as a workspace because of its .trunkline or .git", async () => {
    using machine = new Machine();
    mkdirSync(join(machine.home, ".git"));
    mkdirSync(join(machine.home, ".trunkline"), { recursive: true });
    await using served = await serveIn(machine);
    expect(await attempt(served, "add", { path: "../../other/notes.md" })).toMatchObject({ code: "DENIED" });
    expect(await attempt(served, "add", { path: "src/main.ts" })).not.toHaveProperty("code");
  });
});

describe("a client over HTTP", () => {
  const token = "a-token-of-at-least-sixteen-characters";

  /** Starts a server with one legacy client, which declares roots and elicitation. */
  async function serveHttp(machine: Machine, cwd: string) {
    const args = ["serve", "--http", "--port", "0", "--store", join(machine.base, "store")];
    const child = machine.start(args, { cwd, env: { TRUNKLINE_TOKEN: token } });
    const ended = outcomeOf(child);
    const [text, url = ""] = await seen(child.stderr, /[\s\S]*listening at (\S+)[\s\S]*Ctrl-C/);
    let session: Record<string, string> = {};
    const post = async (message: Record<string, unknown>) => {
      const response = await fetch(url, {
        method: "POST",
        headers: {
          authorization: `Bearer ${token}`,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          ...session,
        },
        body: JSON.stringify({ jsonrpc: "2.0", ...message }),
      });
      const id = response.headers.get("mcp-session-id");
      if (id !== null) session = { "mcp-session-id": id, "mcp-protocol-version": "2025-11-25" };
      return await response.text();
    };
    const clientInfo = { name: "tester", version: "1.0" };
    const params = { protocolVersion: "2025-11-25", capabilities: { roots: {} }, clientInfo };
    await post({ id: 1, method: "initialize", params });
    await post({ method: "notifications/initialized" });
    const execute = (op: string, given: Record<string, unknown>) =>
      post({
        id: 2,
        method: "tools/call",
        params: { name: "execute", arguments: { operations: [{ op, params: given }] } },
      });
    const close = async () => {
      child.kill("SIGTERM");
      await ended;
    };
    return { text, execute, [Symbol.asyncDispose]: close };
  }

  it("of a server started in the home folder reaches no file", async () => {
    using machine = new Machine();
    await using served = await serveHttp(machine, machine.home);
    expect(served.text).toContain("no allowed folder");
    for (const path of [".ssh/id_rsa", "other/notes.md", machine.home])
      expect(await served.execute("add", { path }), path).toContain("DENIED");
    await served.execute("add", { ...evil, name: ".bashrc" });
    const params = { collection: "evil", output_directory: ".", overwrite: true };
    expect(await served.execute("restore", params)).toContain("DENIED");
    expect(readFileSync(join(machine.home, ".bashrc"), "utf8")).toBe("# mine\n");
  });

  it("has the same rules in a project", async () => {
    using machine = new Machine();
    await using served = await serveHttp(machine, machine.project);
    for (const path of [".env", "../../other/notes.md", join(machine.home, ".ssh/id_rsa")])
      expect(await served.execute("add", { path }), path).toContain("DENIED");
    for (const name of [".mcp.json", ".vscode/tasks.json"]) await served.execute("add", { ...evil, name });
    expect(await served.execute("restore", { collection: "evil", output_directory: "." })).toContain("DENIED");
    expect(existsSync(join(machine.project, ".mcp.json"))).toBe(false);
    expect(await served.execute("add", { path: "src/main.ts" })).not.toContain("DENIED");
  });
});

describe("the roots of an editor", () => {
  const withRoots = (...folders: string[]) => ({
    capabilities: { roots: { listChanged: true } },
    answer: () => ({ roots: folders.map((folder) => ({ uri: pathToFileURL(folder).href })) }),
  });

  it("extend the allowed folders, unless they are the home folder or above it", async () => {
    using machine = new Machine();
    const { home, base, project } = machine;
    const client = withRoots(join(home, "other"), home, "/", base);
    await using served = await serveIn(machine, project, [], client);
    expect(await attempt(served, "add", { path: join(home, "other/notes.md") })).not.toHaveProperty("code");
    for (const path of [join(home, ".bashrc"), join(home, ".ssh/id_rsa"), "/etc/hosts"])
      expect(await attempt(served, "add", { path }), path).toMatchObject({ code: "DENIED" });
  });

  it("ignores a root that links to the home folder, and a root of secrets", async () => {
    using machine = new Machine();
    const { home, project, base } = machine;
    symlinkSync(home, join(base, "alias"));
    await using served = await serveIn(machine, project, [], withRoots(join(base, "alias"), join(home, ".ssh")));
    for (const path of [join(base, "alias/.bashrc"), join(home, ".ssh/config")])
      expect(await attempt(served, "add", { path }), path).toMatchObject({ code: "DENIED" });
  });
});

describe("settings", () => {
  const SETTINGS = ".trunkline/settings.json";

  it("of the user add folders; those of a project do not", async () => {
    using machine = new Machine();
    const { home, project } = machine;
    machine.put(SETTINGS, JSON.stringify({ paths: { read: ["~/other"] } }));
    machine.put("code/app/.trunkline/settings.json", JSON.stringify({ paths: { read: ["/"], write: [home] } }));
    await using served = await serveIn(machine, project);
    await served.says(/"paths" has an effect only in your own settings/);
    expect(await attempt(served, "add", { path: join(home, "other/notes.md") })).not.toHaveProperty("code");
    expect(await attempt(served, "add", { path: join(home, ".bashrc") })).toMatchObject({ code: "DENIED" });
    await attempt(served, "add", { ...evil, name: "x" });
    const restored = await attempt(served, "restore", { collection: "evil", output_directory: join(home, "other") });
    expect(restored).toMatchObject({ code: "DENIED" });
  });

  it("paths.outside: deny refuses without asking", async () => {
    using machine = new Machine();
    machine.put(SETTINGS, JSON.stringify({ paths: { outside: "deny" } }));
    const client = asking("once");
    await using served = await serveIn(machine, machine.project, [], client);
    expect(await attempt(served, "add", { path: join(machine.home, "other") })).toMatchObject({ code: "DENIED" });
    expect(client.asked).toEqual([]);
  });
});

describe("a client that can ask its user", () => {
  it("asks once for an operation, and a no refuses it", async () => {
    using machine = new Machine();
    const { home, project } = machine;
    const client = asking("no");
    await using served = await serveIn(machine, project, [], client);
    const paths = [join(home, "other/notes.md"), join(home, ".ssh/id_rsa")];
    expect(await attempt(served, "add", { paths })).toMatchObject({ code: "DENIED" });
    expect(client.asked).toHaveLength(1);
    for (const path of paths) expect(client.asked[0]).toContain(path);
  });

  it("gets what was allowed once, and is asked again the next time", async () => {
    using machine = new Machine();
    const client = asking("once");
    await using served = await serveIn(machine, machine.project, [], client);
    const path = join(machine.home, "other/notes.md");
    expect(await attempt(served, "add", { path })).not.toHaveProperty("code");
    expect(await attempt(served, "add", { path })).not.toHaveProperty("code");
    expect(client.asked).toHaveLength(2);
  });

  it("is not asked again in the session, but is about secrets and writing", async () => {
    using machine = new Machine();
    const client = asking("session");
    const other = join(machine.home, "other");
    machine.put("other/.env", "X=1");
    await using served = await serveIn(machine, machine.project, [], client);
    await attempt(served, "add", { path: other });
    expect(await attempt(served, "add", { path: join(other, "notes.md") })).not.toHaveProperty("code");
    expect(client.asked).toHaveLength(1);
    await attempt(served, "add", { path: join(other, ".env") });
    expect(client.asked).toHaveLength(2);
    await attempt(served, "restore", { collection: "default", output_directory: other });
    expect(client.asked).toHaveLength(3);
  });

  it("saves always in the user's settings", async () => {
    using machine = new Machine();
    const settings = machine.put(".trunkline/settings.json", '{\n  // mine\n  "policy": {}\n}\n');
    const path = join(machine.home, "other/notes.md");
    {
      await using served = await serveIn(machine, machine.project, [], asking("always"));
      expect(await attempt(served, "add", { path })).not.toHaveProperty("code");
    }
    const text = readFileSync(settings, "utf8");
    expect(text).toContain("// mine");
    expect(text).toContain(path);
    const client = asking("no");
    await using served = await serveIn(machine, machine.project, [], client);
    expect(await attempt(served, "add", { path })).not.toHaveProperty("code");
    expect(client.asked).toEqual([]);
  });

  it("asks once about all the files that a restore may only write with permission", async () => {
    using machine = new Machine();
    const { project } = machine;
    const client = asking("once");
    await using served = await serveIn(machine, project, [], client);
    for (const name of [".mcp.json", ".envrc", "src/main.ts", "new.txt"])
      await attempt(served, "add", { ...evil, name });
    const result = await attempt(served, "restore", {
      collection: "evil",
      output_directory: ".",
      overwrite: true,
    });
    expect(result).toMatchObject({ restored: 4, conflicts: [] });
    expect(client.asked).toHaveLength(1);
    for (const path of [".mcp.json", ".envrc", "src/main.ts"]) expect(client.asked[0]).toContain(path);
    expect(client.asked[0]).not.toContain("new.txt");
  });

  it("never gets into Git's or Trunkline's folders, whatever the user answers", async () => {
    using machine = new Machine();
    const { home, project } = machine;
    mkdirSync(join(project, ".git"));
    const client = asking("always");
    await using served = await serveIn(machine, project, [], client);
    for (const name of [".git/hooks/pre-commit", ".trunkline/mcp.json"])
      await attempt(served, "add", { ...evil, name });
    const result = await attempt(served, "restore", { collection: "evil", output_directory: "." });
    expect(result).toMatchObject({ restored: 0 });
    for (const output_directory of [".git", ".git/hooks", join(home, ".trunkline"), ".trunkline"])
      expect(await attempt(served, "restore", { collection: "evil", output_directory })).toMatchObject({
        code: "DENIED",
      });
    expect(client.asked).toEqual([]);
  });
});

describe("a question about files", () => {
  /** Tries to add a file outside the workspace for a client that accepts everything. */
  async function addOutside(caller: Partial<Caller>) {
    const asked: unknown[] = [];
    const channel: Channel = {
      abilities: { elicitation: { form: {} } },
      ask: async ({ params }) => {
        asked.push(params);
        return { action: "accept", content: { allow: "always" } };
      },
    };
    await using bench = await openBench({ rememberPaths: async () => {} });
    const path = join(bench.workspace, "..", `${basename(bench.workspace)}.txt`);
    writeFileSync(path, "outside");
    try {
      await bench.run("add", { path }, exchangeOf({ caller, channel }));
      return { asked, code: undefined };
    } catch (error) {
      return { asked, code: (error as { code: string }).code };
    } finally {
      rmSync(path);
    }
  }

  it.each(["anonymous", "someone"])(
    "is not put to a client of the principal %s, which could answer it itself",
    async (principal) => {
      const { asked, code } = await addOutside({ endpoint: "http", principal });
      expect({ asked, code }).toEqual({ asked: [], code: "DENIED" });
    },
  );

  it("does not let a client over HTTP change the user's settings", async () => {
    const { asked, code } = await addOutside({ endpoint: "http", principal: "default" });
    expect(JSON.stringify(asked)).not.toContain("always");
    expect(code).toBe("DENIED");
  });
});

describe("an agent that the user has started", () => {
  it("is a client: it reaches only the workspace", async () => {
    using machine = new Machine();
    const key = join(machine.home, ".ssh", "id_rsa");
    const turns = [
      { tool: "execute", args: { operations: [{ op: "add", params: { path: key } }] } },
      { tool: "execute", args: { operations: [{ op: "add", params: { path: ".env" } }] } },
      { text: "Done." },
    ];
    machine.put("code/app/script.jsonl", turns.map((turn) => `${JSON.stringify(turn)}\n`).join(""));
    const args = ["agent", "--provider", "echo", "--script", "script.jsonl", "--surface", "composite", "--yes", "Go."];
    const { stdout, stderr } = await machine.run(args, { cwd: machine.project });
    expect(stdout).toBe("Done.\n");
    expect(stderr.match(/DENIED/g)).toHaveLength(2);
  });
});

describe("a file that is swapped for a link after the check", () => {
  it("is not restored through", async () => {
    using machine = new Machine();
    const { home, project } = machine;
    const out = join(home, "other", "out");
    mkdirSync(out);
    const client = asking("once");
    // The user's answer comes after the check of the folder and before the write.
    const answer = (method: string, params: Record<string, unknown>) => {
      rmSync(out, { recursive: true });
      symlinkSync(join(home, ".ssh"), out);
      return client.answer?.(method, params) ?? {};
    };
    await using served = await serveIn(machine, project, [], { ...client, answer });
    await attempt(served, "add", { ...evil, name: "plain.txt" });
    await attempt(served, "restore", { collection: "evil", output_directory: out });
    expect(client.asked).toHaveLength(1);
    expect(existsSync(join(home, ".ssh", "plain.txt"))).toBe(false);
  });

  it("is not added through", async () => {
    using machine = new Machine();
    const { home, project } = machine;
    const client = asking("once");
    const answer = client.answer;
    await using served = await serveIn(machine, project, [], {
      ...client,
      answer: (method: string, params: Record<string, unknown>) => {
        rmSync(join(project, "src/main.ts"));
        symlinkSync(join(home, ".ssh/id_rsa"), join(project, "src/main.ts"));
        return answer?.(method, params) ?? {};
      },
    });
    const paths = ["src/main.ts", join(home, "other/notes.md")];
    expect(await attempt(served, "add", { paths })).toMatchObject({ code: "DENIED" });
    writeFileSync(join(project, "x"), "");
    expect(JSON.stringify((await served.query("search", { query: "PRIVATE" })).value)).not.toContain("PRIVATE KEY");
  });

  it("is not watched through", async () => {
    using machine = new Machine({ "code/app/notes.md": "notes", "code/app/marker.md": "old" });
    const { home, project } = machine;
    await using served = await serveIn(machine);
    await served.call("session", { action: "start" });
    const watched = await served.call("session", { action: "watch", paths: ["notes.md", "marker.md"] });
    expect(watched.isError).toBe(false);
    rmSync(join(project, "notes.md"));
    symlinkSync(join(home, ".ssh/id_rsa"), join(project, "notes.md"));
    writeFileSync(join(project, "marker.md"), "newer");
    const stored = async (pattern: string) => JSON.stringify((await served.query("grep", { pattern })).value);
    await vi.waitFor(async () => expect(await stored("newer")).toContain("marker.md"), { timeout: HANG_MS });
    // Everything that was noticed is indexed before the session stops.
    await served.call("session", { action: "stop" });
    expect(await stored("PRIVATE KEY")).not.toContain("notes.md");
  });
});
