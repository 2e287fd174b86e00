// What holds for every page: no serious accessibility fault, the keyboard suffices, hostile content is text.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { afterAll, describe, expect, it } from "vitest";
import { browserPath, ConsoleStage, closeBrowser, testServer } from "./console-stage.js";

const PAGES = ["servers", "traffic", "tools", "questions", "store", "graph", "settings"];
const TITLES = ["Servers", "Traffic", "Tools", "Questions", "Store", "Graph", "Settings"];
/** Evaluated, not added as a script: the page's policy allows none but its own. */
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

afterAll(closeBrowser);

async function findings(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const { violations } = await page.evaluate<{
    violations: { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }[];
  }>("axe.run(document, { resultTypes: ['violations'] })");
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} (${failureSummary})`).join("; ")}`,
    );
}

async function settle(page: Page): Promise<void> {
  await page.getByRole("heading", { level: 1 }).waitFor();
  await expect.poll(() => page.locator(".skeleton").count()).toBe(0);
}

describe.skipIf(browserPath === undefined)("every page", () => {
  it.each(["light", "dark"] as const)("has no serious accessibility fault, in %s", async (colorScheme) => {
    await using stage = new ConsoleStage({
      servers: {
        library: testServer("library"),
        broken: { command: "/no/such/program" },
        off: { ...testServer("hello"), disabled: true },
      },
      files: { "src/a.ts": "export function heron() {}\n", "notes.md": "# Notes\nheron\n" },
    });
    await stage.run("init");
    await stage.run("tools");
    const page = await stage.open("servers", { colorScheme });
    for (const name of PAGES) {
      await page.evaluate(`location.hash = '#/${name}'`);
      await settle(page);
      expect({ name, found: await findings(page) }).toEqual({ name, found: [] });
    }
    expect(stage.faults).toEqual([]);
  });

  it("is reached by keyboard alone", async () => {
    await using stage = new ConsoleStage({ servers: { library: testServer("library") } });
    const page = await stage.open();
    await settle(page);
    for (const [index, key] of ["s", "t", "o", "q", "d", "r", "e"].entries()) {
      await page.keyboard.press("g");
      await page.keyboard.press(key);
      await page.getByRole("heading", { level: 1, name: TITLES[index] ?? "" }).waitFor();
    }
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    await page.keyboard.press("Escape");
    await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
    // Tab reaches the navigation, and Enter follows a link.
    await page.keyboard.press("Tab");
    for (let presses = 0; presses < 12; presses++) {
      const focused = await page.evaluate<string>("document.activeElement?.getAttribute('href') ?? ''");
      if (focused === "#/tools") break;
      await page.keyboard.press("Tab");
    }
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Tools" }).waitFor();
    await settle(page);
    await page.keyboard.press("/");
    expect(await page.evaluate("document.activeElement?.getAttribute('type')")).toBe("search");
    expect(stage.faults).toEqual([]);
  });

  it("fits a narrow window without scrolling sideways", async () => {
    await using stage = new ConsoleStage({ servers: { library: testServer("library") } });
    const page = await stage.open("servers", { viewport: { width: 760, height: 700 } });
    for (const name of PAGES) {
      await page.evaluate(`location.hash = '#/${name}'`);
      await settle(page);
      const overflow = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
      expect({ name, overflow: Math.max(0, overflow) }).toEqual({ name, overflow: 0 });
    }
  });
});
