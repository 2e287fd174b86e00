// `call` and `tools` with a server that is described on the command line, without a configuration.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { brokerUseOf } from "../../packages/cli/src/commands/broker/broker-commands.js";
import { startServer } from "../servers/start.js";
import { Place, root } from "./command.js";

const helloPath = join(root, "test", "servers", "hello.js");
const hello = ["--", process.execPath, helloPath];

describe("a server after --", () => {
  it("lists its tools without a server's name in front", async () => {
    using place = new Place();
    const { code, stdout, stderr } = await place.run(["tools", ...hello]);
    expect(stderr).toBe("");
    expect(stdout).toContain("repeat(text: string, count?: number)");
    expect(code).toBe(0);
    const filtered = await place.run(["tools", "rep*", ...hello]);
    expect(filtered.stdout).toContain("repeat(");
    expect(filtered.stdout).not.toContain("hello(");
  });

  it("is called with the tool before it, with or without the server's name", async () => {
    using place = new Place();
    for (const tool of ["repeat", "hello.repeat"]) {
      const { stdout, stderr } = await place.run(["call", tool, "text=ab", "count=2", ...hello]);
      expect({ stdout, stderr }).toEqual({ stdout: "ab ab\n", stderr: "" });
    }
  });

  it("is called with arguments in parentheses", async () => {
    using place = new Place();
    const { stdout } = await place.run(["call", "repeat(text: 'ab', count: 2)", ...hello]);
    expect(stdout).toBe("ab ab\n");
  });

  it("starts in the current folder, with the variables given with --env", async () => {
    using place = new Place();
    mkdirSync(join(place.cwd, "sub"));
    const program = "console.error(`in ${process.cwd()} with ${process.env.KIND}`); process.exit(1)";
    const { code, stderr } = await place.run(
      ["tools", "--env", "KIND=green-one", "--", process.execPath, "-e", program],
      {
        cwd: join(place.cwd, "sub"),
      },
    );
    expect(stderr).toContain(join(place.cwd, "sub"));
    // The value of a variable can be a secret.
    expect(stderr).toContain("with <redacted>");
    expect(code).toBe(1);
  });

  it("needs no configuration, and leaves none", async () => {
    using place = new Place({ ".trunkline/mcp.json": "{ broken" });
    const { code, stderr } = await place.run(["call", "hello", ...hello]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const { stdout } = await place.run(["servers", "list", "--json"], { cwd: place.home });
    expect(JSON.parse(stdout)).toEqual([]);
  });

  it("passes options after -- to the server's command", async () => {
    using place = new Place();
    const mirror = join(root, "test", "servers", "mirror.js");
    const { stdout } = await place.run(["tools", "--json", "--", process.execPath, mirror, "--legacy-only"]);
    expect(JSON.parse(stdout)).toEqual(expect.arrayContaining([expect.objectContaining({ tool: "show" })]));
  });
});

describe("a server with --url", () => {
  it("lists tools and calls them", async () => {
    await using server = await startServer("hello", ["--http"]);
    using place = new Place();
    const listed = await place.run(["tools", "--url", server.url]);
    expect(listed.stdout).toContain("repeat(text: string");
    const called = await place.run(["call", "--url", server.url, "repeat", "text=ab", "count=2"]);
    expect(called.stdout).toBe("ab ab\n");
  });
});

describe("a server with --url that wants a token", () => {
  it.each([
    [[], "needs you to sign in"],
    [["--header", "Authorization: Bearer wrong"], "rejected the Authorization header"],
  ])("says how to send it, after %j", async (headers, message) => {
    await using server = await startServer("oauth");
    using place = new Place();
    const { code, stderr } = await place.run(["call", "--url", server.url, ...headers, "repeat", "text=ab"]);
    expect(code).toBe(3);
    expect(stderr).toContain(message);
    expect(stderr).toContain("--header 'Authorization: Bearer <token>'");
  });
});

describe("a command line that does not fit", () => {
  it.each([
    [["call", ...hello, "--", "repeat"], "There is no tool before `--`."],
    [["call", "repeat", "--"], "There is no command after --."],
    [["call", "repeat", "--url", "http://127.0.0.1:1/mcp", ...hello], "not with both"],
    [["call", "repeat", "--url", "localhost:3000"], "is not a valid server URL"],
    [["call", "repeat", "--mcp", "mcp.json", ...hello], "--mcp names a configuration"],
    [["call", "repeat", "--header", "A: b"], "but none is named"],
    [["call", "repeat(text: 'a')", "count=2", ...hello], "given twice"],
    [["tools", "a", "b"], "Only one tool"],
    [["tools", "--", "npx -y @scope/server --token hunter2hunter2"], "-- npx -y @scope/server --token <redacted>\n"],
    [["servers", "add", "docs", "npx -y @scope/server"], "Write it without: -- npx -y @scope/server\n"],
    [["tools", "--changes", ...hello], "for servers in the configuration"],
  ])("is explained: %s", async (args, message) => {
    using place = new Place();
    const { code, stderr } = await place.run(args);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  });

  it("suggests a tool of the server", async () => {
    using place = new Place();
    const { stderr } = await place.run(["call", "repaet", ...hello]);
    expect(stderr).toContain("Did you mean hello.repeat?");
  });
});

describe("the broker", () => {
  it("leaves a server on the command line to the command's own process", () => {
    const use = (...args: string[]) => brokerUseOf(args, {}, "linux");
    expect(use("call", "docs.search")).toBe("person");
    expect(use("call", "search", "--url", "http://127.0.0.1:1/")).toBeUndefined();
    expect(use("tools", "--url=http://127.0.0.1:1/")).toBeUndefined();
    expect(use("call", "search", "--", "npx", "x")).toBeUndefined();
    expect(use("tools", "--", "npx", "x")).toBeUndefined();
    expect(use("ask", "--", "-what?")).toBe("person");
  });
});
