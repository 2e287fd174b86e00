// What `doctor` and `stats` say about the tools that agents see.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { journalFolder } from "../../packages/gateway/src/journal/index.js";
import { Place } from "./command.js";
import { ServedStdio } from "./serve-stdio-client.js";
import { testServer } from "./server-entries.js";

/** A place with one server, and settings of the user. */
function placeWith(settings: object): Place {
  const place = new Place(
    { ".trunkline/mcp.json": { mcpServers: { hello: testServer("hello") } } },
    { TRUNKLINE_TRUST: "all" },
  );
  mkdirSync(join(place.home, ".trunkline"), { recursive: true });
  writeFileSync(join(place.home, ".trunkline", "settings.json"), JSON.stringify(settings));
  return place;
}

/** Writes journal lines of two days. */
function called(place: Place, op: string, times: number): void {
  const home = join(place.home, ".trunkline");
  const folder = journalFolder(home, join(home, "store"));
  mkdirSync(folder, { recursive: true });
  const lines = Array.from({ length: times }, (_, index) => {
    const at = new Date(Date.now() - (1 + (index % 2)) * 24 * 60 * 60 * 1000).toISOString();
    return `${JSON.stringify({ at, client: "c", op, ms: 1, bytes: 1, outcome: "ok" })}\n`;
  });
  writeFileSync(join(folder, "calls-000001.jsonl"), lines.join(""), { flag: "a" });
}

describe("doctor on what agents see", () => {
  it("says which tools are listed, and why", async () => {
    using place = placeWith({});
    const { stdout } = await place.run(["doctor"]);
    expect(stdout).toMatch(
      /\nWhat agents see\n {2}surface {5}every tool, in short, because the short definitions of all tools cost \d+ tokens, at most 1200\n {2}tokens {6}\d+ for all short definitions, \d+ for the full ones \(trunkline tools --tokens\)\n\n/,
    );
  });

  it("lists favourites with their reasons, and those that match no tool", async () => {
    using place = placeWith({ surface: { directTokens: 0 }, favourites: ["hello.repeat", "hello.gone", "away.*"] });
    called(place, "hello.hello", 4);
    const { stdout } = await place.run(["doctor"]);
    expect(stdout).toMatch(
      /\n {2}surface {5}composite \+ favourites, because the short definitions of all tools cost \d+ tokens, more than 0\n/,
    );
    expect(stdout).toContain("\n  favourites  hello.hello (4 uses on 2 days), hello.repeat (in your settings)\n");
    expect(stdout).toContain('\n  not found   hello.gone, away.*, named in "favourites"\n');
    const { stdout: report } = await place.run(["doctor", "--json"]);
    expect(JSON.parse(report).surface).toEqual({
      surface: "composite + favourites",
      reason: expect.stringContaining("more than 0"),
      tokens: { short: expect.any(Number), full: expect.any(Number) },
      favourites: [
        { tool: "hello.hello", why: "used", uses: 4 },
        { tool: "hello.repeat", why: "configured", uses: 0 },
      ],
      signatures: [],
      unmatched: ["hello.gone", "away.*"],
    });
  });

  it("counts short and full definitions as `tools --tokens` does", async () => {
    using place = placeWith({});
    const { tokens } = JSON.parse((await place.run(["doctor", "--json"])).stdout).surface;
    const costs = JSON.parse((await place.run(["tools", "--tokens", "--json"])).stdout);
    expect({ short: costs.total_short, full: costs.total }).toEqual(tokens);
    const { stdout } = await place.run(["tools", "--tokens"]);
    expect(stdout).toMatch(/^ +full +short$/m);
    expect(stdout).toMatch(new RegExp(`^total +${tokens.full} +${tokens.short} +2 tools$`, "m"));
  });

  it("says nothing if there is no server", async () => {
    using place = new Place();
    const { stdout } = await place.run(["doctor"]);
    expect(stdout).not.toContain("What agents see");
  });
});

describe("stats on what agents saw", () => {
  it("says for each client which tools it was listed, why, and what that saved", async () => {
    using place = placeWith({ surface: { directTokens: 0 }, favourites: ["hello.repeat"] });
    await place.run(["doctor"]);
    const served = await ServedStdio.start(place);
    await served.request("tools/list");
    await served.request("tools/call", { name: "hello_repeat", arguments: { text: "x", times: 2 } });
    await served.end();
    const { stdout } = await place.run(["stats"]);
    expect(stdout).toMatch(/^client +surface +lists +tokens +saved on direct +on composite$/m);
    expect(stdout).toMatch(/^tester 1\.0 +composite \+ favourites \+ signatures +1 +\d+ +-?\d+ +\d+$/m);
    expect(stdout).toMatch(
      /^tester 1\.0: composite \+ favourites \+ signatures, because the short definitions of all tools cost \d+ tokens, more than 0\.$/m,
    );
    expect(stdout).toContain("With composite, 1 tool would have needed a search of about 300 tokens each.");
    const { surfaces, direct } = JSON.parse((await place.run(["stats", "--json"])).stdout);
    const [{ tokens, composite, saved_direct, saved_composite }] = surfaces;
    expect(saved_direct).toBe(direct.per_list - tokens);
    expect(saved_composite).toBe(composite + 300 - tokens);
  });

  it("compares with nothing while no server has listed its tools", async () => {
    using place = new Place();
    const served = await ServedStdio.start(place);
    await served.request("tools/list");
    await served.end();
    const { stdout } = await place.run(["stats"]);
    expect(stdout).toContain("No server has listed its tools yet, so there is nothing to compare with.");
    expect(stdout).not.toContain("with all 0");
  });
});
