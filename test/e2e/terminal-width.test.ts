// Lists fit the terminal, and stay one line for each item in a pipe.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { journalFolder } from "../../packages/gateway/src/journal/index.js";
import { outcomeOf, Place, seen } from "./command.js";
import { plain, runAtScreen, startAtScreen, tooWide } from "./screen.js";
import { testServer } from "./server-entries.js";

describe("lists at a terminal", () => {
  const long = ["--option", "with", "a", "value", "and", "many", "more", "words", "that", "do", "not", "fit"];
  const place = new Place(
    {
      "mcp.json": {
        mcpServers: {
          hello: testServer("hello"),
          "server-with-a-long-name": { command: "nothing", args: long, disabled: true },
        },
      },
    },
    { TZ: "UTC" },
  );
  beforeAll(() => {
    const home = join(place.home, ".trunkline");
    const folder = journalFolder(home, join(home, "store"));
    mkdirSync(folder, { recursive: true });
    const call = (day: string, op: string, more: object) =>
      `${JSON.stringify({ at: `2026-11-${day}T06:30:00.000Z`, client: "claude-code 2.0.14", op, ms: 12, bytes: 3456, outcome: "ok", ...more })}\n`;
    writeFileSync(
      join(folder, "calls-000001.jsonl"),
      call("14", "search", {}) +
        call("15", "github.create_or_update_a_file_in_a_repository", { outcome: "error", code: "CONNECTION_FAILED" }),
    );
  });
  afterAll(() => place[Symbol.dispose]());

  const COMMANDS = [
    ["servers", "--mcp", "mcp.json"],
    ["tools", "--mcp", "mcp.json"],
    ["tools", "--tokens", "--mcp", "mcp.json"],
    ["log"],
  ];
  it.each(
    COMMANDS.flatMap((args) => [60, 80, 120].map((columns) => [args.slice(0, 2).join(" "), columns, args] as const)),
  )("%s fits %i columns and loses no word", async (_, columns, args) => {
    const { stdout } = await runAtScreen(place, args, { columns });
    expect(tooWide(stdout, columns)).toEqual([]);
    const piped = (await place.run(args)).stdout;
    const words = (text: string) =>
      plain(text)
        .split(/\s+/)
        .filter((word) => word !== "");
    expect(words(stdout).sort()).toEqual(expect.arrayContaining([...new Set(words(piped))]));
  });

  it("servers aligns what does not fit below the names", async () => {
    const { stdout } = await runAtScreen(place, ["servers", "--mcp", "mcp.json"], { columns: 80 });
    const lines = plain(stdout).split("\n");
    expect(lines.find((line) => line.startsWith("server-with"))).toBe(
      "server-with-a-long-name  disabled  nothing --option with a value and many more",
    );
    expect(lines).toContain(`${" ".repeat(35)}words that do not fit`);
  });

  it("log shows the day once if there is no room for it on each line", async () => {
    const { stdout } = await runAtScreen(place, ["log"], { columns: 80 });
    expect(plain(stdout).split("\n").slice(0, 3)).toEqual([
      "2026-11-14",
      "06:30:00  claude-code 2.0.14  search                    12 ms    3.5 kB  ok",
      "2026-11-15",
    ]);
    expect(stdout).toContain("\u001b[31merror CONNECTION_FAILED\u001b[39m");
    expect((await place.run(["log"])).stdout).toMatch(/^2026-11-14 06:30:00 {2}/);
  });

  it.each([
    "tools",
    "call quiet.echo",
    "resources list",
    "resources read quiet demo://one",
    "prompts list",
    "prompts get quiet.greet",
    "ask --provider echo --tool quiet.* hello",
    "agent --provider echo --tool quiet.echo hello",
  ])("%s says which servers it is waiting for", async (command) => {
    using waiting = new Place({ "mcp.json": { mcpServers: { quiet: testServer("silent") } } });
    const running = startAtScreen(waiting, [...command.split(" "), "--mcp", "mcp.json"]);
    running.stdin?.end();
    const outcome = outcomeOf(running);
    await seen(running.stderr, /connecting quiet …/);
    running.kill("SIGINT");
    expect(await outcome).toMatchObject({ code: 130, stdout: "", stderr: expect.stringMatching(/\r\p{Cc}\[K$/u) });
  });

  it("tools breaks descriptions and signatures, and colours names", async () => {
    const { stdout } = await runAtScreen(place, ["tools", "--mcp", "mcp.json"], { columns: 80 });
    expect(stdout).toContain("\u001b[36mhello.hello\u001b[39m(name?: string)\n");
    expect((await place.run(["tools", "--mcp", "mcp.json"])).stdout).toContain(
      "hello.hello(name?: string)\n    Greets someone by name.\n",
    );
  });
});
