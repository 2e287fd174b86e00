// The Store page: what a person does with documents, in a real store behind a real broker.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, describe, expect, test } from "vitest";
import { browserPath, ConsoleStage, closeBrowser } from "./console-stage.js";

const RETRY = `export function retryWithBackoff(attempts: number): number {
  return attempts * 2;
}
`;
const FILES = {
  "src/retry.ts": RETRY,
  "src/client.ts": 'import { retryWithBackoff } from "./retry.js";\nexport const limit = retryWithBackoff(3);\n',
  "docs/guide.md": "# Guide\n\nA client should retry with backoff.\nAnd then give up.\n",
};

async function storeStage(files: Readonly<Record<string, string>> = FILES): Promise<ConsoleStage> {
  const stage = new ConsoleStage({ files });
  await stage.run("init");
  return stage;
}

function list(page: Page, name: string) {
  return page.getByRole("listbox", { name });
}

afterAll(closeBrowser);

describe.skipIf(browserPath === undefined)("the Store page", () => {
  test("browses folders with the mouse and the keyboard, and keeps its place when it is reloaded", async () => {
    await using stage = await storeStage();
    const page = await stage.open("store");
    const rows = list(page, "Folders and documents");
    await rows.getByText("docs", { exact: true }).waitFor();
    await page.getByText("3 documents,").waitFor();
    await rows.focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await rows.getByText("client.ts").click();
    const details = page.getByRole("region", { name: "client.ts", exact: true });
    await details.getByText("export const limit").waitFor();
    await page.reload();
    await details.getByText("export const limit").waitFor();
    await page.getByRole("navigation", { name: "Folder" }).getByText("src").waitFor();
    await page.keyboard.press("Escape");
    await expect.poll(() => details.count()).toBe(0);
    expect(stage.faults).toEqual([]);
  });

  test("searches by words, says how to get search by meaning, and greps with the line marked", async () => {
    await using stage = await storeStage();
    const page = await stage.open("store");
    await list(page, "Folders and documents").waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("give up");
    await list(page, "Found documents").getByText("guide.md", { exact: true }).click();
    await page.getByText("trunkline models pull").waitFor();
    await page.getByRole("region", { name: "Content" }).getByText("And then give up.").waitFor();

    await page.getByRole("button", { name: "Grep" }).click();
    await page.getByRole("searchbox").fill("RETRYWITH\\w+");
    await page.getByText("No line matches").waitFor();
    await page.getByLabel("Ignore case").check();
    const lines = list(page, "Matching lines");
    await lines.getByText("src/retry.ts").waitFor();
    await page.getByText("3 matches in 2 documents").waitFor();
    expect(await lines.locator("mark").allTextContents()).toEqual(Array(3).fill("retryWithBackoff"));
    await lines.getByRole("option").filter({ hasText: "limit" }).click();
    await page.locator(".line-mark").waitFor();
    expect(await page.evaluate("location.hash")).toContain("line=2");

    await page.getByLabel("Plain text").check();
    await page.getByText("No line matches").waitFor();
    await page.getByRole("searchbox").fill("attempts * 2");
    await lines.locator("mark", { hasText: "attempts * 2" }).waitFor();
    expect(stage.faults).toEqual([]);
  });

  test("compares versions, shows an old one and restores it to a new file", async () => {
    await using stage = await storeStage();
    const file = join(stage.place.cwd, "src/retry.ts");
    writeFileSync(file, RETRY.replace("attempts * 2", "attempts ** 2"));
    await stage.run("store", "add", "src/retry.ts");
    const page = await stage.open("store");
    await page.evaluate(`location.hash = "#/store?tab=versions&doc=" + encodeURIComponent(${JSON.stringify(file)})`);
    const diff = page.getByRole("region", { name: "Difference" });
    await diff.waitFor();
    expect((await diff.locator(".removed").allTextContents()).join()).toContain("return attempts * 2;");
    expect((await diff.locator(".added").allTextContents()).join()).toContain("return attempts ** 2;");
    await page.getByLabel("Compare from version 2").check();
    await page.getByText("Both versions have the same content.").waitFor();

    await page.getByRole("button", { name: "View version 1" }).click();
    await page.getByText("This is version 1 of 2.").waitFor();
    await page.getByRole("region", { name: "Content" }).getByText("return attempts * 2;").waitFor();
    await page.getByRole("button", { name: "Restore…" }).click();
    await page.getByRole("button", { name: "Write the file" }).click();
    await page.getByText(/Version 1 is in .*retry\.v1\.ts/).waitFor();
    expect(readFileSync(join(stage.place.cwd, "src/retry.v1.ts"), "utf8")).toBe(RETRY);

    await page.getByRole("button", { name: "Restore…" }).click();
    await page.getByRole("button", { name: "Write the file" }).click();
    await page.getByRole("alert").getByText(/exist/).waitFor();
    expect(readFileSync(file, "utf8")).toContain("**");
    expect(stage.faults).toEqual([]);
  });

  test("tags, pins, deletes and brings back a document", async () => {
    await using stage = await storeStage();
    const page = await stage.open("store");
    await page.getByRole("searchbox").fill("guide");
    await list(page, "Found documents").getByText("guide.md", { exact: true }).click();
    const details = page.getByRole("region", { name: "guide.md", exact: true });
    await details.getByLabel("Add a tag").fill("draft");
    await page.keyboard.press("Enter");
    await details.getByRole("button", { name: "Remove the tag draft" }).waitFor();
    expect(await stage.run("query", "list", 'tags:=["draft"]', "paths_only=true")).toContain("guide.md");
    await details.getByRole("button", { name: "Remove the tag draft" }).click();
    await expect.poll(() => details.getByText("draft").count()).toBe(0);

    await details.getByText("Pin", { exact: true }).click();
    await details.getByText("Unpin", { exact: true }).waitFor();
    await page.reload();
    await details.getByText("Unpin", { exact: true }).click();
    await details.getByText("Pin", { exact: true }).waitFor();

    await details.getByRole("button", { name: "Delete…" }).click();
    const asking = page.getByRole("dialog", { name: "Delete from the store" });
    await asking.getByText("docs/guide.md").waitFor();
    await asking.getByRole("button", { name: "Delete" }).click();
    await details.getByText("This document is in the trash.").waitFor();
    expect(existsSync(join(stage.place.cwd, "docs/guide.md"))).toBe(true);
    expect(await stage.run("query", "list", "paths_only=true")).not.toContain("guide.md");
    await page.getByRole("button", { name: "Undo" }).click();
    await details.getByRole("button", { name: "Delete…" }).waitFor();
    expect(await stage.run("query", "list", "paths_only=true")).toContain("guide.md");

    await details.getByRole("button", { name: "Delete…" }).click();
    await asking.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Trash 1" }).click();
    await page.getByRole("button", { name: /^Undelete .*guide\.md$/ }).click();
    await page.getByText("0 documents are in the trash").waitFor();
    expect(await stage.run("query", "list", "paths_only=true")).toContain("guide.md");
    expect(stage.faults).toEqual([]);
  });

  test("shows hostile documents as text, and stays responsive", async () => {
    const hostile =
      "<script>window.owned = true</script>\u001b[31mred\u001b[0m \u202Eevil <img src=x onerror=alert(1)>\n";
    await using stage = await storeStage({
      "hostile.md": `# ${hostile}`,
      "one-line.txt": "x".repeat(5_000_000),
      "picture.bin": "\0\u0001\u0002".repeat(100),
      "many-lines.txt": Array.from({ length: 9_000 }, (_, index) => `row ${index + 1}`).join("\n"),
    });
    const page = await stage.open("store");
    const rows = list(page, "Folders and documents");
    await rows.getByText("hostile.md").click();
    const content = page.getByRole("region", { name: "Content" });
    await content.getByText("<script>window.owned = true</script>⟨001b⟩[31mred⟨001b⟩[0m ⟨202e⟩evil").waitFor();
    expect(await page.evaluate("window.owned")).toBeUndefined();
    expect(await page.locator("main img, main script").count()).toBe(0);

    await rows.getByText("one-line.txt").click();
    await content.getByText("… ").waitFor();
    expect((await content.textContent())?.length).toBeLessThan(2_000);
    const slowest = await page.evaluate<number>(`new Promise((resolve) => {
      const frames = [];
      let last = performance.now();
      const next = (now) => {
        frames.push(now - last);
        last = now;
        if (frames.length < 30) requestAnimationFrame(next);
        else resolve(Math.max(...frames));
      };
      requestAnimationFrame(next);
    })`);
    expect(slowest).toBeLessThan(2_000);

    await rows.getByText("many-lines.txt").click();
    await page.getByText("The first 2,000 lines of 9,000").waitFor();
    await page.getByRole("button", { name: "Show more" }).click();
    await page.getByText("The first 4,000 lines of 9,000").waitFor();
    await rows.getByText("picture.bin").click();
    await page.getByText("This is binary content, 300 B.").waitFor();
    expect(stage.faults).toEqual([]);
  });

  test("says how to fill an empty store", async () => {
    await using stage = new ConsoleStage();
    const page = await stage.open("store");
    await page.getByText("The store is empty").waitFor();
    await page.getByText("trunkline init").waitFor();
    expect(stage.faults).toEqual([]);
  });
});
