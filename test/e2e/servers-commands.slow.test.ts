// @with-broker
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isAlive, outcomeOf, Place, root, seen } from "./command.js";

const server = (name: string) => join(root, "test", "servers", `${name}.js`);
const node = process.execPath;
/** Creates a project whose files the user has approved. */
const project = (servers: Record<string, unknown>, files: Record<string, unknown> = {}) =>
  new Place({ ".trunkline/mcp.json": { servers }, ...files }, { TRUNKLINE_TRUST: "all" });
const hello = { command: node, args: [server("hello")] };

describe("trunkline call", () => {
  it("prints the answer and nothing else", async () => {
    using place = project({ hello });
    expect(await place.run(["call", "hello.hello", "name=Ada"])).toEqual({
      code: 0,
      stdout: "Hello, Ada!\n",
      stderr: "",
    });
  });

  it("accepts text, JSON and whole objects as arguments", async () => {
    using place = project({ hello });
    const outcomes = await Promise.all([
      place.run(["call", "hello.repeat", "text=a=b", "count=3"]),
      place.run(["call", "hello.repeat", "text=x", "count:=2"]),
      place.run(["call", "hello.repeat", "--input", '{"text":"y","count":1}']),
    ]);
    expect(outcomes.map(({ stdout }) => stdout)).toEqual(["a=b a=b a=b\n", "x x\n", "y\n"]);
  });

  it("prints the server's own result with --raw", async () => {
    using place = project({ hello });
    const { stdout } = await place.run(["call", "hello.hello", "--raw"]);
    expect(JSON.parse(stdout)).toMatchObject({ content: [{ type: "text", text: "Hello, world!" }] });
  });

  it("warns about an argument that the tool does not list, but makes the call anyway", async () => {
    using place = project({ hello });
    const { code, stdout, stderr } = await place.run(["call", "hello.hello", "nam=Ada"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "Hello, world!\n" });
    expect(stderr).toContain('no argument "nam". Did you mean "name"?');
  });

  it("suggests the nearest tool without running it", async () => {
    using place = project({ hello });
    const { code, stdout, stderr } = await place.run(["call", "hello.helo"]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("Did you mean hello.hello?");
  });

  it.each([
    [["call"], "missing required argument"],
    [["call", "hello.hello", "Ada"], "key=value for text, or key:=value for JSON. Parameters: name."],
    [["call", "hello.repeat", "count:=many"], "not JSON"],
    [["call", "hello.repeat", "text=x", "count=many"], '"count" must be'],
    [["call", "hello.hello", "--input", "[1]"], "has to be an object"],
    [["--mcp", "nowhere.json", "tools"], "does not exist"],
    [["nonsense"], "unknown command"],
    [["serve", "--http", "--port", "99999"], "not a port"],
    [["serve", "--http", "--host", "0.0.0.0", "--no-token"], "loopback"],
  ])("answers %j with exit code 2 and one clear line", async (args, message) => {
    using place = project({ hello });
    const { code, stdout, stderr } = await place.run(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
    expect(stderr).not.toContain("    at ");
  });

  it.each([
    [["call"], "trunkline call"],
    [["auth", "login"], "trunkline auth login"],
    [["--mcp", "a.json", "import", "--all"], "trunkline import"],
    [["store", "frob"], "trunkline store"],
    [["frob"], "trunkline"],
  ])("answers %j with a pointer to its help: %s", async (args, command) => {
    using place = new Place();
    expect((await place.run(args)).stderr).toContain(`See \`${command} --help\`.`);
  });

  it("says what is wrong with a --mcp file, with its line", async () => {
    using place = new Place({ "broken.json": '{\n  "servers": {\n    "a": { "command": \n' });
    const { code, stderr } = await place.run(["tools", "--mcp", "broken.json"]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/broken\.json:\d+:\d+/);
  });

  it("leaves no process behind after Ctrl-C during a call", async () => {
    using place = new Place();
    const pidFile = join(place.base, "pid");
    // Behind a shell, as with npx: both the shell and its child must end.
    const script = `"${node}" "${server("slow")}" & echo $$ $! > "${pidFile}"; wait`;
    place.write("mcp.json", {
      servers: { slow: { command: "sh", args: ["-c", `exec 3<&0; ${script.replace(" &", " <&3 &")}`] } },
    });
    const child = place.startProcess(["call", "slow.wait", "ms=60000", "--mcp", "mcp.json"], {
      env: { TRUNKLINE_LOG_LEVEL: "debug" },
    });
    const outcome = outcomeOf(child);
    await seen(child.stderr, /calling a tool/);
    const pids = readFileSync(pidFile, "utf8").trim().split(" ").map(Number);
    expect(pids.map(isAlive)).toEqual([true, true]);
    child.kill("SIGINT");
    expect((await outcome).code).toBe(130);
    expect(pids.map(isAlive)).toEqual([false, false]);
  });
});

describe("trunkline doctor", () => {
  it("runs initialize and tools/list and reports them as JSON", async () => {
    using place = project({ hello: { ...hello, env: { TOKEN: "abc" } } });
    const { code, stdout } = await place.run(["doctor", "--format", "json", "--pretty"]);
    expect(code).toBe(0);
    const report = JSON.parse(stdout);
    expect(Object.keys(report)).toEqual([
      "environment",
      "registries",
      "mcp",
      "app_modes",
      "safety",
      "surface",
      "broker",
      "search",
    ]);
    expect(report.mcp).toMatchObject({
      path: join(place.cwd, ".trunkline", "mcp.json"),
      exists: true,
      diagnostics: [],
      protocol: { latest: "2026-07-28" },
      servers: [
        {
          id: "hello",
          type: "stdio",
          scope: "project",
          supported: true,
          diagnostics: [],
          config: { env: { TOKEN: "<redacted>" } },
          active: {
            initialize: { status: "ok", error: null, protocol_version: "2026-07-28", server_info: { name: "hello" } },
            tools: { status: "ok", error: null, count: 2, names: ["hello", "repeat"] },
          },
        },
      ],
    });
  });

  it("distinguishes failures, shows the server's last stderr lines, and exits with 1", async () => {
    using place = project({
      hello,
      missing: { command: "no-such-program-anywhere" },
      dying: { command: node, args: ["-e", 'console.error("no database"); process.exit(3)'] },
      wrong: { command: 7 },
    });
    const { code, stdout } = await place.run(["doctor"]);
    expect(code).toBe(1);
    expect(stdout).toContain("✓ hello");
    expect(stdout).toContain('Program "no-such-program-anywhere" not found.');
    expect(stdout).toMatch(/"dying" exited while connecting \(exit code 3\)\. It wrote: no database/);
    expect(stdout).not.toContain("stderr: no database");
    expect(stdout).toMatch(/warning: Server "wrong", field "command".*mcp\.json:\d+\)/);
  });

  it("does not let an unapproved file move the cursor", async () => {
    const clear = "\u001b[2J";
    using place = new Place();
    place.write(".trunkline/mcp.json", {
      servers: { [`a${clear}`]: { command: `b${clear}`, args: ["\u202ec"] }, [`d${clear}`]: { comand: "e" } },
    });
    for (const args of [["doctor"], ["tools"], ["servers"]]) {
      const { stdout, stderr } = await place.run(args);
      expect(stdout + stderr).toContain("a\\u001b[2J");
      expect(stdout + stderr).toContain("d\\u001b[2J");
      for (const sent of ["\u001b", "\u202e"]) expect(stdout + stderr).not.toContain(sent);
    }
  });

  it("says in one line whether what this project starts is approved", async () => {
    using place = project({ hello });
    const trustLine = async (env: Record<string, string>) => {
      const { stdout } = await place.run(["doctor"], { env });
      return /^Safety\n {2}trust +(.*)$/m.exec(stdout)?.[1];
    };
    const untrusted = { TRUNKLINE_TRUST: "" };
    expect(await trustLine(untrusted)).toBe("1 server of this project not approved and not started: trunkline trust");
    expect(await trustLine({})).toBe("TRUNKLINE_TRUST=all is set, so every project file counts as approved");
    await place.run(["trust", "--yes"]);
    expect(await trustLine(untrusted)).toBe("you approved 1 server of this project");
    const { stdout } = await place.run(["doctor", "--format", "json"], { env: untrusted });
    expect(JSON.parse(stdout).safety.trust).toBe("you approved 1 server of this project");
  });

  it("says which file to fix if it cannot be read, and nothing that would refuse to write into it", async () => {
    using place = new Place();
    place.write("../home/.trunkline/settings.json", "{ broken");
    const { code, stderr } = await place.run(["tools"]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/cannot be used[\s\S]*Fix .*settings\.json first\./);
    expect(stderr).not.toContain("servers add");
  });

  it("says how to add a server if there is none", async () => {
    using place = new Place();
    const { code, stdout } = await place.run(["doctor"]);
    expect(code).toBe(0);
    expect(stdout).toContain("No MCP server is configured.");
  });

  it("lists the tools of server-everything", async () => {
    const everything = createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/package.json");
    using place = project({ everything: { command: node, args: [join(everything, "..", "dist", "index.js")] } });
    const { stdout } = await place.run(["doctor", "--format", "json"]);
    const [status] = JSON.parse(stdout).mcp.servers;
    expect(status.active.initialize).toMatchObject({ status: "ok", protocol_version: "2025-11-25" });
    expect(status.active.tools.names).toEqual(expect.arrayContaining(["echo", "get-sum", "get-tiny-image"]));
  });
});

describe("trunkline tools", () => {
  it("shows each tool with its signature", async () => {
    using place = project({ hello });
    const { stdout } = await place.run(["tools"]);
    expect(stdout).toContain("hello.hello(name?: string)");
    expect(stdout).toContain("hello.repeat(text: string, count?: number)");
  });

  it("finds the configuration from a subfolder", async () => {
    using place = project({ hello }, { "a/b/file.txt": "" });
    const { stdout } = await place.run(["tools", "--json"], { cwd: join(place.cwd, "a", "b") });
    expect(JSON.parse(stdout)).toHaveLength(2);
  });
});

describe("trunkline without a command", () => {
  it("names the approval a project needs first, then the check", async () => {
    using place = new Place({ ".trunkline/mcp.json": { mcpServers: { hello } } });
    expect((await place.run([])).stdout).toContain(
      "Next: review and approve what this project would run\n  trunkline trust\n",
    );
    await place.run(["trust", "--yes"]);
    expect((await place.run([])).stdout).toContain("Next: check that hello works\n  trunkline doctor\n");
  });

  it("says how to get a first server", async () => {
    using place = new Place();
    const { stdout } = await place.run([]);
    expect(stdout).toMatch(/^ {2}servers {2}none$/m);
    expect(stdout).toContain("trunkline servers add demo -- npx -y @modelcontextprotocol/server-everything");
    expect(stdout).toContain("trunkline --help");
    mkdirSync(join(place.home, ".cursor"));
    writeFileSync(
      join(place.home, ".cursor", "mcp.json"),
      JSON.stringify({ mcpServers: { wiki: { command: "wiki" } } }),
    );
    const { stdout: withCursor } = await place.run([]);
    expect(withCursor).toContain("none; not moved here yet: 1 in Cursor");
    expect(withCursor).toContain("Next: use the servers of Cursor\n  trunkline setup\n");
  });

  it("takes the file given with --mcp, starts nothing and asks nothing", async () => {
    using place = new Place({ "other.json": { mcpServers: { "no\u001b[31mred": { command: "/nowhere" } } } });
    const { code, stdout, stderr } = await place.run(["--mcp", "other.json"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("1 not connected yet");
    expect(stdout).not.toContain("\u001b");
    expect(await place.run(["--mcp", "lost.json"])).toMatchObject({ code: 2, stdout: "" });
  });

  it("sends mistakes in a configuration file to doctor", async () => {
    using place = new Place({ ".trunkline/mcp.json": "{ oops" });
    const { stdout } = await place.run([]);
    expect(stdout).toContain("1 problem in the configuration");
    expect(stdout).toContain("  trunkline doctor\n");
  });

  it("prints its version", async () => {
    using place = new Place();
    const manifest = JSON.parse(readFileSync(join(root, "packages", "cli", "package.json"), "utf8"));
    expect(await place.run(["--version"])).toEqual({ code: 0, stdout: `${manifest.version}\n`, stderr: "" });
  });
});

describe("a program without --", () => {
  it.each([
    [["npx", "-y", "bar"], "npx -y bar"],
    [["--env", "A=secret", "node", "server.js", "--port", "3"], "node server.js --port 3"],
    [["npx", "-y", "bar", "--api-key", "sk-0123456789abcdef"], "npx -y bar --api-key <redacted>"],
  ])("is explained by servers add: %j", async (words, shown) => {
    using place = new Place();
    const { code, stdout, stderr } = await place.run(["servers", "add", "foo", ...words]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(`\n  Put \`--\` before the program: trunkline servers add foo -- ${shown}\n`);
    expect(stderr).not.toMatch(/A=secret|sk-0123/);
  });

  it("is not blamed for a mistyped option of a URL", async () => {
    using place = new Place();
    const { stderr } = await place.run(["servers", "add", "foo", "https://example.com/mcp", "--heder", "A: b"]);
    expect(stderr).toContain("See `trunkline servers add --help`.");
    expect((await place.run(["servers", "add", "foo", "http:/example.com"])).stderr).toContain(
      "is not a valid server URL",
    );
  });
});

describe("a file the user names", () => {
  const files = { "bad.json": '{\n  "a": 1,,\n}', "folder/x": "", "list.json": "[1]" };
  it.each([
    [["query", "lost.json"], "Cannot read lost.json: it does not exist."],
    [["query", "./folder"], "Cannot read ./folder: it is a folder."],
    [["query", "bad.json"], "bad.json:2:10 cannot be used: it is not valid JSON"],
    [["execute", '{"operations": }'], "<argument>:1:16 cannot be used: it is not valid JSON"],
    [["ask", "--provider", "echo", "--script", "lost.txt", "hi"], "Cannot read lost.txt: it does not exist."],
    [["ask", "--provider", "echo", "--script", "folder", "hi"], "Cannot read folder: it is a folder."],
    [["ask", "--provider", "echo", "--format", "bad.json", "hi"], "bad.json:2:10 cannot be used: it is not valid JSON"],
    [["ask", "--provider", "echo", "--format", "folder", "hi"], "Cannot read folder: it is a folder."],
    [["ask", "--provider", "echo", "--format", "list.json", "hi"], "list.json is not a JSON Schema"],
    [["run", "folder"], "folder is not a file."],
    [["serve", "--prompts", "bad.json"], "bad.json, given with --prompts, is not a folder."],
  ])("%j exits with 2 and says why: %s", async (args, message) => {
    using place = new Place(files);
    const { code, stdout, stderr } = await place.run(args);
    // What is wrong with query and execute is JSON on stdout.
    const isJson = args[0] === "query" || args[0] === "execute";
    expect([code, isJson ? stderr : stdout]).toEqual([2, ""]);
    const said = isJson ? JSON.parse(stdout).error.message : stderr;
    expect(said).toContain(message);
    expect(said).not.toMatch(/\bE[A-Z]{4,}\b/);
  });
});
