// A person looks up what is configured, and takes back an approval.
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { AskedClient } from "./asked-client.js";
import { browserPath, ConsoleStage, closeBrowser, testServer } from "./console-stage.js";

afterAll(closeBrowser);

describe.skipIf(browserPath === undefined)("the page Settings", () => {
  it("shows which file says what, a mistake with its line, and how it is fixed", async () => {
    const servers = { hello: testServer("hello") };
    await using stage = new ConsoleStage({ servers, settings: { policy: { "hello.*": "ask", "git.push": "dney" } } });
    const page = await stage.open("settings");
    const problems = page.getByRole("region", { name: "Problems" });
    const file = join(stage.home, "settings.json");
    await problems.getByText('(did you mean "deny"?)').waitFor();
    // Where JSON.stringify has put it.
    await problems.getByText(`${file}:12`).waitFor();
    await page.getByText("1 file, 1 problem").waitFor();
    const rule = page.getByRole("region", { name: "Policy" }).getByRole("row").filter({ hasText: "hello.*" });
    expect(await rule.innerText()).toContain("ask");
    expect(await rule.innerText()).toContain(file);
    const values = page.getByRole("region", { name: "Values" });
    expect(await values.getByRole("row").filter({ hasText: "paths.outside" }).innerText()).toContain("default");
    // There is no display, so the path can be copied.
    await page
      .getByRole("region", { name: "Files" })
      .getByRole("button", { name: `Open ${file}` })
      .click();
    await page.getByRole("region", { name: "Files" }).getByRole("button", { name: "Copy path" }).waitFor();
    stage.configure(servers, { policy: { "git.push": "deny" }, paths: { outside: "deny" } });
    await problems.waitFor({ state: "detached" });
    await values.getByRole("row").filter({ hasText: "paths.outside" }).filter({ hasText: file }).waitFor();
    await page.getByText("Other files are refused.").waitFor();
    expect(stage.faults).toEqual([]);
  });

  it("revokes an approval, and the project's server stops", async () => {
    await using stage = new ConsoleStage({
      files: { ".trunkline/mcp.json": { mcpServers: { shop: testServer("hello") } } },
    });
    await stage.run("trust", "--yes");
    await using client = await AskedClient.start(stage, "legacy", "cursor");
    const greet = async () => JSON.stringify(await client.call("mcp__shop__hello", { name: "Ada" }));
    expect(await greet()).toContain("Hello, Ada");
    const page = await stage.open("settings");
    const file = join(stage.place.cwd, ".trunkline", "mcp.json");
    const approval = page.getByRole("region", { name: "Approvals" }).getByRole("row").filter({ hasText: file });
    await approval.getByRole("button", { name: `Revoke ${file}` }).click();
    await approval.getByRole("button", { name: "Keep" }).click();
    await approval.getByRole("button", { name: `Revoke ${file}` }).click();
    await approval.getByRole("button", { name: `Revoke the approval of ${file}` }).click();
    await page.getByText("Nothing is approved.").waitFor();
    const row = page.getByRole("region", { name: "Files" }).getByRole("row").filter({ hasText: file });
    await row.getByText("not approved").waitFor();
    expect(await greet()).not.toContain("Hello, Ada");
    await expect.poll(() => page.title()).toBe("(1) Settings · Trunkline");
    expect(stage.faults).toEqual([]);
  });
});
