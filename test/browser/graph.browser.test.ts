// The Graph page: the code graph of a real store, drawn and as a list.
import type { Page } from "playwright-core";
import { afterAll, describe, expect, test } from "vitest";
import { browserPath, ConsoleStage, closeBrowser } from "./console-stage.js";

const FILES = {
  "src/retry.ts":
    "export function retryWithBackoff(attempts: number): number {\n  return wait(attempts);\n}\n\nfunction wait(ms: number): number {\n  return ms;\n}\n",
  "src/client.ts":
    'import { retryWithBackoff } from "./retry.js";\n\nexport class Client {\n  send(): number {\n    return retryWithBackoff(3);\n  }\n}\n',
  "src/side.ts": 'import "./retry.js";\n',
  "src/main.ts": 'import { Client } from "./client.js";\n\nexport const client = new Client();\n',
};

async function graphStage(files: Readonly<Record<string, string>> = FILES): Promise<ConsoleStage> {
  const stage = new ConsoleStage({ files });
  await stage.run("init");
  return stage;
}

function nodes(page: Page) {
  return page.getByRole("listbox", { name: "Nodes" });
}

/** How many different colours the canvas shows, without those that are only between two others. */
function colours(page: Page): Promise<number> {
  return page.evaluate<number>(`(() => {
    const canvas = document.querySelector("canvas");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const counts = new Map();
    for (let at = 0; at < data.length; at += 4) {
      const colour = (data[at] << 16) | (data[at + 1] << 8) | data[at + 2];
      counts.set(colour, (counts.get(colour) ?? 0) + 1);
    }
    return [...counts.values()].filter((count) => count > 60).length;
  })()`);
}

function background(page: Page): Promise<string> {
  return page.evaluate<string>(
    `[...document.querySelector("canvas").getContext("2d").getImageData(1, 1, 1, 1).data].join()`,
  );
}

const settled = (page: Page) => page.locator('canvas[data-state="settled"]').waitFor();

afterAll(closeBrowser);

describe.skipIf(browserPath === undefined)("the Graph page", () => {
  test("draws what a document uses and is used by, expands a node and filters relations", async () => {
    await using stage = await graphStage();
    const page = await stage.open("graph");
    await page.getByRole("searchbox").fill("client");
    await page.getByRole("listbox", { name: "Where to start" }).getByText("client.ts", { exact: true }).click();
    await settled(page);
    for (const name of ["client.ts", "retry.ts", "main.ts", "Client", "send"])
      await nodes(page).getByText(name, { exact: true }).waitFor();
    expect(await nodes(page).getByText("wait", { exact: true }).count()).toBe(0);
    expect(await colours(page)).toBeGreaterThan(3);

    await nodes(page).getByText("retry.ts", { exact: true }).click();
    await page.getByRole("button", { name: "Expand" }).click();
    await nodes(page).getByText("wait", { exact: true }).waitFor();
    await page.reload();
    await nodes(page).getByText("wait", { exact: true }).waitFor();
    await page.getByRole("region", { name: "Selected node" }).getByText("src/retry.ts").waitFor();

    const imports = page.getByRole("group", { name: "Relations" }).getByRole("button", { name: /^imports/ });
    await nodes(page).getByText("side.ts", { exact: true }).waitFor();
    await imports.click();
    await expect.poll(() => nodes(page).getByText("side.ts", { exact: true }).count()).toBe(0);
    await imports.click();
    await nodes(page).getByText("side.ts", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Outgoing", exact: true }).click();
    await expect.poll(() => nodes(page).getByText("main.ts", { exact: true }).count()).toBe(0);

    await page.getByRole("searchbox").fill("ient");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText('has no document or symbol "ient"').waitFor();
    await page.getByRole("listbox", { name: "Where to start" }).getByText("Client", { exact: true }).click();
    await page.getByText("Around Client").waitFor();
    expect(stage.faults).toEqual([]);
  });

  test("is usable by keyboard alone, and leads to the document and back", async () => {
    await using stage = await graphStage();
    const page = await stage.open("graph", { permissions: ["clipboard-read", "clipboard-write"] });
    await page.getByRole("listbox", { name: "Where to start" }).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("Client");
    await page.keyboard.press("Enter");
    await page.getByText("Around Client").waitFor();
    await page.evaluate(`location.hash = "#/graph?name=src/main.ts"`);
    await nodes(page).getByText("client.ts", { exact: true }).waitFor();
    await nodes(page).focus();
    await page.keyboard.press("ArrowDown");
    const chosen = page.getByRole("region", { name: "Selected node" });
    await chosen.getByText("src/client.ts").waitFor();
    await chosen.getByRole("button", { name: "Copy path" }).press("Enter");
    await chosen.getByText("Copied").waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(`${stage.place.cwd}/src/client.ts`);
    await chosen.getByRole("link", { name: "Open document" }).press("Enter");
    await page.getByRole("region", { name: "Content" }).getByText("export class Client").waitFor();
    await page.getByRole("link", { name: "Graph" }).last().press("Enter");
    await nodes(page).getByText("client.ts", { exact: true }).waitFor();
    expect(stage.faults).toEqual([]);
  });

  test("selects and expands in the drawing, zooms, and follows the theme", async () => {
    await using stage = await graphStage();
    const page = await stage.open("graph", { colorScheme: "light", deviceScaleFactor: 2 });
    await page.evaluate(`location.hash = "#/graph?name=src/main.ts"`);
    await settled(page);
    const canvas = page.locator("canvas");
    const box = await canvas.boundingBox();
    if (box === null) throw new Error("The canvas is not visible.");
    expect(await canvas.evaluate((element) => (element as unknown as { width: number }).width)).toBe(2 * box.width);
    await nodes(page).getByText("client.ts", { exact: true }).click();
    await page.getByRole("button", { name: "Centre the selected node" }).click();
    await nodes(page).getByText("main.ts", { exact: true }).click();
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    await page.mouse.move(x, y);
    await page.locator(".graph-tip").getByText("src/client.ts").waitFor();
    await page.mouse.click(x, y);
    await page.getByRole("region", { name: "Selected node" }).getByText("src/client.ts").waitFor();
    await page.mouse.dblclick(x, y);
    await nodes(page).getByText("send", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Zoom in" }).click();
    await page.mouse.wheel(0, -200);
    await page.getByRole("button", { name: "Fit" }).click();
    await settled(page);
    const before = await background(page);
    await page.getByRole("button", { name: "Switch to dark" }).click();
    await expect.poll(() => background(page)).not.toBe(before);
    expect(await colours(page)).toBeGreaterThan(3);
    expect(stage.faults).toEqual([]);
  });

  test("stays fluid with 2,000 nodes", async () => {
    const names = Array.from({ length: 2_000 }, (_, index) => `step${index}`);
    const large = names
      .map((name, index) => `export function ${name}() {\n  return ${names[index >> 1]}();\n}`)
      .join("\n");
    await using stage = await graphStage({ "src/large.ts": large });
    const page = await stage.open("graph");
    await page.evaluate(`location.hash = "#/graph?name=src/large.ts"`);
    await page.getByText(/^(?:2,00\d|1,99\d) nodes/).waitFor();
    const canvas = page.locator("canvas");
    const box = await canvas.boundingBox();
    if (box === null) throw new Error("The canvas is not visible.");
    await settled(page);
    const [x, y] = [box.x + box.width / 2, box.y + 40];
    await page.mouse.move(x, y);
    await page.mouse.down();
    // One move for each frame, so that each frame draws everything.
    const frames = await page.evaluate<number[]>(`new Promise((resolve) => {
      const canvas = document.querySelector("canvas");
      const frames = [];
      let last = performance.now();
      const next = (now) => {
        frames.push(now - last);
        last = now;
        if (frames.length > 60) return resolve(frames.slice(1));
        const [clientX, clientY] = [${x} + (frames.length % 20) * 8, ${y} + frames.length * 3];
        canvas.dispatchEvent(new PointerEvent("pointermove", { clientX, clientY, bubbles: true }));
        requestAnimationFrame(next);
      };
      requestAnimationFrame(next);
    })`);
    await page.mouse.up();
    const sorted = frames.toSorted((one, other) => one - other);
    const median = sorted[Math.floor(sorted.length / 2)] ?? Number.POSITIVE_INFINITY;
    console.info(
      `2,000 nodes: median frame ${median.toFixed(1)} ms of ${frames.length}, slowest ${sorted.at(-1)?.toFixed(1)} ms`,
    );
    expect(median).toBeLessThan(100);
    expect(stage.faults).toEqual([]);
  });
});
