// A server that a person describes on the command line: the project around has no say in it, and its secrets stay
// hidden.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Place, root } from "../e2e/command.js";
import { startServer } from "../servers/start.js";

const serverPath = (name: string) => join(root, "test", "servers", `${name}.js`);

describe("a server on the command line", () => {
  it("starts no server of the project, not even one of the same name", async () => {
    using place = new Place();
    const witness = join(place.base, "started");
    const entry = { command: process.execPath, args: ["-e", `require("node:fs").writeFileSync("${witness}", "")`] };
    place.write(".trunkline/mcp.json", { mcpServers: { hello: entry } });
    const { stdout } = await place.run(["call", "hello.hello", "--", process.execPath, serverPath("hello")], {
      env: { TRUNKLINE_TRUST: "all" },
    });
    expect(stdout).toContain("Hello");
    expect(existsSync(witness)).toBe(false);
  });

  it("is not replaced by a file that the project's .env names", async () => {
    using place = new Place({ ".env": "TRUNKLINE_MCP_FILE=other.json\n", "other.json": { mcpServers: {} } });
    const { stdout, stderr } = await place.run(["call", "hello", "--", process.execPath, serverPath("hello")]);
    expect(stdout).toContain("Hello");
    expect(stderr).toBe("");
  });

  it("shows no header, variable or argument that is a secret", async () => {
    await using echo = await startServer("http-echo");
    using place = new Place();
    const secret = "s3cr3t-value-0815";
    const failed = await Promise.all([
      place.run(["tools", "--url", echo.url, "--header", `Authorization: Bearer ${secret}`]),
      place.run(["tools", "--url", `${echo.url}?api_key=${secret}`]),
      place.run([
        "tools",
        "--env",
        `API_KEY=${secret}`,
        "--",
        process.execPath,
        "-e",
        "console.error(process.env.API_KEY)",
      ]),
      place.run(["tools", "--header", secret, "--url", echo.url]),
      place.run(["tools", "--", "/nowhere/program", `--api-key=${secret}`]),
    ]);
    for (const { code, stdout, stderr } of failed) {
      expect(stdout + stderr).not.toContain(secret);
      expect(code).not.toBe(0);
    }
  });

  it("gets arguments named like inherited properties as data", async () => {
    using place = new Place();
    for (const words of [["show", '__proto__:={"admin":true}'], ['show(__proto__: {"admin": true})']]) {
      const { stdout } = await place.run(["call", ...words, "--json", "--", process.execPath, serverPath("mirror")]);
      expect(stdout).toMatch(/"arguments":\s*\{\s*"__proto__":\s*\{\s*"admin":\s*true/);
    }
  });
});
