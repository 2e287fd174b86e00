import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { journalFolder } from "../../packages/gateway/src/journal/index.js";
import { serverPath } from "../servers/start.js";
import { outcomeOf, Place, seen } from "./command.js";

const call = (op: string, more: object = {}) =>
  `${JSON.stringify({ at: "2026-11-15T06:30:00.000Z", client: "editor 1.2", op, ms: 12, bytes: 3456, outcome: "ok", ...more })}\n`;

function journal(place: Place, number: number, text: string): void {
  const home = join(place.home, ".trunkline");
  const folder = journalFolder(home, join(home, "store"));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `calls-00000${number}.jsonl`), text, { flag: "a" });
}

describe("trunkline log", () => {
  it("shows time, client, operation, duration, size and outcome, latest call last", async () => {
    using place = new Place({}, { TZ: "UTC" });
    journal(place, 1, call("search") + call("github.create_issue", { outcome: "error", code: "UPSTREAM", ms: 12_345 }));
    const { code, stdout } = await place.run(["log"]);
    expect(code).toBe(0);
    const [first = "", second = ""] = stdout.split("\n");
    expect(first.split(/ {2,}/)).toEqual(["2026-11-15 06:30:00", "editor 1.2", "search", "12 ms", "3.5 kB", "ok"]);
    expect(second.split(/ {2,}/).slice(2)).toEqual(["github.create_issue", "12.3 s", "3.5 kB", "error UPSTREAM"]);
  });

  it("shows what was called at a terminal, and how it ended", async () => {
    using place = new Place();
    const hello = { command: process.execPath, args: [serverPath("hello")] };
    place.write("servers.json", { mcpServers: { hello } });
    const call = (...args: string[]) => place.run(["--mcp", "servers.json", "call", ...args]);
    expect(await call("hello.hello", "name=s3cret")).toMatchObject({ code: 0 });
    expect(await call("hello.repeat", "--input", '{"text":"x","count":"many"}')).toMatchObject({ code: 1 });
    const { stdout } = await place.run(["log", "--format", "json"]);
    const lines = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines).toMatchObject([
      { client: "trunkline", operation: "hello.hello", outcome: "ok" },
      { client: "trunkline", operation: "hello.repeat", outcome: "error", code: "UPSTREAM" },
    ]);
    expect(stdout).not.toContain("s3cret");
  });

  it("does not keep a call from its answer if it cannot be written", async () => {
    using place = new Place();
    const hello = { command: process.execPath, args: [serverPath("hello")] };
    place.write("servers.json", { mcpServers: { hello } });
    mkdirSync(join(place.home, ".trunkline"), { recursive: true });
    writeFileSync(join(place.home, ".trunkline", "journal"), "A file in place of the folder.");
    const outcome = await place.run(["--mcp", "servers.json", "call", "hello.hello", "name=Ada"]);
    expect(outcome).toMatchObject({ code: 0, stdout: "Hello, Ada!\n", stderr: "" });
  });

  it("names the gateway of a call, if it has a name", async () => {
    using place = new Place();
    journal(place, 1, call("search", { gateway: "gateway-2" }));
    expect((await place.run(["log"])).stdout).toMatch(/ok {2}at gateway-2\n$/);
    expect(JSON.parse((await place.run(["log", "--format", "json"])).stdout)).toMatchObject({ gateway: "gateway-2" });
  });

  it("keeps its columns if a client has a long name", async () => {
    using place = new Place({}, { TZ: "UTC" });
    const long = { client: "Visual Studio Code 1.102.0" };
    journal(place, 1, call("search") + call("knowledge-graph.create_entities", long) + call(`docs.${"x".repeat(60)}`));
    const lines = (await place.run(["log"])).stdout.split("\n");
    const columns = lines.slice(0, 2).map((line) => [line.indexOf("12 ms"), line.indexOf("ok")]);
    expect(columns[0]).toEqual(columns[1]);
    expect(lines[0]?.length).toBeLessThan(120);
  });

  it.each([
    [["--limit", "1"], ["d"]],
    [["-n", "0"], []],
    [["--client", "AGENT"], ["b"]],
    [["--operation", "docs.*"], ["docs.find"]],
    [["--failed"], ["c", "d"]],
  ])("with %j shows only what was requested", async (args, operations) => {
    using place = new Place();
    journal(place, 1, call("docs.find") + call("b", { client: "my-agent 2" }));
    journal(place, 2, call("c", { outcome: "error" }) + call("d", { outcome: "cancelled" }));
    const { code, stdout } = await place.run(["log", "--format", "json", ...args]);
    const lines = stdout.split("\n").filter((line) => line !== "");
    expect([code, lines.map((line) => JSON.parse(line).operation)]).toEqual([0, operations]);
  });

  it("says so if nothing has been recorded, and does not let a name move the cursor", async () => {
    using place = new Place();
    const nothing = await place.run(["log"]);
    expect([nothing.code, nothing.stdout, nothing.stderr]).toEqual([
      0,
      "",
      expect.stringContaining("No call has been recorded"),
    ]);
    journal(place, 1, call("\u001b[2Jevil", { client: "\u202Eevil" }));
    const { stdout } = await place.run(["log"]);
    expect(stdout).toContain("\\u001b[2Jevil");
    expect(stdout).not.toContain("\u001b");
    expect(stdout).not.toContain("\u202E");
  });

  it("follows across files until Ctrl-C", async () => {
    using place = new Place();
    journal(place, 1, call("before"));
    const child = place.start(["log", "--follow"]);
    const ended = outcomeOf(child);
    await seen(child.stdout, /before/);
    journal(place, 1, call("during"));
    await seen(child.stdout, /during/);
    journal(place, 2, call("after"));
    await seen(child.stdout, /after/);
    child.kill("SIGINT");
    const { code, stdout, stderr } = await ended;
    expect([code, stderr]).toEqual([130, ""]);
    expect(stdout.match(/before|during|after/g)).toEqual(["before", "during", "after"]);
  });
});
