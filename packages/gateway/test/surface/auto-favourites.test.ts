import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Caller } from "../../src/interfaces/exchange.js";
import { FileJournal } from "../../src/journal/file-journal.js";
import { FileTokenAccount, tokenReport } from "../../src/journal/token-account.js";
import { ToolUsage } from "../../src/journal/tool-usage.js";
import {
  callTool,
  nextEvent,
  type SetUp,
  stdio,
  type TestService,
  testCaller,
  testExchange,
  testService,
  textOf,
} from "../service/support.js";

const OWN = ["query", "execute", "session"];
const DAY_MS = 24 * 60 * 60 * 1000;

let folder: string;
let journal: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "trunkline-favourites-"));
  journal = join(folder, "journal");
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function define(tools: readonly string[], more: Readonly<Record<string, unknown>> = {}): void {
  const full = tools.map((name) => ({
    name,
    description: `Does ${name}. At length.`,
    inputSchema: { type: "object" },
    ...more,
  }));
  writeFileSync(join(folder, "docs.json"), JSON.stringify({ tools: full }));
}

/** A service in which all tools together cost too much. */
function auto({ favourites, favouriteTokens, ...options }: SetUp & Settings = {}): TestService {
  return testService([stdio("changing", ["--definitions", join(folder, "docs.json")], { name: "docs" })], {
    surface: "auto",
    cacheFolder: join(folder, "cache"),
    usage: new ToolUsage({ folder: journal }),
    surfaceSettings: () => ({ directTokens: 10, favourites, favouriteTokens }),
    ...options,
  });
}

interface Settings {
  readonly favourites?: { own?: readonly string[]; project?: readonly string[] };
  readonly favouriteTokens?: number;
}

/** Connects the server once, so that its tools are known afterwards. */
async function visit(): Promise<void> {
  await using first = auto();
  await callTool(first, "query", { steps: [{ op: "describe", params: { target: "docs" } }] });
}

/** Records calls of a tool on the last two days. */
async function used(name: string, { principal }: { principal?: string } = {}): Promise<void> {
  await using written = new FileJournal({ folder: journal });
  for (const daysAgo of [1, 1, 2]) {
    const atMs = Date.now() - daysAgo * DAY_MS;
    written.record({ atMs, client: "c", operation: name, durationMs: 1, sizeBytes: 1, outcome: "ok", principal });
  }
}

async function listFor({ service }: TestService, caller: Caller = testCaller()): Promise<{ name: string }[]> {
  return (await service.handle("tools/list", {}, testExchange({ caller }))).tools as { name: string }[];
}

async function namesFor(under: TestService, caller?: Caller): Promise<string[]> {
  return (await listFor(under, caller)).map(({ name }) => name);
}

describe("favourites on the surface auto", () => {
  it("are the tools that were used on earlier days, in their short form", async () => {
    define(["lookup", "find", "erase"]);
    await visit();
    await used("docs.find");
    await using under = auto();
    const caller = testCaller();
    expect(await under.service.instructions?.(caller)).toContain("call them directly");
    expect((await listFor(under, caller)).slice(OWN.length)).toEqual([
      { name: "docs_find", description: "Does find.", inputSchema: { type: "object" } },
    ]);
    expect(textOf(await callTool(under, "docs_find"))).toBe("called find");
  });

  it("can be called by name also if they are not listed any more", async () => {
    define(["lookup", "find"]);
    await visit();
    await using under = auto();
    expect(await namesFor(under)).toEqual(OWN);
    expect(textOf(await callTool(under, "docs_find"))).toBe("called find");
  });

  it("stay the same during a session, whatever is used meanwhile", async () => {
    define(["lookup", "find"]);
    await visit();
    await used("docs.find");
    await using under = auto();
    const caller = testCaller();
    const before = JSON.stringify(await listFor(under, caller));
    await used("docs.lookup");
    expect(JSON.stringify(await listFor(under, caller))).toBe(before);
    expect(await namesFor(under)).toEqual([...OWN, "docs_lookup", "docs_find"]);
  });

  it("include what the configuration names, within the limit", async () => {
    define(["lookup", "find", "erase"]);
    await visit();
    await using under = auto({ favourites: { own: ["docs.l*"], project: ["docs.erase"] } });
    expect(await namesFor(under)).toEqual([...OWN, "docs_lookup", "docs_erase"]);
    await using small = auto({ favourites: { own: ["docs.l*"] }, favouriteTokens: 5 });
    expect(await namesFor(small)).toEqual(OWN);
  });

  it("belong to a principal", async () => {
    define(["lookup", "find"]);
    await visit();
    await used("docs.find", { principal: "ada" });
    await using under = auto();
    const stateless = { era: "modern", revision: "2026-07-28", endpoint: "http", lasting: false } as const;
    expect(await namesFor(under, testCaller({ ...stateless, principal: "ada" }))).toEqual([...OWN, "docs_find"]);
    expect(await namesFor(under, testCaller({ ...stateless, principal: "bob" }))).toEqual(OWN);
    expect(await namesFor(under)).toEqual(OWN);
  });

  it("are not listed if the policy denies them", async () => {
    define(["lookup", "find"]);
    await visit();
    await used("docs.find");
    await using under = auto({ favourites: { own: ["docs.*"] }, policies: [{ "docs.find": "deny" }] });
    expect(await namesFor(under)).toEqual([...OWN, "docs_lookup"]);
    expect(textOf(await callTool(under, "docs_find"))).toContain("DENIED");
  });

  it("are not listed any more if their server makes them longer than the limit", async () => {
    define(["announce", "find"]);
    await visit();
    await used("docs.find");
    await using under = auto();
    const caller = testCaller();
    expect(await namesFor(under, caller)).toEqual([...OWN, "docs_find"]);
    const values = Array.from({ length: 1_000 }, (_, index) => `value ${index}`);
    define(["announce", "find"], { inputSchema: { type: "object", properties: { x: { enum: values } } } });
    const changed = nextEvent(under, "tools_list_changed");
    await callTool(under, "docs_announce");
    await changed;
    expect(await namesFor(under, caller)).toEqual(OWN);
  });

  it("are not chosen by a client's name: composite keeps them, direct lists everything", async () => {
    define(["lookup", "find"]);
    await visit();
    await used("docs.find");
    const clients = { mine: "composite", theirs: "direct", "claude-code": "auto" } as const;
    await using under = auto({ surfaceSettings: () => ({ directTokens: 10, clients }) });
    expect(await namesFor(under, testCaller({ name: "mine 1" }))).toEqual([...OWN, "docs_find"]);
    expect(await namesFor(under, testCaller({ name: "claude-code 2" }))).toEqual([...OWN, "docs_find"]);
    expect(await namesFor(under, testCaller({ name: "theirs 1" }))).toEqual([...OWN, "docs_lookup", "docs_find"]);
  });
});

describe("the account of lists", () => {
  it("knows what each client was listed, why, and which tools needed no search", async () => {
    // The last one has no signature, because of its name.
    define(["lookup", "find", "odd.one"]);
    await visit();
    await used("docs.find");
    await using account = new FileTokenAccount({ folder: journal });
    await using under = auto({ account });
    const caller = testCaller({ name: "cursor 1" });
    for (let turn = 0; turn < 2; turn++) {
      await listFor(under, caller);
      for (const name of ["docs_find", "docs_odd_one"]) await callTool(under, name, {}, { caller });
      await callTool(under, "execute", { steps: [{ op: "docs.lookup" }] }, { caller });
    }
    await listFor(under, testCaller({ name: "claude-code 2" }));
    await account.report();
    const { surfaces, all } = await tokenReport({ folder: journal });
    expect(surfaces).toMatchObject([
      {
        ...{ client: "cursor 1", surface: "composite + favourites + signatures", lists: 2, found: 2 },
        reason: expect.stringMatching(/^the short definitions of all tools cost \d+ tokens, more than 10$/),
      },
      {
        ...{ client: "claude-code 2", surface: "every tool", lists: 1, tokens: 0, found: 0 },
        reason: "the client searches tools itself",
      },
    ]);
    expect(all.lists).toBe(2);
  });
});
