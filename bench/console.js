// The console: how much the first page weighs, how long it takes to be there, and whether a long list scrolls smoothly.
// Needs Chromium: TRUNKLINE_CHROMIUM, or /usr/bin/chromium.
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { chromium } from "playwright-core";
import { median, report, timeMs } from "./report.js";

const { values } = parseArgs({
  options: { rounds: { type: "string", default: "9" }, lines: { type: "string", default: "100000" } },
});
const rounds = Number(values.rounds);
const lines = Number(values.lines);
const bin = fileURLToPath(new URL("../packages/cli/bin/trunkline.cjs", import.meta.url));
const assets = fileURLToPath(new URL("../packages/console/assets/", import.meta.url));
const hello = fileURLToPath(new URL("../test/servers/hello.js", import.meta.url));
const run = promisify(execFile);

// The path of a socket must be short.
const home = mkdtempSync(join(tmpdir(), "tb-"));
const cwd = join(home, "project");
mkdirSync(join(cwd, ".git"), { recursive: true });
mkdirSync(join(home, ".trunkline"), { mode: 0o700 });
const settings = { mcpServers: { hello: { command: process.execPath, args: [hello] } } };
writeFileSync(join(home, ".trunkline", "settings.json"), JSON.stringify(settings));
const env = { PATH: process.env.PATH, HOME: home };

/** @param {string[]} args */
async function trunkline(...args) {
  return (await run(process.execPath, [bin, ...args], { cwd, env })).stdout.trim();
}

const browser = await chromium.launch({
  executablePath: process.env.TRUNKLINE_CHROMIUM ?? "/usr/bin/chromium",
  args: [...(process.getuid?.() === 0 ? ["--no-sandbox"] : []), "--disable-gpu", "--disable-background-networking"],
});

/** Opens a tab that is empty yet. */
async function newTab() {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  return await context.newPage();
}

/** From starting the command to a live page with the list of servers. The browser runs already, as a person's does. */
async function timeToPage() {
  const tab = await newTab();
  const ms = await timeMs(async () => {
    await tab.goto(await trunkline("console", "--no-open"));
    await tab.getByText("hello", { exact: true }).first().waitFor();
  });
  const painted = await tab.evaluate(
    "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.NaN",
  );
  await tab.context().close();
  return { ms, painted: Number(painted) };
}

/** A journal as the gateway writes it. */
async function writeJournal() {
  const { FileJournal, journalFolder } = await import("../packages/gateway/dist/journal/index.js");
  const folder = journalFolder(join(home, ".trunkline"), join(home, ".trunkline", "store"));
  rmSync(folder, { recursive: true, force: true });
  const journal = new FileJournal({ folder, segmentBytes: 64 * 1024 * 1024 });
  const startMs = Date.now() - lines * 1_000;
  for (let index = 0; index < lines; index++) {
    journal.record({
      atMs: startMs + index * 1_000,
      client: ["cursor 1.0", "claude-code 2.1", "zed 0.200"][index % 3] ?? "",
      operation: ["search", "hello.hello", "grep", "git.log"][index % 4] ?? "",
      durationMs: (index * 7) % 400,
      sizeBytes: (index * 131) % 20_000,
      outcome: index % 50 === 0 ? "error" : "ok",
      ...(index % 50 === 0 ? { code: "TIMEOUT" } : {}),
    });
    if (index % 2_000 === 0) await journal.flush();
  }
  await journal.close();
}

/** Scrolls through the list and returns the times between frames, and how long tasks blocked the page. */
const SCROLL = `(async () => {
  const list = document.querySelector(".rows");
  const blocked = [];
  new PerformanceObserver((found) => blocked.push(...found.getEntries().map((entry) => entry.duration))).observe({ type: "longtask" });
  const frames = [];
  let before = performance.now();
  for (let step = 0; step < 240; step++) {
    list.scrollTop += 400;
    await new Promise((resolve) => requestAnimationFrame(resolve));
    const now = performance.now();
    frames.push(now - before);
    before = now;
  }
  return { frames, blocked, scrolled: list.scrollTop };
})()`;

try {
  // A warm broker, and everything compiled.
  for (let round = 0; round < 2; round++) await timeToPage();
  /** @type {number[]} */
  const empty = [];
  /** @type {{ ms: number, painted: number }[]} */
  const pages = [];
  for (let round = 0; round < rounds; round++) {
    empty.push(await timeMs(() => run(process.execPath, ["-e", "0"])));
    pages.push(await timeToPage());
  }
  await writeJournal();
  const tab = await newTab();
  await tab.goto(await trunkline("console", "--no-open"));
  // Before it is live, the page sets its own address.
  await tab.getByText("hello", { exact: true }).first().waitFor();
  await tab.evaluate("location.hash = '#/traffic'");
  await tab.locator(".rows [role=option]").first().waitFor();
  const { frames, blocked, scrolled } = /** @type {{ frames: number[], blocked: number[], scrolled: number }} */ (
    await tab.evaluate(SCROLL)
  );
  if (scrolled === 0) throw new Error("The list did not scroll.");
  const html = readFileSync(join(assets, "index.html"), "utf8");
  const first = readdirSync(assets).filter(
    (name) => name.endsWith(".js") && (html.includes(name) || name.startsWith("servers-page")),
  );
  const sizeKb = first.reduce((sum, name) => sum + gzipSync(readFileSync(join(assets, name))).length, 0) / 1_000;
  const pageMs = median(pages.map(({ ms }) => ms));
  report(
    "console",
    [
      {
        what: "JavaScript of the first page, gzipped",
        figure: sizeKb,
        unit: "kB",
        beside: "150 kB",
        ratio: sizeKb / 150,
        aim: 1,
      },
      {
        what: "from `trunkline console` to a live page with its servers, warm broker",
        figure: pageMs,
        unit: "ms",
        beside: "1 s",
        ratio: pageMs / 1_000,
        aim: 1,
      },
      {
        what: "   the same",
        figure: pageMs,
        unit: "ms",
        beside: `node -e 0, ${Math.round(median(empty))} ms`,
        ratio: pageMs / median(empty),
      },
      {
        what: "   of this, until the page is first painted",
        figure: median(pages.map(({ painted }) => painted)),
        unit: "ms",
      },
      {
        what: `scrolling through ${lines.toLocaleString("en-US")} calls: time between frames, median`,
        figure: median(frames),
        unit: "ms",
        beside: "a frame at 60 per second",
        ratio: median(frames) / (1_000 / 60),
        aim: 1.05,
      },
      {
        what: "   the slowest 5 %",
        figure: [...frames].sort((a, b) => a - b)[Math.floor(frames.length * 0.95)] ?? Number.NaN,
        unit: "ms",
      },
      { what: "   tasks over 50 ms", figure: blocked.length, unit: "" },
    ],
    {
      title: "The console",
      workload: `Chromium, 1280 × 800, ${rounds} rounds in new tabs; the browser and the broker run already. Scrolling: 240 frames of 400 pixels.`,
    },
  );
} finally {
  await browser.close();
  await trunkline("broker", "stop");
  rmSync(home, { recursive: true, force: true });
}
