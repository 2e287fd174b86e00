// A client of the gateway starts the sign-in to an upstream server, if it can open a page.
import { Client, type ClientOptions } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { browse } from "../servers/browser.js";
import { startServer } from "../servers/start.js";
import { bin, Place } from "./command.js";

let server: Awaited<ReturnType<typeof startServer>>;

beforeAll(async () => {
  server = await startServer("oauth");
});

afterAll(async () => await server[Symbol.asyncDispose]());

type Era = "legacy" | "modern";
type Elicitation = NonNullable<NonNullable<ClientOptions["capabilities"]>["elicitation"]>;

interface Asked {
  readonly mode?: string | undefined;
  readonly url?: string | undefined;
  readonly message: string;
}

/** Connects a client that answers questions with `answer`; by default it opens the page like a person. */
async function connect(place: Place, era: Era, elicitation: Elicitation, answer = open) {
  const asked: Asked[] = [];
  const client = new Client(
    { name: "test", version: "1" },
    {
      capabilities: { elicitation },
      versionNegotiation: { mode: era === "modern" ? { pin: "2026-07-28" } : "legacy" },
    },
  );
  client.setRequestHandler("elicitation/create", async ({ params }) => {
    const question = params as Asked;
    asked.push(question);
    return await answer(question);
  });
  const env = { PATH: process.env.PATH ?? "", HOME: place.home, ...place.env };
  const args = [bin, "serve", "--surface", "both"];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, cwd: place.cwd, env }));
  const call = async (name: string, params: Record<string, unknown>) =>
    JSON.stringify(await client.callTool({ name, arguments: params }));
  const execute = (op: string, params: object = {}) => call("execute", { operations: [{ op, params }] });
  return { asked, call, execute, [Symbol.asyncDispose]: () => client.close() };
}

async function open({ url = "" }: Asked): Promise<{ action: "accept" | "decline" }> {
  await browse(url);
  return { action: "accept" };
}

function newPlace(): Place {
  const entry = { type: "http", url: server.url };
  return new Place({ ".trunkline/mcp.json": { mcpServers: { sec: entry } } }, { TRUNKLINE_TRUST: "all" });
}

describe.each<Era>(["legacy", "modern"])("a %s client", (era) => {
  it("that opens pages signs in by execute, and can use the tools at once", async () => {
    using place = newPlace();
    await using client = await connect(place, era, { url: {} });
    expect(await client.execute("sec.hello", { name: "Ada" })).toContain("Run the operation sec.authenticate");
    expect(await client.execute("sec.authenticate")).toContain("It now has 2 tools.");
    expect(client.asked).toMatchObject([
      { mode: "url", message: expect.stringMatching(/^Trunkline asks: Sign in to "sec"\?/) },
    ]);
    expect(new URL(client.asked[0]?.url ?? "").host).toBe(new URL(server.url).host);
    expect(await client.execute("sec.hello", { name: "Ada" })).toContain("Hello, Ada!");
  });

  it("that opens pages signs in by the tool of the direct surface", async () => {
    using place = newPlace();
    await using client = await connect(place, era, { form: {}, url: {} });
    expect(await client.call("mcp__sec__authenticate", {})).toContain("It now has 2 tools.");
    expect(await client.call("mcp__sec__hello", { name: "Ada" })).toContain("Hello, Ada!");
  });

  it("whose user declines is told so, and can try again", async () => {
    using place = newPlace();
    let declines = 1;
    await using client = await connect(place, era, { url: {} }, async (question) =>
      declines-- > 0 ? { action: "decline" } : await open(question),
    );
    expect(await client.execute("sec.authenticate")).toContain("The user did not sign in");
    expect(await client.execute("sec.authenticate")).toContain("It now has 2 tools.");
  });

  it.each<Record<string, Record<string, never>>>([{ form: {} }, {}])(
    "with only %j is told what the user has to do",
    async (elicitation) => {
      using place = newPlace();
      await using client = await connect(place, era, elicitation);
      for (const answer of [
        await client.execute("sec.authenticate"),
        await client.call("mcp__sec__authenticate", {}),
      ]) {
        expect(answer).toContain("AUTH_REQUIRED");
        expect(answer).toContain("on the machine where Trunkline runs: trunkline auth login sec.");
      }
      expect(client.asked).toEqual([]);
    },
  );
});
