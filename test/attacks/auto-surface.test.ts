// What `--surface auto` lists: it decides how tools are shown, never what may be called, and a server or a client cannot
// use it to show or reach more.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ServerDefinition } from "../../packages/client/src/index.js";
import type { Caller } from "../../packages/gateway/src/interfaces/exchange.js";
import {
  callTool,
  refusalOf,
  type SetUp,
  type TestService,
  testCaller,
  testExchange,
  testService,
  textOf,
} from "../../packages/gateway/test/service/support.js";
import { ChangingServers, tool } from "./changing-server.js";

const OWN = ["query", "execute", "session"];
const READ_ONLY = { annotations: { readOnlyHint: true } };
const CLAUDE_CODE = { name: "claude-code 2.1.42" };

let folder: string;
let servers: ChangingServers;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "trunkline-attack-"));
  servers = new ChangingServers();
});

afterEach(() => {
  servers[Symbol.dispose]();
  rmSync(folder, { recursive: true, force: true });
});

function auto(definitions: readonly ServerDefinition[], options: SetUp = {}): TestService {
  return testService(definitions, { surface: "auto", cacheFolder: folder, hub: { home: servers.home }, ...options });
}

/** Connects the servers, so that their tools are known. */
async function visit(...names: string[]): Promise<void> {
  await using first = auto(names.map((name) => servers.definition(name)));
  for (const target of names) await callTool(first, "query", { steps: [{ op: "describe", params: { target } }] });
}

async function namesFor({ service }: TestService, caller: Caller): Promise<string[]> {
  const { tools } = await service.handle("tools/list", {}, testExchange({ caller }));
  return (tools as { name: string }[]).map(({ name }) => name);
}

describe("a tool whose definition is held", () => {
  it.each([{}, CLAUDE_CODE])(
    "is neither called nor listed for %j, though it was listed before it changed",
    async (client) => {
      servers.define("bank", { tools: [tool("pay")] });
      await visit("bank");
      servers.define("bank", { tools: [tool("pay", READ_ONLY)] });
      await using served = auto([servers.definition("bank")]);
      const caller = testCaller(client);
      await namesFor(served, caller);
      const answer = await callTool(served, "bank_pay", {}, { caller, channel: {} });
      expect(answer.isError).toBe(true);
      expect(textOf(answer)).toContain("DENIED");
      expect(servers.calls("bank")).toEqual([]);
      expect(await namesFor(served, caller)).toEqual([...OWN, "bank_announce"]);
      expect(await namesFor(served, testCaller(client))).toEqual([...OWN, "bank_announce"]);
    },
  );
});

describe("a server that may not run", () => {
  it.each([{ trusted: false }, { disabled: true }])(
    "with %j is not listed from its last connection, nor started",
    async (state) => {
      servers.define("bank", { tools: [tool("pay")] });
      await visit("bank");
      await using served = auto([{ ...servers.definition("bank"), ...state }]);
      for (const caller of [testCaller(), testCaller(CLAUDE_CODE)]) {
        expect(await namesFor(served, caller)).toEqual(OWN);
        expect((await served.service.instructions?.(caller)) ?? "").not.toContain("bank");
      }
      expect(await refusalOf(callTool(served, "bank_pay"))).toMatchObject({
        message: expect.stringContaining("Unknown tool"),
      });
      expect(servers.calls("bank")).toEqual([]);
    },
  );
});

describe("a client that claims to be another", () => {
  it("sees the tools in another form, but may call nothing more", async () => {
    servers.define("bank", { tools: [tool("pay"), tool("balance")] });
    await visit("bank");
    await using served = auto([servers.definition("bank")], { policies: [{ "bank.pay": "deny" }] });
    for (const client of [{}, CLAUDE_CODE, { name: "trunkline" }]) {
      const caller = testCaller(client);
      expect(await namesFor(served, caller)).toEqual([...OWN, "bank_announce", "bank_balance"]);
      expect(textOf(await callTool(served, "bank_pay", {}, { caller }))).toContain("DENIED");
    }
    expect(servers.calls("bank")).toEqual([]);
  });

  it("under ever new names does not change what others see", async () => {
    servers.define("bank", { tools: [tool("balance")] });
    await visit("bank");
    await using served = auto([servers.definition("bank")]);
    const stateless = { era: "modern", revision: "2026-07-28", endpoint: "http", lasting: false } as const;
    const ada = testCaller({ ...stateless, principal: "ada", name: "agent 1" });
    const lasting = testCaller();
    const [first, own] = [await namesFor(served, ada), await namesFor(served, lasting)];
    for (let number = 0; number < 1_200; number++) {
      await namesFor(served, testCaller({ ...stateless, principal: "eve", name: `${"x".repeat(1_000)} ${number}` }));
    }
    expect(await namesFor(served, ada)).toEqual(first);
    expect(await namesFor(served, lasting)).toEqual(own);
  });
});

describe("a server that connects later", () => {
  it.each(["wire", "plain"] as const)("does not take over a listed %s name", async (names) => {
    servers.define("bank_a", { tools: [tool("pay")] });
    servers.define("bank", { tools: [tool(names === "plain" ? "pay" : "a_pay")] });
    await visit("bank_a");
    await using served = auto([servers.definition("bank_a"), servers.definition("bank")], { names });
    const caller = testCaller();
    const name = (await namesFor(served, caller)).find((listed) => listed.endsWith("pay")) ?? "";
    expect(name).toBe(names === "plain" ? "pay" : "bank_a_pay");
    await callTool(served, "query", { steps: [{ op: "describe", params: { target: "bank" } }] }, { caller });
    await callTool(served, name, {}, { caller }).catch(() => {});
    expect(servers.calls("bank")).toEqual([]);
  });
});
