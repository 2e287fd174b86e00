// One broker, 20 clients in 5 workspaces, servers that all of them share: everything a server says during a call reaches
// the client that made the call, and no other.
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bin } from "../e2e/command.js";
import type { Kind, Peer } from "../e2e/gateway-clients.js";
import { testServer } from "../e2e/server-entries.js";
import { browse } from "../servers/browser.js";
import { startServer } from "../servers/start.js";
import { textOf } from "../servers-check/clients.js";
import { BrokerUser } from "./broker-support.js";

const KINDS: readonly Kind[] = ["v2 modern", "v2 legacy", "v1", "v2 modern"];
const ERAS = ["new", "old"];
const WORKSPACES = 5;
const CALLS_EACH = 10;

const shared = (name: string, ...args: string[]) => ({ ...testServer(name, ...args), share: "user" });

const servers = {
  newasking: shared("asking"),
  oldasking: shared("asking", "--legacy-only"),
  newslow: shared("slow"),
  oldslow: shared("slow", "--legacy-only"),
  newlibrary: shared("library"),
  oldlibrary: shared("library", "--legacy-only"),
  talking: shared("talking"),
  newhello: shared("hello"),
};

let user: BrokerUser;
let clients: { readonly tag: string; readonly peer: Peer }[];

beforeAll(async () => {
  user = new BrokerUser({ mcpServers: servers, policy: { "newhello.repeat": "ask" } });
  const folders = Array.from({ length: WORKSPACES }, (_, at) => user.project(`p${at}`));
  clients = await Promise.all(
    folders.flatMap((folder, at) =>
      KINDS.map(async (kind, number) => ({
        tag: `client-${at}-${number}.`,
        peer: await user.client(kind, folder, { args: ["--surface", "direct", "--ask-wait", "120"] }),
      })),
    ),
  );
});

afterAll(async () => {
  await Promise.all(clients.map(({ peer }) => peer[Symbol.asyncDispose]()));
  user[Symbol.dispose]();
});

/** Which of the tags a text contains. */
const tagsIn = (text: string) => clients.map(({ tag }) => tag).filter((tag) => text.includes(tag));

describe("20 clients in 5 workspaces", () => {
  it("share one broker, and one process of each server", async () => {
    await Promise.all(clients.map(({ peer }) => peer.call("mcp__newhello__hello", { name: "x" })));
    const status = await user.status();
    expect(status.clients).toHaveLength(clients.length);
    const hello = status.servers.filter(({ name }: { name: string }) => name === "newhello");
    expect(hello).toMatchObject([{ share: "user" }]);
    expect(hello[0].clients).toHaveLength(clients.length);
    expect(new Set(hello[0].clients.map(({ folder }: { folder: string }) => folder)).size).toBe(WORKSPACES);
  });

  it("get 200 answers with questions of their own, from servers of both eras", async () => {
    // From its first question on, a legacy server takes one client after the other.
    await clients[0]?.peer.call("mcp__oldasking__ask_form");
    for (const { peer } of clients) peer.told.questions.length = 0;
    const calls = clients.flatMap(({ tag, peer }) =>
      Array.from({ length: CALLS_EACH }, async (_, at) => {
        const tool = `mcp__${ERAS[at % 2]}asking__ask_many`;
        const own = `${tag}${at}`;
        const { answers, tag: told } = JSON.parse(textOf(await peer.call(tool, { count: 2, tag: own })));
        expect(told).toBe(own);
        expect(answers.map(({ content }: { content: { answer: string } }) => content.answer)).toEqual([
          `${ERAS[at % 2]}asking asks: Question 1 of 2 [${own}]`,
          `${ERAS[at % 2]}asking asks: Question 2 of 2 [${own}]`,
        ]);
      }),
    );
    expect(calls).toHaveLength(200);
    await Promise.all(calls);
    for (const { tag, peer } of clients) {
      // A question can be asked again if one of the client's other calls ends meanwhile.
      expect(peer.told.questions.length).toBeGreaterThanOrEqual(2 * CALLS_EACH);
      expect(new Set(peer.told.questions.flatMap(tagsIn))).toEqual(new Set([tag]));
    }
  });

  it("are each asked for approval of their own calls", async () => {
    for (const { peer } of clients) peer.told.questions.length = 0;
    await Promise.all(
      clients.map(async ({ tag, peer }) => {
        const answer = textOf(await peer.call("mcp__newhello__repeat", { text: tag, times: 1 }));
        expect(tagsIn(answer)).toEqual([tag]);
      }),
    );
    for (const { tag, peer } of clients) expect(peer.told.questions.map(tagsIn)).toEqual([[tag]]);
  });

  it("receive the progress of their own calls", async () => {
    // The number of steps tells whose call it was.
    const countOf = (number: number, era: string) => 10 + number * 2 + ERAS.indexOf(era);
    await Promise.all(
      clients.flatMap(({ peer }, number) =>
        ERAS.map((era) =>
          peer.call(`mcp__${era}slow__burst`, { count: countOf(number, era) }, { onprogress: () => {} }),
        ),
      ),
    );
    for (const [number, { peer }] of clients.entries()) {
      for (const era of ERAS) {
        const total = countOf(number, era);
        const own = peer.told.progress.filter((told) => told.total === total).map(({ progress }) => progress);
        expect(own).toEqual(Array.from({ length: total }, (_, at) => at + 1));
      }
      expect(new Set(peer.told.progress.map(({ total }) => total)).size).toBe(ERAS.length);
    }
  });

  it("receive the log messages of their own calls", async () => {
    await Promise.all(clients.map(({ peer }) => peer.setLogLevel("debug")));
    const log = (peer: Peer, server: string, message: string) =>
      peer.call(`mcp__${server}__log`, { level: "info", message }, { logLevel: "debug" });
    for (const { tag, peer } of clients) {
      await log(peer, "newlibrary", `${tag} new`);
      await log(peer, "oldlibrary", `${tag} old`);
    }
    for (const { tag, peer } of clients) {
      await expect.poll(() => peer.told.logs.map(String)).toEqual([`${tag} new`, `${tag} old`]);
    }
    // On stdio a server cannot say for which of several calls it logs. Then no other client hears it.
    await Promise.all(
      clients.flatMap(({ tag, peer }) => ERAS.map((era) => log(peer, `${era}library`, `${tag} together`))),
    );
    for (const { tag, peer } of clients)
      expect(new Set(peer.told.logs.map(String).flatMap(tagsIn))).toEqual(new Set([tag]));
  });

  it("cancel their own calls and no others", async () => {
    const count = async (era: string) =>
      Number(textOf(await (clients[0] as { peer: Peer }).peer.call(`mcp__${era}slow__cancelled_count`)));
    const before = await Promise.all(ERAS.map(count));
    // Every second client gives up as soon as its call is under way.
    const outcomes = await Promise.allSettled(
      clients.flatMap(({ peer }, number) =>
        ERAS.map(async (era) => {
          const controller = new AbortController();
          const gives = number % 2 === 0;
          return await peer.call(
            `mcp__${era}slow__wait`,
            { ms: gives ? 600_000 : 1_000, progress_every_ms: 20 },
            { signal: controller.signal, onprogress: () => gives && controller.abort() },
          );
        }),
      ),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(
      clients.flatMap((_, number) => ERAS.map(() => (number % 2 === 0 ? "rejected" : "fulfilled"))),
    );
    const cancelled = clients.length / 2;
    for (const [at, era] of ERAS.entries()) await expect.poll(() => count(era)).toBe((before[at] ?? 0) + cancelled);
  });

  it("hear of the resources that they have subscribed to", async () => {
    const uriOf = (number: number) => `test://notes/n${number}`;
    await Promise.all(clients.map(({ peer }, number) => peer.subscribe(uriOf(number))));
    // The last client changes everyone's notes.
    const { peer: last } = clients.at(-1) as { peer: Peer };
    for (const number of clients.keys()) await last.call("mcp__newlibrary__touch", { uri: uriOf(number) });
    for (const [number, { peer }] of clients.entries()) {
      await expect.poll(() => [...new Set(peer.told.updates)]).toEqual([uriOf(number)]);
    }
  });
});

describe("a sign-in to a server that three workspaces share", () => {
  /** A client whose user opens pages. */
  async function visitor(own: BrokerUser, cwd: string, era: "legacy" | "modern") {
    const asked: string[] = [];
    const versionNegotiation = { mode: era === "modern" ? { pin: "2026-07-28" } : ("legacy" as const) };
    const client = new Client(
      { name: "visitor", version: "1" },
      { capabilities: { elicitation: { url: {} } }, versionNegotiation },
    );
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      const { url = "" } = params as { url?: string };
      asked.push(url);
      await browse(url);
      return { action: "accept" };
    });
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args: [bin, "serve"], cwd, env: own.env }),
    );
    const execute = async (op: string, params: object = {}) =>
      JSON.stringify(await client.callTool({ name: "execute", arguments: { operations: [{ op, params }] } }));
    return { asked, execute, [Symbol.asyncDispose]: () => client.close() };
  }

  it.each(["legacy", "modern"] as const)("is shown to the %s client that asked for it", async (era) => {
    await using server = await startServer("oauth");
    using own = new BrokerUser({ mcpServers: { sec: { type: "http", url: server.url } } });
    await using one = await visitor(own, own.project("one"), era);
    await using two = await visitor(own, own.project("two"), era);
    await using three = await visitor(own, own.project("three"), era);
    const all = [one, two, three];
    for (const { execute } of all) expect(await execute("sec.hello", { name: "Ada" })).toContain("sec.authenticate");
    expect(await two.execute("sec.authenticate")).toContain("It now has 2 tools.");
    expect(all.map(({ asked }) => asked.length)).toEqual([0, 1, 0]);
    for (const { execute } of all) expect(await execute("sec.hello", { name: "Ada" })).toContain("Hello, Ada!");
    expect(all.map(({ asked }) => asked.length)).toEqual([0, 1, 0]);
  });
});
