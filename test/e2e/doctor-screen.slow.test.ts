// `trunkline doctor` as a person sees it: results as they arrive, colours, names to paste, and lines that fit.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { outcomeOf, Place, seen } from "./command.js";
import { plain, runAtScreen, startAtScreen, tooWide } from "./screen.js";
import { everythingServer, testServer } from "./server-entries.js";
import { Terminal } from "./terminal.js";

const WAITING = { hello: testServer("hello"), "a-silent": testServer("silent") };

describe("doctor", () => {
  it("shows each result as soon as it is known, and at a terminal what it is waiting for", async () => {
    using place = new Place({ "mcp.json": { mcpServers: WAITING } });
    const running = startAtScreen(place, ["doctor", "--mcp", "mcp.json"]);
    const outcome = outcomeOf(running);
    // Both servers, until the first result is there; then only the one that is missing.
    await seen(running.stderr, /checking a-silent, hello …/);
    await seen(running.stdout, /✓.* .*hello/);
    await seen(running.stderr, /⠋.* checking a-silent …/);
    running.kill("SIGINT");
    const { code, stdout, stderr } = await outcome;
    expect(code).toBe(130);
    expect(plain(stdout)).toContain("\n    2 tools: hello.hello, hello.repeat\n");
    expect(stdout).not.toContain("silent");
    expect(stderr).toMatch(/\r\p{Cc}\[K$/u);
  });

  it("shows results as they arrive in a pipe, too", async () => {
    using place = new Place({ "mcp.json": { mcpServers: WAITING } });
    const running = place.start(["doctor", "--mcp", "mcp.json"]);
    const outcome = outcomeOf(running);
    await seen(running.stdout, /✓ hello {2}/);
    running.kill("SIGINT");
    const { code, stdout, stderr } = await outcome;
    expect({ code, stderr }).toEqual({ code: 130, stderr: "" });
    expect(stdout).not.toContain("silent");
  });

  it("counts the tools that `tools` lists, also those of servers that ask questions", async () => {
    using place = new Place({ "mcp.json": { mcpServers: { everything: everythingServer } } });
    const { stdout: listed } = await new Terminal(place, ["tools", "--json", "--mcp", "mcp.json"]).end();
    const { stdout } = await new Terminal(place, ["doctor", "--mcp", "mcp.json"]).end();
    expect(listed).toContain("everything.trigger-elicitation-request");
    expect(stdout).toContain(`    ${JSON.parse(listed).length} tools: `);
  });

  it("says how long it waited for a server", async () => {
    using place = new Place({ "mcp.json": { mcpServers: { "a-silent": testServer("silent") } } });
    const { stdout } = await place.run(["doctor", "--mcp", "mcp.json", "--timeout", "1"]);
    expect(stdout).toContain('TIMEOUT: Server "a-silent" did not answer within 1 s.');
  });
});

describe("doctor on the model for search by meaning", () => {
  it("says that it is missing and how to get it, without failing", async () => {
    using place = new Place({ "mcp.json": { mcpServers: { hello: testServer("hello") } } });
    const { code, stdout } = await place.run(["doctor", "--mcp", "mcp.json", "--strict"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /\nSearch\n {2}The model for search by meaning is not installed, .*\n {2}next: trunkline models pull\n$/,
    );
    const { stdout: report } = await place.run(["doctor", "--mcp", "mcp.json", "--json"]);
    expect(JSON.parse(report).search).toEqual({ model: "missing", reason: null });
  });

  it("says that it is damaged", async () => {
    using place = new Place({ "mcp.json": { mcpServers: {} } });
    const folder = join(place.home, ".trunkline", "models", "minilm");
    mkdirSync(folder, { recursive: true });
    for (const file of ["model.onnx", "tokenizer.json"]) writeFileSync(join(folder, file), "not a model");
    const { stdout } = await place.run(["doctor", "--mcp", "mcp.json"]);
    expect(stdout).toContain("The model for search by meaning is damaged");
  });
});

describe("the report of doctor", () => {
  const place = new Place({
    "mcp.json": {
      mcpServers: {
        hello: testServer("hello"),
        gone: { command: "no-such-program", args: ["--with", "several", "arguments", "that", "make", "it", "long"] },
        web: { url: "http://127.0.0.1:9/${PLACE}/mcp?key=${KEY}&page=1", headers: { "X-Key": "hidden-value" } },
        off: { command: "nothing", disabled: true },
      },
    },
  });
  const env = { PLACE: "tenant-seven", KEY: "key-of-tenant-seven" };
  const args = ["doctor", "--mcp", "mcp.json"];
  let piped: string;
  beforeAll(async () => {
    piped = (await place.run(args, { env })).stdout;
  });
  afterAll(() => place[Symbol.dispose]());

  it("has names that can be pasted after --tool and into call", async () => {
    const names = /2 tools: (.*)\n/.exec(piped)?.[1]?.split(", ") ?? [];
    expect(names).toEqual(["hello.hello", "hello.repeat"]);
    for (const name of names) expect((await place.run(["tools", name, "--mcp", "mcp.json"])).stdout).toContain(name);
  });

  it("redacts only the secret parts of a URL", () => {
    expect(piped).toContain("✗ web  http://127.0.0.1:9/");
    expect(piped).toContain("/mcp?key=<redacted>&page=1");
    for (const secret of ["key-of-tenant-seven", "hidden-value"]) expect(piped).not.toContain(secret);
  });

  it("has no colours in a pipe, and one line for each fact", () => {
    expect(piped).not.toContain("\u001b");
    expect(piped).toContain("✗ gone  no-such-program --with several arguments that make it long\n");
  });

  it("has the same words in colour at a terminal", async () => {
    const { stdout } = await runAtScreen(place, args, { columns: 400, env });
    expect(stdout).toContain("\u001b[32m✓\u001b[39m \u001b[1mhello\u001b[22m");
    expect(stdout).toContain("\u001b[31m✗\u001b[39m \u001b[1mgone\u001b[22m");
    const without = (text: string) =>
      plain(text)
        .replaceAll(/\d+(\.\d+)? m?s\b/g, "")
        .split("\n")
        .sort();
    expect(without(stdout)).toEqual(without(piped));
    const { stdout: grey } = await runAtScreen(place, args, { columns: 400, env: { ...env, NO_COLOR: "1" } });
    expect(grey).not.toContain("\u001b");
  });

  it.each([60, 80, 120])("fits a terminal of %i columns", async (columns) => {
    const { stdout } = await runAtScreen(place, args, { columns, env });
    expect(tooWide(stdout, columns)).toEqual([]);
    expect(plain(stdout).replaceAll(/\s+/g, " ")).toContain("no-such-program --with several arguments");
  });
});
