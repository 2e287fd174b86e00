import { describe, expect, it } from "vitest";
import { SessionServer } from "../../../../test/support/session-server.js";
import { type Hub, openHub } from "../../src/index.js";
import { configOf, http } from "./fixtures.js";

/** Opens and closes a hub of two servers with the same tools, and one that fails. */
async function closedHub(): Promise<Hub> {
  await using one = await new SessionServer().listen();
  await using two = await new SessionServer().listen();
  const hub = await openHub(configOf(http("far", one.url), http("near", two.url), http("off", "http://127.0.0.1:1/")));
  await hub.close();
  return hub;
}

describe("a closed hub", () => {
  const closed = closedHub();

  it.each([
    ["dotted", "far.hello"],
    ["prefixed", "mcp__far__hello"],
    ["hyphenated", "far-hello"],
    ["uri", "mcp://far/hello"],
    ["wire", "far_hello"],
    ["unknown", "nothing.like.this"],
    ["unknown tool of a known server", "far.nothing"],
    ["tool of a server that failed", "off.hello"],
    ["ambiguous", "hello"],
    ["empty", ""],
  ])("rejects a call by name with CLOSED (%s)", async (_, name) => {
    const hub = await closed;
    await expect(hub.call(name)).rejects.toMatchObject({ code: "CLOSED", message: "The hub is closed." });
  });

  it.each<[string, (hub: Hub) => Promise<unknown>]>([
    ["call by key", (hub) => hub.call({ server: "far", tool: "hello" })],
    ["call of an unknown server", (hub) => hub.call({ server: "nothing", tool: "hello" })],
    ["callTool", (hub) => hub.callTool("far", "hello", {})],
    ["findTool", (hub) => hub.findTool("far.hello")],
    ["resolveTool", (hub) => hub.resolveTool("far.hello")],
    ["connect", (hub) => hub.connect()],
    ["connect of one server", (hub) => hub.connect(["far"])],
    ["authenticate", (hub) => hub.authenticate("far")],
    ["resources", (hub) => hub.resources()],
    ["resources of one server", (hub) => hub.resources({ server: "far" })],
    ["resourceTemplates", (hub) => hub.resourceTemplates()],
    ["readResource", (hub) => hub.readResource("far", "test://x")],
    ["readResource of an unknown server", (hub) => hub.readResource("nothing", "test://x")],
    ["subscribe", (hub) => hub.subscribe("far", "test://x", () => {})],
    ["prompts", (hub) => hub.prompts()],
    ["findPrompt", (hub) => hub.findPrompt("greet")],
    ["getPrompt", (hub) => hub.getPrompt("far", "greet")],
    ["complete", (hub) => hub.complete("far", { type: "ref/prompt", name: "greet" }, { name: "a", value: "b" })],
    ["setLogLevel", (hub) => hub.setLogLevel("far", "info")],
    ["ping", (hub) => hub.ping("far")],
    ["request", (hub) => hub.request("far", "tools/list")],
    ["approve", (hub) => hub.approve("far", "hello")],
    ["reload", (hub) => hub.reload(configOf())],
    ["a call in a channel's scope", (hub) => hub.withChannel({}, () => hub.call("far.hello"))],
  ])("rejects %s with CLOSED", async (_, use) => {
    const hub = await closed;
    await expect(use(hub)).rejects.toMatchObject({ code: "CLOSED", message: "The hub is closed." });
  });

  it("rejects a call that was looking for its tool", async () => {
    await using server = await new SessionServer().listen();
    const hub = await openHub(configOf(http("far", server.url, { lazy: true })));
    const call = hub.call("far.hello");
    call.catch(() => {});
    await hub.close();
    await expect(call).rejects.toMatchObject({ code: "CLOSED" });
  });

  it("lists nothing, and can be closed again", async () => {
    const hub = await closed;
    expect(hub.tools()).toEqual([]);
    await hub.close();
  });
});

describe("a timeout of 0", () => {
  it("means the default", async () => {
    await using server = await new SessionServer().listen();
    const entry = http("far", server.url, { connectTimeoutMs: 0, callTimeoutMs: 0 });
    await using hub = await openHub(configOf(entry), { connectLimitMs: 0, signInTimeoutMs: 0 });
    expect(hub.status()[0]?.state).toBe("connected");
    expect((await hub.call("far.hello")).text).toBe("Hello!");
    expect((await hub.call("far.hello", {}, { timeoutMs: 0 })).text).toBe("Hello!");
    expect(await hub.request("far", "tools/list", {}, { timeoutMs: 0 })).toHaveProperty("tools");
  });
});
