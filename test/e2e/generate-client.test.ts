// `trunkline generate client`: what it writes compiles, works with a real hub, and is recognised when it is stale.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadConfig, openHub } from "../../packages/client/src/index.js";
import { Place, root } from "./command.js";
import { faultsIn, loadClient } from "./generated-client.js";

const everything = {
  command: process.execPath,
  args: [join(root, "node_modules", "@modelcontextprotocol", "server-everything", "dist", "index.js")],
};
const hello = { command: process.execPath, args: [join(root, "test", "servers", "hello.js")] };
const crashing = { command: process.execPath, args: ["-e", "process.exit(1)"] };

const USE = `
import { openHub } from "@trunkline/client";
import { createClient, type ToolInput, type ToolOutput } from "./tools.js";

const hub = await openHub();
const client = createClient(hub);
const text: string = await client.everything.echo({ message: "hi" }, { timeoutMs: 1000, signal: undefined });
const input: ToolInput<"everything", "get-sum"> = { a: 1, b: 2 };
await client.everything["get-sum"](input);
await client.everything["get-env"]();
const weather: ToolOutput<"everything", "get-structured-content"> =
  await client.everything["get-structured-content"]({ location: "Chicago" });
const degrees: number = weather.temperature;
// @ts-expect-error: a number is required
await client.everything.echo({ message: 1 });
// @ts-expect-error: the message is required
await client.everything.echo();
// @ts-expect-error: there is no such argument
await client.everything.echo({ message: "hi", loud: true });
// @ts-expect-error: there is no such city
await client.everything["get-structured-content"]({ location: "Atlantis" });
// @ts-expect-error: there is no such tool
await client.everything.nothing();
export { text, degrees };
`;

describe("generate client", () => {
  it("writes a file that compiles, types calls, and calls tools of a real server", async () => {
    using place = new Place({ "mcp.json": { mcpServers: { everything } } });
    const { code, stderr, stdout } = await place.run([
      "generate",
      "client",
      "--mcp",
      "mcp.json",
      "--output",
      "tools.ts",
    ]);
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "", stderr: "wrote tools.ts\n" });
    const source = readFileSync(join(place.cwd, "tools.ts"), "utf8");
    expect(source).toContain("/** Echoes back the input string */");
    expect(await faultsIn({ "tools.ts": source, "use.ts": USE })).toEqual([]);

    await using hub = await openHub(await loadConfig({ cwd: place.cwd, mcpPath: "mcp.json" }));
    const { createClient } = await loadClient(source);
    const client = createClient(hub);
    expect(await client.everything?.echo?.({ message: "hi" })).toBe("Echo: hi");
    expect(await client.everything?.["get-structured-content"]?.({ location: "Chicago" })).toMatchObject({
      temperature: expect.any(Number),
    });
    await expect(client.everything?.["get-sum"]?.({ a: "x" })).rejects.toThrow(/invalid/i);
  });

  it("prints the file without --out, for the chosen tools, and for a server on the command line", async () => {
    using place = new Place();
    const { stdout } = await place.run(["generate", "client", "rep*", "--", hello.command, ...hello.args]);
    expect(stdout).toContain("repeat: {");
    expect(stdout).not.toContain("Greets someone");
  });

  it("recognises a stale file with --check, whatever a formatter did to it", async () => {
    using place = new Place({ "mcp.json": { mcpServers: { hello } } });
    const generate = (...args: string[]) => place.run(["generate", "client", "--mcp", "mcp.json", ...args]);
    expect(await generate("--check", "--output", "tools.ts")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("tools.ts does not exist"),
    });
    await generate("--output", "tools.ts");
    const path = join(place.cwd, "tools.ts");
    writeFileSync(path, readFileSync(path, "utf8").replaceAll("  ", "\t"));
    expect(await generate("--check", "--output", "tools.ts")).toMatchObject({
      code: 0,
      stderr: "tools.ts is up to date.\n",
    });
    place.write("mcp.json", { mcpServers: { hello: { ...hello, tools: { deny: ["repeat"] } } } });
    const before = readFileSync(path, "utf8");
    expect(await generate("--check", "--output", "tools.ts")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("out of date"),
    });
    expect(readFileSync(path, "utf8")).toBe(before);
    expect(await generate("--check")).toMatchObject({ code: 2 });
    const { stdout } = await generate("--check", "--output", "tools.ts", "--json");
    expect(JSON.parse(stdout)).toMatchObject({ file: "tools.ts", current: false, tools: 1 });
  });

  it("does not replace a file that it did not write, unless told to", async () => {
    using place = new Place({ "mcp.json": { mcpServers: { hello } }, "mine.ts": "export const mine = 1;\n" });
    const args = ["generate", "client", "--mcp", "mcp.json", "--output", "mine.ts"];
    const refused = await place.run(args);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("--force") });
    expect(readFileSync(join(place.cwd, "mine.ts"), "utf8")).toBe("export const mine = 1;\n");
    expect((await place.run([...args, "--force"])).code).toBe(0);
    expect(readFileSync(join(place.cwd, "mine.ts"), "utf8")).toContain("createClient");
  });

  it("goes on without a server that fails, names it, and exits with 1", async () => {
    using place = new Place({ "mcp.json": { mcpServers: { hello, crashing } } });
    const { code, stderr } = await place.run(["generate", "client", "--mcp", "mcp.json", "--output", "tools.ts"]);
    expect(code).toBe(1);
    expect(stderr).toContain('crashing is left out: Server "crashing" exited while connecting (exit code 1).');
    expect(stderr).toContain("wrote tools.ts, which is incomplete\n");
    expect(readFileSync(join(place.cwd, "tools.ts"), "utf8")).toContain("hello");
  });

  it("keeps a complete file rather than replacing it by an incomplete one, and does not judge it", async () => {
    using place = new Place({ "mcp.json": { mcpServers: { hello } } });
    const args = ["generate", "client", "--mcp", "mcp.json", "--output", "tools.ts"];
    await place.run(args);
    const before = readFileSync(join(place.cwd, "tools.ts"), "utf8");
    place.write("mcp.json", { mcpServers: { crashing, everything } });
    expect(await place.run(args)).toMatchObject({ code: 1, stderr: expect.stringContaining("is left as it is") });
    expect(readFileSync(join(place.cwd, "tools.ts"), "utf8")).toBe(before);
    const checked = await place.run([...args, "--check"]);
    expect(checked).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("cannot be checked without all servers"),
    });
    expect((await place.run([...args, "--force"])).code).toBe(1);
    expect(readFileSync(join(place.cwd, "tools.ts"), "utf8")).not.toBe(before);
  });

  it("does not need servers whose tools are not wanted", async () => {
    using place = new Place({ "mcp.json": { mcpServers: { hello, crashing } } });
    const { code, stderr } = await place.run(["generate", "client", "hello.*", "--mcp", "mcp.json"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });

  it("writes nothing if no server can be reached", async () => {
    using place = new Place({ "mcp.json": { mcpServers: { crashing } } });
    const { code } = await place.run(["generate", "client", "--mcp", "mcp.json", "--output", "tools.ts"]);
    expect(code).toBe(1);
    expect(() => readFileSync(join(place.cwd, "tools.ts"))).toThrow("ENOENT");
  });

  it("says which folder it created, and accepts the former name of --output", async () => {
    using place = new Place({ "mcp.json": { mcpServers: { hello } } });
    const { code, stderr } = await place.run(["generate", "client", "--mcp", "mcp.json", "--out", "a/b/tools.ts"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: `created the folder ${join("a", "b")}\nwrote a/b/tools.ts\n` });
  });
});
