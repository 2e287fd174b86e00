// `--json` on every command that prints something: one document on stdout, everything else on stderr.
// @with-broker
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { buildProgram } from "../../packages/cli/src/program.js";
import { createContext } from "../../packages/cli/src/terminal/context.js";
import { Place } from "./command.js";
import { testServer } from "./server-entries.js";

type Command = Awaited<ReturnType<typeof buildProgram>>;

/** Commands without a result of their own: a server, a script, and the code for a shell. */
const WITHOUT = ["serve", "run", "completion", "__complete"];
/** The model's answer is what they print, and `--format` takes its schema. */
const WITH_MODEL = ["ask", "chat", "agent"];

async function printingCommands(): Promise<Command[]> {
  const { stdin, stdout, stderr } = process;
  const io = { stdin, stdout, stderr, env: {}, cwd: "/", userHome: "/" };
  const program = await buildProgram(createContext(io), () => {});
  const leaves = (command: Command): Command[] =>
    command.commands.length === 0 ? [command] : command.commands.flatMap((child) => leaves(child as Command));
  return leaves(program).filter((command) => !WITHOUT.includes(command.name()));
}

const optionOf = (command: Command, long: string) => command.options.find((option) => option.long === long);

async function documentOf(place: Place, args: readonly string[]): Promise<unknown> {
  const { stdout, stderr } = await place.run(args);
  expect(stdout, `${args.join(" ")} printed only this, and on stderr: ${stderr}`).not.toBe("");
  return JSON.parse(stdout);
}

describe("--json", () => {
  it("exists on every command, and its former spellings are hidden", async () => {
    const commands = await printingCommands();
    expect(commands.length).toBeGreaterThan(50);
    for (const command of commands) {
      const name = `${command.parent?.name()} ${command.name()}`;
      expect(optionOf(command, "--json"), name).toMatchObject({ hidden: false, required: false, optional: false });
      if (WITH_MODEL.includes(command.name())) continue;
      expect(optionOf(command, "--raw"), name).toMatchObject({ hidden: true });
      const format = optionOf(command, "--format");
      expect(format?.argChoices, name).toEqual(expect.arrayContaining(["text", "json"]));
      expect(format?.hidden, name).toBe(format?.argChoices?.length === 2);
    }
  });

  it.each(["--json", "--raw", "--format=json"])("prints the same as %s", async (flag) => {
    using place = new Place({ "mcp.json": { servers: { hello: testServer("hello") } } });
    expect(await documentOf(place, ["--mcp", "mcp.json", "call", "hello.hello", flag])).toMatchObject({
      content: [{ type: "text", text: "Hello, world!" }],
    });
    expect(await documentOf(place, ["--mcp", "mcp.json", "doctor", flag])).toMatchObject({ mcp: {} });
    expect(await documentOf(place, ["--mcp", "mcp.json", "tools", flag])).toHaveLength(2);
    expect(await documentOf(place, ["--mcp", "mcp.json", "servers", flag])).toMatchObject([{ name: "hello" }]);
  });

  it("reports what changed in the servers", async () => {
    using place = new Place();
    const file = join(place.home, ".trunkline", "settings.json");
    expect(await documentOf(place, ["servers", "add", "docs", "--json", "--user", "--", "npx", "docs"])).toEqual({
      name: "docs",
      file,
      scope: "user",
      replaced: false,
    });
    const change = (op: string) => documentOf(place, ["servers", op, "docs", "--json"]);
    expect(await change("disable")).toEqual({ name: "docs", file, change: "disable", changed: true });
    expect(await change("disable")).toEqual({ name: "docs", file, change: "disable", changed: false });
    expect(await change("remove")).toEqual({ name: "docs", file, change: "remove", changed: true });
  });

  it("reports tokens", async () => {
    using place = new Place();
    const created = await documentOf(place, ["tokens", "create", "laptop", "--json"]);
    expect(created).toEqual({ name: "laptop", token: expect.stringMatching(/\S{20,}/) });
    expect(await documentOf(place, ["tokens", "list", "--json"])).toMatchObject([{ name: "laptop" }]);
    expect(await documentOf(place, ["tokens", "revoke", "laptop", "--json"])).toEqual({ revoked: ["laptop"] });
  });

  it("reports what was approved and revoked", async () => {
    using place = new Place({ ".trunkline/mcp.json": { servers: { hello: testServer("hello") } } });
    const file = join(place.cwd, ".trunkline", "mcp.json");
    expect(await documentOf(place, ["trust", "--yes", "--json"])).toEqual({ approved: [file], revoked: [] });
    expect(await documentOf(place, ["trust", "--list", "--json"])).toEqual([{ path: file, since: expect.any(String) }]);
    expect(await documentOf(place, ["trust", "--json"])).toEqual({ approved: [], revoked: [] });
    expect(await documentOf(place, ["trust", "--revoke", "--json"])).toEqual({ approved: [], revoked: [file] });
  });

  it("reports what was imported", async () => {
    using place = new Place({ "other.json": { mcpServers: { docs: { command: "npx", args: ["docs"] } } } });
    const from = join(place.cwd, "other.json");
    const planned = await documentOf(place, ["import", "--from", from, "--user", "--dry-run", "--json"]);
    const file = join(place.home, ".trunkline", "settings.json");
    const servers = [{ name: "docs", from, replaces: false }];
    expect(planned).toEqual({ written: false, files: [{ file, servers, skipped: [] }] });
    expect(await documentOf(place, ["import", "--from", from, "--user", "--yes", "--json"])).toMatchObject({
      written: true,
    });
    expect(await documentOf(place, ["import", "--json"])).toEqual([]);
  });

  it("reports what was installed and removed", async () => {
    using place = new Place();
    const file = join(place.cwd, ".cursor", "mcp.json");
    const run = (...args: string[]) => documentOf(place, [...args, "cursor", "--project", "--yes", "--json"]);
    expect(await run("install")).toEqual({ program: "cursor", file, changed: true });
    expect(JSON.parse(readFileSync(file, "utf8"))).toHaveProperty("mcpServers.trunkline");
    expect(await run("install")).toEqual({ program: "cursor", file, changed: false });
    expect(await run("uninstall")).toEqual({ program: "cursor", file, changed: true });
    expect(await documentOf(place, ["install", "--json"])).toContainEqual(
      expect.objectContaining({ program: "cursor", state: expect.any(String), file: expect.any(String) }),
    );
  });

  it("reports a new store", async () => {
    using place = new Place({ "a.md": "# A" });
    const store = join(place.cwd, ".trunkline", "store");
    const expected = { folder: place.cwd, store, created: true, files: 1, unchanged: 0, removed: 0, problems: [] };
    expect(await documentOf(place, ["init", "--json"])).toMatchObject(expected);
  });

  it("has the model answer in JSON", async () => {
    using place = new Place({ "answer.jsonl": '{"text": "{\\"sum\\": 5}"}\n' });
    const args = ["ask", "--provider", "echo", "--script", "answer.jsonl", "2 + 3?"];
    expect(await documentOf(place, [...args, "--json"])).toEqual({ sum: 5 });
    expect(await documentOf(place, [...args, "--json", "--format", '{"type": "object"}'])).toEqual({ sum: 5 });
  });
});

describe("call --input", () => {
  it("is suggested for a JSON object after --json, which took it before", async () => {
    using place = new Place({ "mcp.json": { servers: { hello: testServer("hello") } } });
    const { code, stderr } = await place.run(["--mcp", "mcp.json", "call", "hello.hello", "--json", '{"name": "Ada"}']);
    expect(code).toBe(2);
    expect(stderr).toContain("Pass all arguments as one JSON object with --input.");
  });
});
