// The page when its broker goes away, and who may use it.
import { createServer } from "node:http";
import { afterAll, describe, expect, it } from "vitest";
import { isRunning } from "../broker/windows.js";
import { AskedClient } from "./asked-client.js";
import { browserPath, ConsoleStage, closeBrowser, testServer } from "./console-stage.js";

afterAll(closeBrowser);

describe.skipIf(browserPath === undefined)("the console", () => {
  it("comes back by itself after the broker was killed, without a new link", async () => {
    await using stage = new ConsoleStage({ servers: { hello: testServer("hello") } });
    // A window is open, whose relay starts the next broker.
    const window = stage.place.startProcess(["serve"]);
    window.stdin?.write(
      `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "editor", version: "1" } } })}\n`,
    );
    const page = await stage.open();
    const first = stage.broker;
    process.kill(first, "SIGKILL");
    await page.getByText("Reconnecting").waitFor();
    await page.getByText(/^Live/).waitFor();
    expect(stage.broker).not.toBe(first);
    // It answers requests again.
    await page.evaluate("location.hash = '#/settings'");
    await page.getByRole("heading", { name: "Settings", level: 1 }).waitFor();
    const workspaces = page.getByLabel("Workspace");
    await expect.poll(() => workspaces.inputValue()).not.toBe("");
    window.kill();
    expect(stage.faults).toEqual([]);
  });

  it("says what to do if no broker comes back, and follows a new one on its port", async () => {
    await using stage = new ConsoleStage();
    const page = await stage.open();
    process.kill(stage.broker, "SIGKILL");
    await page.getByText("Trunkline does not answer").waitFor();
    expect(await page.getByText("trunkline console", { exact: true }).isVisible()).toBe(true);
    await stage.link();
    await page.getByText(/^Live/).waitFor();
    await expect.poll(() => page.getByText("Trunkline does not answer").count()).toBe(0);
  });

  it("moves to the next broker at once, although the old one still finishes a call", async () => {
    await using stage = new ConsoleStage({ servers: { asking: testServer("asking") } });
    await using client = await AskedClient.start(stage, "legacy", "cursor");
    const page = await stage.open();
    const before = stage.broker;
    // Waits for an answer that does not come.
    client.call("mcp__asking__ask_form", { question: "Which size?" }).catch(() => {});
    await page.getByTitle("1 question waiting for you").waitFor();
    await stage.run("broker", "restart");
    const shownPid = async () => {
      const title = await page.getByTitle(/^The broker, pid \d+$/).getAttribute("title");
      return Number(/\d+$/.exec(title ?? "")?.[0]);
    };
    await expect.poll(shownPid).not.toBe(before);
    expect(isRunning(before)).toBe(true);
    await page.getByText(/^Live/).waitFor();
  });

  it("sends its token to no other program on its port", async () => {
    await using stage = new ConsoleStage();
    const page = await stage.open();
    const port = Number(new URL(page.url()).port);
    await stage.run("broker", "stop");
    const heard: string[] = [];
    const impostor = createServer((request, response) => {
      heard.push(String(request.headers.authorization ?? ""));
      response.setHeader("content-type", "application/json").end(JSON.stringify({ proof: "0".repeat(64) }));
    });
    await new Promise<void>((resolve) => impostor.listen(port, "127.0.0.1", resolve));
    try {
      await page.getByText("This tab is not signed in").waitFor();
      expect(heard.length).toBeGreaterThan(0);
      expect(heard.every((header) => header === "")).toBe(true);
    } finally {
      impostor.closeAllConnections();
      await new Promise((resolve) => impostor.close(resolve));
    }
  });

  it("opens once for each link, and keeps its token out of other tabs", async () => {
    await using stage = new ConsoleStage();
    const link = await stage.link();
    const page = await stage.tab();
    await page.goto(link);
    await page.getByText(/^Live/).waitFor();
    // Neither the address nor the history has the code.
    expect(page.url()).not.toContain("code");
    await page.reload();
    await page.getByText(/^Live/).waitFor();
    const other = await page.context().newPage();
    await other.goto(link);
    await other.getByText("This tab is not signed in").waitFor();
  });
});
