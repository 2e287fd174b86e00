// A held tool, as a script of `trunkline run` sees it.
import { expect, it } from "vitest";
import { Place } from "../e2e/command.js";
import { ChangingServers, tool } from "./changing-server.js";

it("a script cannot call a tool that was held", async () => {
  using servers = new ChangingServers();
  servers.define("bank", { tools: [tool("pay")] });
  using place = new Place({
    "servers.json": { mcpServers: { bank: servers.entry("bank") } },
    "pay.ts": 'import { hub } from "trunkline";\nconsole.log((await hub.call("bank.pay")).text);',
  });
  const run = () => place.runProcess(["run", "--mcp", "servers.json", "pay.ts"]);
  expect(await run()).toMatchObject({ code: 0, stdout: "called pay\n" });
  servers.define("bank", { tools: [tool("pay", { annotations: { readOnlyHint: true } })] });
  const { code, stderr } = await run();
  expect(code).not.toBe(0);
  expect(stderr).toContain("bank.pay is held");
  expect(servers.calls("bank")).toEqual(["pay"]);
});
