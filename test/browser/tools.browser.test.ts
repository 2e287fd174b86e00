import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, describe, expect, it } from "vitest";
import { root } from "../e2e/command.js";
import { browserPath, ConsoleStage, closeBrowser, testServer } from "./console-stage.js";

const everything = {
  command: process.execPath,
  args: [join(root, "node_modules/@modelcontextprotocol/server-everything/dist/index.js"), "stdio"],
};

afterAll(closeBrowser);

function rows(page: Page) {
  return page.getByRole("listbox", { name: "Tools" }).getByRole("option");
}

/** The row of a tool. */
function row(page: Page, name: string) {
  return rows(page).filter({ hasText: name });
}

/** The details of the chosen tool. */
function details(page: Page, name: string) {
  return page.getByRole("region", { name });
}

async function call(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Call", exact: true }).click();
}

/** A stage with a server that has these tools. Rewriting them has them listed again after a call of `announce`. */
function stageWithTools(tools: readonly object[], servers: Readonly<Record<string, object>> = {}) {
  const stage = new ConsoleStage();
  const path = join(stage.place.home, "definitions.json");
  const write = (list: readonly object[]) => writeFileSync(path, JSON.stringify({ tools: list }));
  write(tools);
  const calls = join(stage.place.home, "calls.txt");
  stage.configure({ shop: testServer("changing", "--definitions", path, "--calls", calls), ...servers });
  return { stage, write };
}

const ANY = { type: "object", properties: {} };

describe.skipIf(browserPath === undefined)("the page Tools", () => {
  it("finds a tool by what it does, checks what is entered, and shows the result", async () => {
    await using stage = new ConsoleStage({ servers: { everything } });
    const page = await stage.open("tools");
    await row(page, "everything.echo").waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("add two numbers");
    await page.getByText("best first").waitFor();
    const first = rows(page).first();
    await expect.poll(() => first.textContent()).toContain("get-sum(a: number, b: number)");
    await first.click();
    const tool = details(page, "everything.get-sum");
    await tool.getByLabel("a *").fill("two");
    await call(page);
    await tool.getByText("It must be a number, such as 3.14.").waitFor();
    await tool.getByText("This is required.").waitFor();
    await tool.getByLabel("a *").fill("2");
    await tool.getByLabel("b *").fill("40");
    await page.keyboard.press("Enter");
    await tool.getByText("The sum of 2 and 40 is 42.").waitFor();
    await tool.getByText("Done").waitFor();
    await tool.getByText(/^\d+ whenever it is listed$/).waitFor();
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await tool.getByRole("button", { name: "Copy command" }).click();
    await tool.getByText("Copied").waitFor();
    const command = await page.evaluate<string>("navigator.clipboard.readText()");
    expect(command).toBe("trunkline call everything.get-sum a:=2 b:=40");
    expect(await stage.run(...command.split(" ").slice(1))).toContain("42");
    // The form and its result stay while the person looks at something else.
    await row(page, "everything.get-sum").waitFor();
    await page.keyboard.press("Escape");
    await tool.waitFor({ state: "detached" });
    await rows(page).first().click();
    await tool.getByText("The sum of 2 and 40 is 42.").waitFor();
    expect(stage.faults).toEqual([]);
  });

  it("shows images, structured content and links, and fetches nothing", async () => {
    await using stage = new ConsoleStage({ servers: { everything } });
    const page = await stage.open("tools?tool=everything.get-tiny-image");
    await row(page, "everything.echo").waitFor();
    const requests: string[] = [];
    page.on("request", (request) => requests.push(request.url()));
    await call(page);
    const image = page.locator(".tool-result img");
    await image.waitFor();
    await expect
      .poll(() => image.evaluate((element: unknown) => (element as { naturalWidth: number }).naturalWidth))
      .toBeGreaterThan(0);

    await row(page, "everything.get-structured-content").click();
    await page.getByLabel("location *").selectOption("Chicago");
    await call(page);
    await page.getByText("temperature:").waitFor();
    await page.locator("figcaption").filter({ hasText: "Structured content" }).waitFor();
    expect(await page.getByText("Text with JSON").count()).toBe(0);

    await row(page, "everything.get-resource-links").click();
    await call(page);
    await page.getByText("Link to a resource").first().waitFor();
    expect(await page.locator(".tool-result a").count()).toBe(0);

    await row(page, "everything.get-annotated-message").click();
    await page.getByLabel("messageType *").selectOption("error");
    await page.getByLabel("includeImage").check();
    await call(page);
    await page.getByText("for user and assistant, priority 1").waitFor();
    await expect.poll(() => page.locator(".tool-result img").count()).toBe(1);
    const own = new URL(page.url()).origin;
    expect(requests.filter((url) => !url.startsWith("data:") && new URL(url).origin !== own)).toEqual([]);
    expect(stage.faults).toEqual([]);
  });

  it("shows why a call failed, and calls a tool that may destroy something only after a second click", async () => {
    const { stage: opened } = stageWithTools(
      [
        { name: "wipe", description: "Removes everything.", inputSchema: ANY, annotations: { destructiveHint: true } },
        { name: "keep", description: "Keeps everything.", inputSchema: ANY, annotations: { readOnlyHint: true } },
      ],
      { everything },
    );
    await using stage = opened;
    // As the page Servers links to the tools of a server.
    const page = await stage.open("tools?find=shop");
    await expect.poll(() => page.getByLabel("Server", { exact: true }).inputValue()).toBe("shop");
    await expect.poll(() => rows(page).count()).toBe(2);
    await page.getByLabel("Server", { exact: true }).selectOption("All servers");
    await row(page, "everything.get-sum").click();
    await page.getByRole("button", { name: "Edit as JSON" }).click();
    const json = page.getByLabel("The arguments as JSON");
    await json.fill("{");
    await call(page);
    await page.getByText("This is not valid JSON.").waitFor();
    await json.fill('{"a": "x", "b": 2}');
    await call(page);
    await page.getByText("Failed", { exact: true }).waitFor();
    await page
      .locator(".tool-result .failed")
      .getByText(/expected number/i)
      .waitFor();

    await row(page, "shop.keep").getByText("Read-only").waitFor();
    await row(page, "shop.wipe").getByText("Destructive").waitFor();
    await row(page, "shop.wipe").click();
    await call(page);
    await page.getByText("Call it anyway?").waitFor();
    expect(await page.locator(".tool-result").count()).toBe(0);
    await page.getByRole("button", { name: "Yes, call it" }).click();
    await page.locator(".tool-result .code").getByText("wipe").waitFor();
    expect(stage.faults).toEqual([]);
  });

  it("lists the tools of a server again when they change", async () => {
    const announce = { name: "announce", description: "Says that the list has changed.", inputSchema: ANY };
    const { stage: opened, write } = stageWithTools([announce]);
    await using stage = opened;
    const page = await stage.open("tools?tool=shop.announce");
    await row(page, "shop.announce").waitFor();
    write([announce, { name: "later", description: "Came later.", inputSchema: ANY }]);
    await call(page);
    await row(page, "shop.later").waitFor();
    expect(stage.faults).toEqual([]);
  });

  it("shows whatever a server says as text", async () => {
    const script = "<img src=x onerror='window.isHacked=true'><script>window.isHacked=true</script>";
    const { stage: opened } = stageWithTools(
      [
        {
          name: "markup",
          title: script,
          description: `${script}\n[click](javascript:alert(1))`,
          inputSchema: {
            type: "object",
            properties: { field: { type: "string", title: script, description: script, enum: [script, "b"] } },
          },
        },
        { name: "escapes", description: "\u001b[31mred\u001b[0m \u202egnp.exe\u2066", inputSchema: ANY },
        {
          name: "huge",
          description: "y".repeat(1_000_000),
          inputSchema: { type: "object", description: "z".repeat(1_000_000) },
        },
      ],
      { everything },
    );
    await using stage = opened;
    const page = await stage.open("tools?tool=shop.markup");
    const markup = details(page, "shop.markup");
    await markup.getByText("[click](javascript:alert(1))").waitFor();
    expect(await markup.locator("img, script, a[href^=javascript]").count()).toBe(0);
    await row(page, "shop.escapes").getByText("⟨001b⟩[31mred⟨001b⟩[0m ⟨202e⟩gnp.exe⟨2066⟩").waitFor();
    await row(page, "shop.huge").click();
    const huge = details(page, "shop.huge");
    await huge.getByText(/Show more \(998,500 characters\)/).waitFor();
    expect((await huge.innerText()).length).toBeLessThan(20_000);

    await row(page, "everything.echo").click();
    await page.getByLabel("message *").fill(script);
    await call(page);
    await page.locator(".tool-result .code").getByText(`Echo: ${script}`).waitFor();
    expect(await page.locator(".tool-result img, .tool-result script").count()).toBe(0);
    expect(await page.evaluate("window.isHacked")).toBeUndefined();
    expect(stage.faults).toEqual([]);
  });

  it("stays fluid with ten thousand tools", async () => {
    const many = testServer("paging", "--pages", "10", "--per-page", "1000");
    await using stage = new ConsoleStage({ servers: { many } });
    const page = await stage.open("tools");
    await page.getByText("10,000 tools of 1 server").waitFor();
    expect(await rows(page).count()).toBeLessThan(60);
    await page.getByRole("listbox", { name: "Tools" }).focus();
    await page.keyboard.press("End");
    await details(page, "many.tool_10000").waitFor();
    for (let presses = 0; presses < 20; presses++) await page.keyboard.press("ArrowUp");
    await details(page, "many.tool_9980").waitFor();
    expect(await row(page, "many.tool_9980").isVisible()).toBe(true);
    expect(await rows(page).count()).toBeLessThan(60);
    await page.getByRole("button", { name: "Tokens" }).click();
    await expect.poll(() => rows(page).first().textContent()).toMatch(/\d\d$/);
    expect(stage.faults).toEqual([]);
  });

  it("says that a call waits for an answer, keeps it while the person is elsewhere, and can stop it", async () => {
    await using stage = new ConsoleStage({ servers: { asking: testServer("asking") } });
    const page = await stage.open("tools?tool=asking.ask_form");
    await row(page, "asking.ask_form").waitFor();
    await call(page);
    await page.getByText("The call waits for an answer from you.").waitFor();
    await page.getByRole("link", { name: "Answer it in Questions" }).click();
    await expect.poll(() => page.url()).toContain("#/questions");
    await page.goBack();
    await page.getByText("The call waits for an answer from you.").waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText("You stopped this call.").waitFor();
    await page.getByTitle(/waiting for you/).waitFor({ state: "detached" });
    expect(stage.faults).toEqual([]);
  });
});
