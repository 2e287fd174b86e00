// Clients that know nothing about several gateways, behind a load balancer.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, it, onTestFinished } from "vitest";
import { openHub } from "../../packages/client/src/index.js";
import { configOf, http } from "../../packages/client/test/hub/fixtures.js";
import type { Message } from "../../packages/gateway/test/endpoints/http-client.js";
import { roundRobin, startBalancer } from "./balancer.js";
import { hasPostgres, needsPostgres } from "./team.js";
import { startGateway, teamDatabase } from "./team-support.js";

const answer = { action: "accept", content: { name: "Ada" } } as const;

describe.skipIf(!hasPostgres)(`behind a load balancer that takes turns${needsPostgres}`, () => {
  const database = teamDatabase();

  async function connect(url: string, mode: "auto" | "legacy") {
    const options = { versionNegotiation: { mode }, capabilities: { elicitation: { form: {} } } };
    const client = new Client({ name: "sdk", version: "2" }, options);
    client.setRequestHandler("elicitation/create", async () => answer);
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    onTestFinished(() => client.close());
    return client;
  }

  it("the SDK's modern client answers questions, whichever gateway gets the answer", async () => {
    const gateways = await Promise.all(["a", "b", "c"].map((name) => startGateway(database.url, name)));
    const { url } = await startBalancer(roundRobin(gateways.map((gateway) => gateway.url)));
    const client = await connect(url, "auto");
    expect(client.getProtocolEra()).toBe("modern");
    for (let round = 0; round < 6; round += 1) {
      const { content } = (await client.callTool({ name: "ask_twice", arguments: {} })) as Message;
      expect(content[0].text).toMatch(/Ada.*Ada/);
    }
  });

  it("the SDK's legacy client gets a 404 at the other gateway and can open a new session", async () => {
    const [a, b] = await Promise.all([startGateway(database.url, "a"), startGateway(database.url, "b")]);
    const balancer = await startBalancer(() => a.url);
    const client = await connect(balancer.url, "legacy");
    const echo = (using: Client) => using.callTool({ name: "echo", arguments: { text: "hi" } });
    expect(await echo(client)).toMatchObject({ content: [{ text: "hi" }] });
    balancer.choose = () => b.url;
    await expect(echo(client)).rejects.toMatchObject({ message: expect.stringContaining("Session not found") });
    expect(await echo(await connect(balancer.url, "legacy"))).toMatchObject({ content: [{ text: "hi" }] });
  });

  it("Trunkline's own client opens a new session by itself", async () => {
    const [a, b] = await Promise.all([startGateway(database.url, "a"), startGateway(database.url, "b")]);
    const balancer = await startBalancer(() => a.url, { legacyOnly: true });
    await using hub = await openHub(configOf(http("team", balancer.url)));
    expect((await hub.call("team.echo", { text: "one" })).text).toBe("one");
    expect(hub.status()[0]?.revision).toBe("2025-11-25");
    balancer.choose = () => b.url;
    expect((await hub.call("team.echo", { text: "two" })).text).toBe("two");
    expect(b.service.exchanges.length).toBeGreaterThan(0);
  });
});
