// A person answers in the browser what programs and servers ask.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { hasTerminal, RealTerminal } from "../e2e/terminal.js";
import { startServer } from "../servers/start.js";
import { AskedClient } from "./asked-client.js";
import { browserPath, ConsoleStage, closeBrowser, testServer } from "./console-stage.js";

afterAll(closeBrowser);

describe.skipIf(browserPath === undefined)("the page Questions", () => {
  it("answers a server's form for a legacy client, whose own question is withdrawn", async () => {
    await using stage = new ConsoleStage({ servers: { asking: testServer("asking") } });
    const page = await stage.open("questions");
    await page.getByRole("heading", { name: "Nothing is waiting for you" }).waitFor();
    await using client = await AskedClient.start(stage, "legacy", "cursor");
    const calling = client.call("mcp__asking__ask_form", {
      question: "Which \u202Esize\u001B[31m <b>do</b> you want?",
    });
    const card = page.getByRole("article", { name: /^asking asks, for cursor/ });
    await card.waitFor();
    await expect.poll(() => page.title()).toBe("(1) Questions · Trunkline");
    expect(await card.locator(".said").innerText()).toBe("Which size[31m <b>do</b> you want?");
    await card.getByLabel("Name").fill("Ada");
    await card.getByLabel("Size").selectOption("medium");
    await card.getByLabel("green").check();
    await card.getByRole("button", { name: "Send" }).click();
    const { result } = await calling;
    expect(JSON.parse(result.content[0].text).answer).toEqual({
      action: "accept",
      content: { name: "Ada", size: "medium", agreed: false, colours: ["green"] },
    });
    await page.getByRole("heading", { name: "Nothing is waiting for you" }).waitFor();
    const [asked] = client.received.filter(({ method }) => method === "elicitation/create");
    await expect
      .poll(() => client.received.find(({ method }) => method === "notifications/cancelled")?.params?.requestId)
      .toBe(asked?.id);
    expect(stage.faults).toEqual([]);
  });

  it("answers for a modern client, which gets the result when it repeats its request", async () => {
    await using stage = new ConsoleStage({ servers: { asking: testServer("asking") } });
    const page = await stage.open("questions");
    await using client = await AskedClient.start(stage, "modern", "zed");
    const { result: parked } = await client.call("mcp__asking__ask_many", { count: 2 });
    expect(parked.resultType).toBe("input_required");
    for (const [question, text] of [
      ["Question 1 of 2", "one"],
      ["Question 2 of 2", "two"],
    ] as const) {
      const card = page.getByRole("article").filter({ hasText: question });
      await card.getByLabel("answer").fill(text);
      await card.getByRole("button", { name: "Send" }).click();
      await card.waitFor({ state: "detached" });
    }
    // What the client answers to the first question comes too late, and must not count for anything else.
    const { requestState } = parked;
    const late = { question_1: { action: "accept", content: { answer: "late" } } };
    const { result } = await client.call("mcp__asking__ask_many", { count: 2 }, { requestState, inputResponses: late });
    const answer = (text: string) => ({ action: "accept", content: { answer: text } });
    expect(JSON.parse(result.content[0].text).answers).toEqual([answer("one"), answer("two")]);
    expect(stage.faults).toEqual([]);
  });

  it("asks for an approval with buttons, and goes away when the client answers first", async () => {
    await using stage = new ConsoleStage({
      servers: { library: testServer("library") },
      settings: { policy: { "library.*": "ask" } },
    });
    const page = await stage.open("questions");
    await using client = await AskedClient.start(stage, "legacy", "cursor");
    const { result: listed } = await client.request("tools/list");
    const tool = (listed.tools as { name: string }[]).find(({ name }) => name.startsWith("mcp__library__"))?.name ?? "";
    const card = page.getByRole("article", { name: /^Trunkline asks for your approval, for cursor/ });
    const first = client.call(tool);
    await card.getByText(/Allow library\.\w+ to run\?/).waitFor();
    await card.getByRole("button", { name: "No" }).click();
    expect((await first).result ?? (await first).error).toMatchObject({ isError: true });
    await card.waitFor({ state: "detached" });
    const second = client.call(tool);
    await card.getByRole("button", { name: "Run it" }).click();
    expect(JSON.stringify(await second)).not.toContain("DENIED");
    await card.waitFor({ state: "detached" });
    const third = client.call(tool);
    await card.waitFor();
    const asked = () => client.received.filter(({ method }) => method === "elicitation/create");
    await expect.poll(() => asked().length).toBe(3);
    client.answer(asked()[2]?.id, { action: "decline" });
    await third;
    await page.getByRole("heading", { name: "Nothing is waiting for you" }).waitFor();
    expect(stage.faults).toEqual([]);
  });

  it("tells the second of two pages that a question was already answered", async () => {
    await using stage = new ConsoleStage({ servers: { asking: testServer("asking") } });
    const [one, two] = [await stage.open("questions"), await stage.open("questions")];
    await using client = await AskedClient.start(stage, "legacy", "cursor");
    const calling = client.call("mcp__asking__ask_url", { tag: "v1" });
    for (const page of [one, two]) await page.getByRole("article", { name: /^asking asks you to visit/ }).waitFor();
    await two.getByText("asking.example").first().waitFor();
    // The second page no longer hears of changes.
    await two.route("**/api/questions", () => {});
    await one.getByRole("button", { name: "Decline" }).click();
    expect(JSON.parse((await calling).result.content[0].text)).toEqual({ tag: "v1", answer: { action: "decline" } });
    await two.getByRole("button", { name: "Cancel" }).click();
    await two.getByText("This question is no longer open").waitFor();
    expect(stage.faults).toEqual([]);
  });

  it("approves exactly the project files it shows, and their server then connects", async () => {
    await using stage = new ConsoleStage({
      files: {
        ".trunkline/mcp.json": { mcpServers: { shop: { ...testServer("hello"), env: { MODE: "demo-mode" } } } },
      },
    });
    const page = await stage.open("questions");
    const card = page.getByRole("article", { name: /^A project wants to run something/ });
    await card.getByText("hello.js").waitFor();
    await page
      .getByRole("link", { name: /Questions/ })
      .getByText("1")
      .waitFor();
    // The file changes, and the page has not heard of it when the person approves.
    await page.route("**/api/questions", () => {});
    const other = { command: process.execPath, args: ["-e", "evil()"] };
    stage.place.write(".trunkline/mcp.json", { mcpServers: { shop: other } });
    await card.getByRole("button", { name: "Approve" }).click();
    await page.getByText("Nothing was approved").waitFor();
    expect(await stage.run("trust", "--list", "--json")).toContain("[]");
    await page.unroute("**/api/questions");
    stage.place.write(".trunkline/mcp.json", { mcpServers: { shop: testServer("hello") } });
    await page.reload();
    await card.getByText("hello.js").waitFor();
    await card.getByRole("button", { name: "Approve" }).click();
    await page.getByRole("heading", { name: "Nothing is waiting for you" }).waitFor();
    const trusted = readFileSync(join(stage.home, "trust.json"), "utf8");
    expect(trusted).toContain(join(".trunkline", "mcp.json"));
    await using client = await AskedClient.start(stage, "legacy", "cursor");
    expect(JSON.stringify((await client.call("mcp__shop__hello", { name: "Ada" })).result)).toContain("Hello, Ada");
    expect(stage.faults).toEqual([]);
  });

  it.skipIf(!hasTerminal)("answers for a terminal, whose prompt then closes", async () => {
    await using stage = new ConsoleStage({ servers: { asking: testServer("asking") } });
    const page = await stage.open("questions");
    const terminal = new RealTerminal(stage.place, ["call", "asking.ask_form", "tag=here"]);
    try {
      await terminal.sees("Please fill in the form.");
      const card = page.getByRole("article", { name: /^asking asks, for the terminal in/ });
      await card.getByLabel("Name").fill("Grace");
      await card.getByRole("button", { name: "Send" }).click();
      await terminal.sees("The question was withdrawn.");
      const { code, stdout } = await terminal.end();
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({
        tag: "here",
        answer: { action: "accept", content: { name: "Grace" } },
      });
    } finally {
      await terminal.close();
    }
    await page.getByRole("heading", { name: "Nothing is waiting for you" }).waitFor();
    expect(stage.faults).toEqual([]);
  });

  it("approves a definition that is held", async () => {
    await using stage = new ConsoleStage();
    const [definitions, calls] = ["definitions", "calls"].map((name) => join(stage.place.base, name)) as [
      string,
      string,
    ];
    const define = (annotations: object) => {
      const tool = (name: string, more: object = {}) => ({ name, inputSchema: { type: "object" }, ...more });
      writeFileSync(definitions, JSON.stringify({ tools: [tool("announce"), tool("pay", { annotations })] }));
    };
    define({ destructiveHint: true });
    stage.configure({ bank: testServer("changing", "--definitions", definitions, "--calls", calls) });
    const page = await stage.open("questions");
    await using client = await AskedClient.start(stage, "legacy", "cursor");
    await client.call("mcp__bank__pay");
    define({ readOnlyHint: true });
    await client.call("mcp__bank__announce");
    const card = page.getByRole("article", { name: /^bank has changed the tool pay/ });
    await card.getByText("it now says that it only reads").waitFor();
    expect(await card.locator(".diff .added").innerText()).toContain("readOnlyHint");
    await card.getByRole("button", { name: "Approve this definition" }).click();
    await page.getByRole("heading", { name: "Nothing is waiting for you" }).waitFor();
    expect(await stage.run("tools", "--changes", "--json")).toContain('"held": []');
    expect((await client.call("mcp__bank__pay")).result).toMatchObject({ content: [{ text: "called pay" }] });
    expect(stage.faults).toEqual([]);
  });

  it("shows where a sign-in leads before it opens the page", async () => {
    await using server = await startServer("oauth");
    await using stage = new ConsoleStage({ servers: { wiki: { type: "http", url: server.url } } });
    const page = await stage.open("questions");
    await using client = await AskedClient.start(stage, "legacy", "cursor");
    await client.request("tools/list");
    const card = page.getByRole("article", { name: /^wiki needs a sign-in/ });
    await card.waitFor();
    const { host, origin } = new URL(server.url);
    await page.route("**/api/servers/sign-in", (route) =>
      route.fulfill({ json: { url: `${origin}/test/counts`, host } }),
    );
    await card.getByRole("button", { name: "Sign in" }).click();
    await card.getByText(`The page is at ${host}`).waitFor();
    const opening = page.context().waitForEvent("page");
    await card.getByRole("button", { name: `Open ${host}` }).click();
    const popup = await opening;
    await popup.waitForURL(`${origin}/test/counts`);
    expect(await popup.evaluate("window.opener")).toBeNull();
    await card.getByRole("button", { name: "Not now" }).click();
    await page.getByRole("heading", { name: "Nothing is waiting for you" }).waitFor();
    expect(stage.faults).toEqual([]);
  });
});
