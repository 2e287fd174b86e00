// The pictures of the README and the guide: every page with a working day behind it. `npm run screenshots` writes them to
// docs/console/; as a test, it checks that each page shows what the picture is for.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, describe, expect, it } from "vitest";
import { FileJournal, journalFolder } from "../../packages/gateway/src/journal/index.js";
import { bin, root } from "../e2e/command.js";
import { browserPath, ConsoleStage, closeBrowser } from "./console-stage.js";

const { TRUNKLINE_SCREENSHOTS: folder } = process.env;
const MODULES = join(root, "node_modules", "@modelcontextprotocol");
const PROGRAMS = {
  "server-everything": join(MODULES, "server-everything", "dist", "index.js"),
  "server-memory": join(MODULES, "server-memory", "dist", "index.js"),
  "assistant-mcp": join(root, "test", "servers", "talking.js"),
};

afterAll(closeBrowser);

/** A program that speaks MCP to `trunkline serve`. */
class Editor implements Disposable {
  readonly #child: ChildProcess;
  #id = 0;
  readonly #waiting = new Map<number, (answer: unknown) => void>();

  constructor(stage: ConsoleStage, name: string) {
    const { place } = stage;
    this.#child = spawn(process.execPath, [bin, "serve"], {
      cwd: stage.cwd,
      env: { PATH: process.env.PATH ?? "", HOME: place.home, ...place.env },
      stdio: ["pipe", "pipe", "ignore"],
    });
    let rest = "";
    this.#child.stdout?.on("data", (chunk) => {
      const lines = `${rest}${chunk}`.split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const { id, method, ...answer } = JSON.parse(line) as { id?: number; method?: string };
        if (method === undefined && id !== undefined) this.#waiting.get(id)?.(answer);
      }
    });
    void this.ask("initialize", {
      protocolVersion: "2025-06-18",
      capabilities: { elicitation: {} },
      clientInfo: { name, version: "1.0" },
    });
  }

  ask(method: string, params: object): Promise<unknown> {
    const id = ++this.#id;
    this.#child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  call(name: string, args: object): Promise<unknown> {
    return this.ask("tools/call", { name, arguments: args });
  }

  [Symbol.dispose](): void {
    this.#child.kill();
  }
}

const SHOP = {
  "src/cart.ts":
    'import { priceOf } from "./prices.js";\nimport { track } from "./events.js";\n\nexport interface Item {\n  readonly id: string;\n  readonly count: number;\n}\n\n/** The sum of a cart, in cents. */\nexport function totalOf(items: readonly Item[]): number {\n  track("total");\n  return items.reduce((sum, { id, count }) => sum + priceOf(id) * count, 0);\n}\n',
  "src/prices.ts":
    'import { load } from "./catalogue.js";\n\nexport function priceOf(id: string): number {\n  const found = load().get(id);\n  if (found === undefined) throw new Error(`No price for ${id}`);\n  return found;\n}\n',
  "src/catalogue.ts":
    "const cached = new Map<string, number>();\n\nexport function load(): ReadonlyMap<string, number> {\n  return cached;\n}\n",
  "src/events.ts":
    "export function track(name: string): void {\n  queue.push(name);\n}\n\nconst queue: string[] = [];\n",
  "src/checkout.ts":
    'import { totalOf, type Item } from "./cart.js";\nimport { track } from "./events.js";\n\nexport async function checkout(items: readonly Item[]): Promise<number> {\n  track("checkout");\n  return await retry(() => pay(totalOf(items)));\n}\n\nasync function pay(cents: number): Promise<number> {\n  return cents;\n}\n\n/** Retries with backoff. */\nasync function retry<T>(work: () => Promise<T>): Promise<T> {\n  return await work();\n}\n',
  "README.md": "# Shop\n\nA cart, prices and a checkout that retries with backoff.\n",
};

/** Four weeks of calls and tokens, so that the charts have something to show. */
async function earlierDays(stage: ConsoleStage): Promise<void> {
  const folder = journalFolder(stage.home, join(stage.cwd, ".trunkline", "store"));
  await using journal = new FileJournal({ folder });
  const clients = ["claude-code 1.0", "cursor 1.0", "zed 0.2"];
  for (let day = 27; day > 0; day--) {
    const startMs = Date.now() - day * 86_400_000;
    const isWeekend = [0, 6].includes(new Date(startMs).getDay());
    const calls = isWeekend ? 6 : 60 + ((day * 37) % 90);
    for (let index = 0; index < calls; index++) {
      const client = clients[(index * index + day) % 3] ?? "";
      const operation = ["search", "everything.get-sum", "grep", "notes.read_graph"][index % 4] ?? "";
      const outcome = index % 41 === 40 ? ("error" as const) : ("ok" as const);
      journal.record({
        atMs: startMs + index * 1_000,
        client,
        operation,
        durationMs: (index * 13) % 90,
        sizeBytes: 900,
        outcome,
      });
    }
    const spent = {
      surface: calls * 20,
      schemas: calls * 9,
      results: calls * 60,
      lists: 9,
      answers: calls,
      searches: 3,
    };
    const surfaces = [
      {
        client: "cursor",
        surface: "auto",
        reason: "",
        lists: 9,
        tokens: 9 * 700,
        direct: 9 * 2_000 + calls * 90,
        unmeasured: 0,
        composite: 3_600,
        found: 4,
      },
    ];
    await journal.flush();
    const date = new Date(startMs).toLocaleDateString("sv-SE");
    writeFileSync(join(folder, `tokens-${date}.jsonl`), `${JSON.stringify({ ...spent, surfaces })}\n`, { mode: 0o600 });
  }
}

/** A working day: an indexed project, two editors, calls, a pipeline, a failure, and a question that waits. */
async function workingDay(stage: ConsoleStage): Promise<{ cursor: Editor; claude: Editor }> {
  await stage.run("init");
  await earlierDays(stage);
  const [cursor, claude] = [new Editor(stage, "cursor"), new Editor(stage, "claude-code")];
  for (let round = 0; round < 12; round++) {
    await cursor.call("everything_get-sum", { a: round, b: 3 });
    await claude.call("query", { steps: [{ op: "search", params: { query: "retry with backoff" } }] });
  }
  await claude.call("query", {
    steps: [
      { op: "search", params: { query: "price" } },
      { op: "grep", params: { pattern: "export function" } },
      { op: "graph", params: { name: "src/cart.ts" } },
    ],
  });
  await cursor.call("notes_read_graph", {});
  await cursor.call("everything_get-sum", { a: "x" });
  return { cursor, claude };
}

async function settle(page: Page): Promise<void> {
  await expect.poll(() => page.locator(".skeleton").count()).toBe(0);
  await page.evaluate("document.fonts.ready");
}

describe.skipIf(browserPath === undefined)("pictures of the console", () => {
  it.each(["light", "dark"] as const)("show a working day, in %s", async (colorScheme) => {
    const programs = mkdtempSync(join(tmpdir(), "programs-"));
    // As if they were installed: the pictures show what people would write.
    for (const [name, file] of Object.entries(PROGRAMS)) {
      writeFileSync(join(programs, name), `#!/bin/sh\nexec "${process.execPath}" "${file}"\n`, { mode: 0o755 });
    }
    await using stage = new ConsoleStage({
      env: { PATH: `${programs}:${process.env.PATH}` },
      servers: {
        everything: { command: "server-everything" },
        notes: { command: "server-memory" },
        assistant: { command: "assistant-mcp", args: ["--quiet"] },
        wiki: { command: "wiki-mcp", args: ["--space", "shop"] },
        archive: { url: "https://archive.example/mcp", disabled: true },
      },
      settings: { policy: { "everything.get-env": "ask" } },
      files: SHOP,
      project: "shop",
    });
    const { cursor, claude } = await workingDay(stage);
    using _cursor = cursor;
    using _claude = claude;
    // It waits for an answer, which the page could give.
    void claude.call("everything_get-env", {});
    const page = await stage.open("servers", { colorScheme, deviceScaleFactor: 1 });
    const shoot = async (name: string) => {
      await settle(page);
      if (folder === undefined) return;
      mkdirSync(folder, { recursive: true });
      await page.screenshot({ path: join(folder, `${name}-${colorScheme}.png`) });
    };
    const go = async (hash: string) => await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);

    await page.getByRole("button", { name: "Connect all" }).click();
    await page.getByText("wiki-mcp").first().waitFor();
    await page.getByText("Failed").first().waitFor();
    await expect.poll(() => page.getByText("Connected", { exact: true }).count()).toBe(3);
    await shoot("servers");

    await go("#/traffic");
    await page.getByText("3 steps").first().waitFor();
    await page.getByText("3 steps").first().click();
    // The plot library is loaded with the page.
    await expect.poll(() => page.locator(".traffic-chart canvas").count()).toBe(2);
    await shoot("traffic");

    await go("#/questions");
    await page.getByRole("article").first().waitFor();
    await shoot("questions");

    await go("#/tools");
    await page.getByText("get-sum").first().waitFor();
    await page.getByText("get-sum").first().click();
    // Tokens are counted in the background.
    await page.getByRole("option", { name: /get-sum.* \d+$/ }).waitFor();
    await shoot("tools");

    await go("#/store?q=retry%20with%20backoff");
    await page.getByText("checkout.ts").first().waitFor();
    await shoot("store");

    await go("#/graph?name=src/cart.ts");
    await page.getByText("totalOf").first().waitFor();
    await shoot("graph");

    await go("#/settings");
    await page.getByText("settings.json").first().waitFor();
    expect(stage.faults).toEqual([]);
  });
});
