// The page "Traffic", as a person uses it: calls appear, a pipeline opens, filters, pause, recording, and a long journal.
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { afterAll, describe, expect, it } from "vitest";
import { browserPath, ConsoleStage, closeBrowser, testServer } from "./console-stage.js";

afterAll(closeBrowser);

const SERVERS = { hello: testServer("hello"), slow: testServer("slow") };

function rows(page: Page, name?: string | RegExp): Locator {
  return page.getByRole("listbox", { name: "Calls" }).getByRole("option", name === undefined ? {} : { name });
}

const PIPELINE = JSON.stringify([
  { op: "describe" },
  { op: "slow.wait", params: { ms: 120 } },
  { op: "hello.hello", params: { name: "Ada" } },
]);

describe.skipIf(browserPath === undefined)("the page Traffic", () => {
  it("shows calls as they happen, and the steps of a pipeline as one row with a waterfall", async () => {
    await using stage = new ConsoleStage({ servers: SERVERS });
    const page = await stage.open("traffic");
    await page.getByRole("heading", { name: "No calls yet" }).waitFor();
    await stage.run("execute", "hello.hello", "name=Ada");
    await rows(page, /hello\.hello.*ok/).waitFor();
    await page.getByText("1 call today, 0 failed").waitFor();
    await page.getByRole("img", { name: /^Calls in the last 30 days\. trunkline: 1$/ }).waitFor();

    await stage.run("execute", PIPELINE);
    await rows(page, /3 steps.*describe, slow\.wait, hello\.hello/).click();
    const details = page.getByRole("region", { name: "Pipeline of 3 steps" });
    const steps = details.getByRole("list", { name: "Steps" }).getByRole("button");
    expect(await steps.allInnerTexts()).toEqual([
      expect.stringMatching(/^describe/),
      expect.stringMatching(/^slow\.wait/),
      expect.stringMatching(/^hello\.hello/),
    ]);
    const bars = await details.locator(".bar").evaluateAll((each) =>
      each.map((bar) => {
        const { left, right, width } = bar.getBoundingClientRect();
        return { left, right, width };
      }),
    );
    const [first, slow, last] = bars;
    // The steps ran one after the other, and waiting took the longest of the last two.
    expect(slow?.left).toBeGreaterThanOrEqual((first?.right ?? 0) - 4);
    expect(last?.left).toBeGreaterThanOrEqual((slow?.right ?? 0) - 4);
    expect(slow?.width).toBeGreaterThan(last?.width ?? 0);
    await steps.nth(1).click();
    await details.getByText("Arguments and result were not recorded.").waitFor();
    await details.getByText("trunkline call slow.wait").waitFor();
    await page.keyboard.press("Escape");
    await details.waitFor({ state: "detached" });
    expect(stage.faults).toEqual([]);
  });

  it.each([
    ["wide", 1_280, ["Time", "Client", "Operation", "Took", "Size", "≈ Tokens", "Outcome"]],
    ["narrow", 700, ["Time", "Client", "Operation", "Took", "Outcome"]],
  ])("a %s list has its cells below their heads", async (_, width, names) => {
    await using stage = new ConsoleStage({ servers: SERVERS });
    await stage.run("execute", "hello.hello", "name=Ada");
    const page = await stage.open("traffic");
    await page.setViewportSize({ width, height: 800 });
    await rows(page, /hello\.hello.*ok/).waitFor();
    const spans = (line: string) =>
      page.locator(`${line} > span`).evaluateAll((each) =>
        each.flatMap((span) => {
          const { left, width: room } = span.getBoundingClientRect();
          return room === 0 ? [] : [{ text: span.textContent ?? "", left: Math.round(left) }];
        }),
      );
    const heads = await spans(".call.heads");
    expect(heads.map(({ text }) => text)).toEqual(names);
    expect((await spans(".slot > .call")).map(({ left }) => left)).toEqual(heads.map(({ left }) => left));
    expect(stage.faults).toEqual([]);
  });

  it("filters by words and conditions", async () => {
    await using stage = new ConsoleStage({ servers: SERVERS });
    await stage.run("execute", "hello.hello", "name=Ada");
    await stage.run("execute", "slow.wait", "ms=150");
    await stage.place.runProcess(["query", "get", "hash=nothing"]);
    const page = await stage.open("traffic");
    await expect.poll(() => rows(page).count()).toBe(3);
    const filter = page.getByRole("searchbox", { name: "Filter calls" });
    const shown = async (text: string) => {
      await filter.fill(text);
      await page.getByText(/^\d+ of 3 rows/).waitFor();
      return await rows(page).locator(".operation").allInnerTexts();
    };
    await page.keyboard.press("/");
    expect(await page.evaluate("document.activeElement.type")).toBe("search");
    await expect.poll(() => shown("op:slow.*")).toEqual(["slow.wait"]);
    await expect.poll(() => shown(">100ms client:trunk slow")).toEqual(["slow.wait"]);
    await expect.poll(() => shown("failed")).toEqual(["get"]);
    await expect.poll(() => shown("HELLO ok")).toEqual(["hello.hello"]);
    await filter.fill(">1MB");
    await page.getByRole("heading", { name: "No call matches the filter" }).waitFor();
    await page.getByRole("button", { name: "Show all calls" }).click();
    await expect.poll(() => rows(page).count()).toBe(3);
    await page.getByRole("button", { name: /^Filter help/ }).click();
    await page.getByRole("dialog", { name: "Filter calls" }).getByText("client:cursor").waitFor();
    expect(stage.faults).toEqual([]);
  });

  it("counts new calls while it is paused, and shows them afterwards", async () => {
    await using stage = new ConsoleStage({ servers: SERVERS });
    await stage.run("execute", "hello.hello");
    const page = await stage.open("traffic");
    await rows(page, /hello\.hello/).waitFor();
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("button", { name: "No new calls" }).waitFor();
    await stage.run("execute", "slow.wait", "ms=1");
    await page.getByRole("button", { name: "Show 1 new call" }).waitFor();
    expect(await rows(page).count()).toBe(1);
    await page.getByRole("button", { name: "Show 1 new call" }).click();
    await rows(page, /slow\.wait/).waitFor();
    expect(await rows(page).locator(".operation").allInnerTexts()).toEqual(["slow.wait", "hello.hello"]);
    expect(stage.faults).toEqual([]);
  });

  it("records arguments and results without secrets, in memory, and offers them as a command and to repeat", async () => {
    const secret = "s3cret-of-the-server";
    await using stage = new ConsoleStage({ servers: { hello: { ...SERVERS.hello, env: { TOKEN: secret } } } });
    const page = await stage.open("traffic", { permissions: ["clipboard-read", "clipboard-write"] });
    await page.getByRole("button", { name: /^Record arguments and results/ }).click();
    await page.getByText("Recording.", { exact: true }).waitFor();
    await stage.run("execute", "hello.repeat", "text=it's on", "count=2");
    await rows(page, /hello\.repeat/).click();
    const details = page.getByRole("region", { name: "hello.repeat" });
    await details.getByRole("region", { name: "Arguments" }).getByText('"it\'s on"').waitFor();
    await details
      .getByRole("region", { name: "Result" })
      .getByText(/it's on/)
      .first()
      .waitFor();
    await details.getByRole("button", { name: "Copy" }).click();
    await details.getByRole("button", { name: "Copied" }).waitFor();
    const command = await page.evaluate("navigator.clipboard.readText()");
    expect(command).toBe(`trunkline call hello.repeat text='it'\\''s on' count:=2`);

    const sent = page.waitForRequest("**/api/tools/call");
    await details.getByRole("button", { name: "Repeat" }).click();
    expect((await sent).postDataJSON()).toMatchObject({
      server: "hello",
      tool: "repeat",
      arguments: { text: "it's on", count: 2 },
    });
    await expect.poll(() => rows(page, /console.*hello\.repeat/).count()).toBe(1);

    await stage.run("execute", "hello.repeat", `text=my ${secret}`);
    await expect.poll(() => rows(page, /hello\.repeat/).count()).toBe(3);
    await rows(page, /hello\.repeat/)
      .first()
      .click();
    await details.getByText(/A secret in its arguments was left out/).waitFor();
    expect(await details.getByRole("button", { name: "Repeat" }).count()).toBe(0);
    expect(await page.content()).not.toContain(secret);

    await page.getByRole("button", { name: /^Stop and forget/ }).click();
    await page.getByText("Recording.", { exact: true }).waitFor({ state: "detached" });
    await page.keyboard.press("Escape");
    await rows(page, /hello\.repeat/)
      .first()
      .click();
    await details.getByText("Arguments and result were not recorded.").waitFor();
    expect(stage.faults).toEqual([]);
  });

  it("scrolls through 100,000 calls without stuttering", async () => {
    await using stage = new ConsoleStage({ servers: SERVERS });
    await stage.run("execute", "hello.hello");
    writeJournal(stage, 100_000);
    const page = await stage.open("traffic");
    await rows(page, /server7\.tool/)
      .first()
      .waitFor();
    const loading = await page.evaluate<Scrolled>(scrollThrough(100_000));
    const scrolling = await page.evaluate<Scrolled>(scrollThrough());
    console.log(`traffic: loading ${JSON.stringify(loading)}, scrolling ${JSON.stringify(scrolling)}`);
    await page.getByText("100,000 rows").waitFor();
    // Only visible rows exist.
    expect(await rows(page).count()).toBeLessThan(100);
    // Generous: the machine may be busy with other tests.
    for (const { medianMs, longTasks, frames } of [loading, scrolling]) {
      expect(medianMs).toBeLessThan(34);
      expect(longTasks).toBeLessThan(Math.max(10, frames / 5));
    }
    await page.getByRole("searchbox", { name: "Filter calls" }).fill("op:server7.tool3 failed");
    await page.getByText(/^[\d,]+ of 100,000 rows/).waitFor();
    expect(stage.faults).toEqual([]);
  });
});

/** Replaces the journal by `count` calls, the last of which has just finished. */
function writeJournal(stage: ConsoleStage, count: number): void {
  const [name = ""] = readdirSync(join(stage.home, "journal"));
  const folder = join(stage.home, "journal", name);
  const segments = 4;
  const endMs = Date.now();
  const lines = Array.from({ length: count }, (_, index) => {
    const at = new Date(endMs - (count - index) * 10_000).toISOString();
    const end = index % 25 === 0 ? '"error","code":"TIMEOUT"' : '"ok"';
    return `{"at":"${at}","client":"client ${index % 6}","op":"server${index % 9}.tool${index % 31}","ms":${index % 700},"bytes":${(index * 37) % 50_000},"outcome":${end}}\n`;
  });
  for (let segment = 0; segment < segments; segment++) {
    const part = lines.slice((segment * count) / segments, ((segment + 1) * count) / segments);
    writeFileSync(join(folder, `calls-00000${segment + 1}.jsonl`), part.join(""), { mode: 0o600 });
  }
}

interface Scrolled {
  readonly frames: number;
  readonly medianMs: number;
  readonly worstMs: number;
  /** Tasks of more than 50 ms. */
  readonly longTasks: number;
  readonly longestTaskMs: number;
}

/**
 * Returns what scrolls on with every frame in the page: to the end of what is loaded until there are that many rows, or
 * from top to bottom.
 */
function scrollThrough(untilRows = 0): string {
  return `(async () => {
    const list = document.querySelector(".rows");
    const tasks = [];
    const note = (entries) => tasks.push(...entries.map(({ duration }) => duration));
    const observer = new PerformanceObserver((seen) => note(seen.getEntries()));
    observer.observe({ type: "longtask" });
    const times = [];
    let last = performance.now();
    const next = async (top) => {
      list.scrollTop = top;
      await new Promise(requestAnimationFrame);
      const now = performance.now();
      times.push(now - last);
      last = now;
    };
    while (list.scrollHeight < ${untilRows} * 36) await next(list.scrollHeight);
    if (${untilRows} === 0) for (let turn = 0; turn <= 300; turn++) await next((list.scrollHeight * turn) / 300);
    // Long tasks are reported a little later.
    await new Promise((resolve) => setTimeout(resolve));
    note(observer.takeRecords());
    observer.disconnect();
    times.sort((a, b) => a - b);
    return {
      frames: times.length,
      medianMs: Math.round(times[times.length >> 1]),
      worstMs: Math.round(times.at(-1)),
      longTasks: tasks.length,
      longestTaskMs: Math.round(Math.max(0, ...tasks)),
    };
  })()`;
}
