// The gateway as users run it: the built command, real clients of every kind in front of it, and test servers of both
// eras behind it.
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serverPath } from "../servers/start.js";
import { textOf } from "../servers-check/clients.js";
import { outcomeOf, Place, seen } from "./command.js";
import { connectPeer, type Kind, type Peer } from "./gateway-clients.js";

const server = (name: string, ...args: string[]) => ({ command: process.execPath, args: [serverPath(name), ...args] });

/** Every server twice: `new…` supports 2026-07-28, `old…` only the revisions before it. */
const servers = {
  newasking: server("asking"),
  oldasking: server("asking", "--legacy-only"),
  newslow: server("slow"),
  oldslow: server("slow", "--legacy-only"),
  newlibrary: server("library"),
  newtasking: server("tasking", "--era", "modern"),
  oldtasking: server("tasking", "--legacy-only"),
  talking: server("talking"),
  crashing: server("crashing"),
  flooding: server("flooding"),
  silent: { ...server("silent"), timeout: 2 },
  strange: server("strange"),
};

const kinds: Kind[] = ["v2 modern", "v2 legacy", "v1"];
const eras = ["new", "old"];

let place: Place;
let child: ReturnType<Place["start"]>;
let url: string;

beforeAll(async () => {
  place = new Place({ "mcp.json": { mcpServers: servers } });
  child = place.start(["--mcp", "mcp.json", "serve", "--http", "--no-token", "--port", "0", "--surface", "direct"]);
  url = (await seen(child.stderr, /listening at (\S+)/))[1] ?? "";
});

afterAll(async () => {
  const ended = outcomeOf(child);
  child.kill("SIGTERM");
  expect((await ended).code).toBe(0);
  place[Symbol.dispose]();
});

function peer(kind: Kind, over: string): Promise<Peer> {
  const args = ["--mcp", "mcp.json", "serve", "--surface", "direct"];
  const env = { PATH: process.env.PATH ?? "", HOME: place.home };
  return connectPeer(kind, over === "http" ? { url } : { args, cwd: place.cwd, env });
}

describe.each(kinds.flatMap((kind) => ["stdio", "http"].map((over) => [kind, over] as const)))(
  "%s over %s",
  (kind, over) => {
    let client: Peer;

    beforeAll(async () => {
      client = await peer(kind, over);
    });
    afterAll(() => client[Symbol.asyncDispose]());

    it.each(eras)("answers questions from an %s server", async (era) => {
      const form = JSON.parse(textOf(await client.call(`mcp__${era}asking__ask_form`, { tag: era })));
      expect(form).toMatchObject({ tag: era, answer: { action: "accept", content: { name: "Ada" } } });
      expect(client.told.questions.at(-1)).toContain(`[${era}]`);
      const many = JSON.parse(textOf(await client.call(`mcp__${era}asking__ask_many`, { count: 3, tag: "m" })));
      expect(many.answers.map(({ content }: { content: { answer: string } }) => content.answer)).toEqual([
        `${era}asking asks: Question 1 of 3 [m]`,
        `${era}asking asks: Question 2 of 3 [m]`,
        `${era}asking asks: Question 3 of 3 [m]`,
      ]);
      const sample = JSON.parse(textOf(await client.call(`mcp__${era}asking__ask_sampling`, { prompt: "hi" })));
      expect(sample.answer).toMatchObject({ model: "test", content: { text: "sampled" } });
      const roots = JSON.parse(textOf(await client.call(`mcp__${era}asking__ask_roots`)));
      expect(roots.answer).toMatchObject({ roots: [{ uri: "file:///folder/of/the/client" }] });
    });

    it.each(eras)("receives progress from an %s server and can cancel a call there", async (era) => {
      const progress: number[] = [];
      await client.call(
        `mcp__${era}slow__wait`,
        { ms: 400, progress_every_ms: 50 },
        { onprogress: (told) => progress.push(told.progress) },
      );
      expect(progress.length).toBeGreaterThan(2);
      expect(progress).toEqual([...progress].sort((a, b) => a - b));
      const count = async () => Number(textOf(await client.call(`mcp__${era}slow__cancelled_count`)));
      const before = await count();
      const controller = new AbortController();
      const call = client.call(
        `mcp__${era}slow__wait`,
        { ms: 60_000, progress_every_ms: 50 },
        { signal: controller.signal, onprogress: () => controller.abort() },
      );
      await expect(call).rejects.toThrow();
      await expect.poll(count).toBe(before + 1);
    });

    it("receives log messages at or above the requested level", async () => {
      await client.setLogLevel("error");
      await client.call("mcp__talking__say", { level: "info", text: `quiet ${kind} ${over}` }, { logLevel: "error" });
      await client.setLogLevel("debug");
      await client.call("mcp__talking__say", { level: "debug", text: `loud ${kind} ${over}` }, { logLevel: "debug" });
      await client.call(
        "mcp__newlibrary__log",
        { level: "info", message: `new ${kind} ${over}` },
        { logLevel: "debug" },
      );
      await expect.poll(() => client.told.logs).toEqual([`loud ${kind} ${over}`, `new ${kind} ${over}`]);
    });

    it("reads resources, gets prompts and completes", async () => {
      expect(await client.readResource("test://notes/seven")).toMatchObject([{ text: "note seven" }]);
      await expect(client.readResource("test://notes/missing")).rejects.toMatchObject({
        // The newer SDK maps the codes of both eras to one error.
        code: kind === "v1" ? -32_002 : -32_602,
      });
      expect(await client.getPrompt("newlibrary.greet", { name: "Ada" })).toMatchObject({
        messages: [{ content: { text: "Hello Ada!" } }, { content: { type: "resource" } }],
      });
      await expect(client.getPrompt("newlibrary.great", {})).rejects.toMatchObject({
        code: -32_602,
        message: expect.stringContaining("newlibrary.greet"),
      });
      expect(await client.complete("newlibrary.greet", "style", "fo")).toEqual(["formal"]);
    });

    it("is notified of a subscribed resource", async () => {
      await client.subscribe("test://notes/today");
      await client.call("mcp__newlibrary__touch");
      await expect.poll(() => client.told.updates).toContain("test://notes/today");
    });

    it("is told which capability a call needs, and that a tool is unknown", async () => {
      await expect(client.call("mcp__newasking__ask_url")).rejects.toMatchObject({
        code: -32_021,
        message: expect.stringContaining("capabilit"),
      });
      await expect(client.call("mcp__crashing__none")).rejects.toMatchObject({ code: -32_602 });
    });

    it.each(eras)("gets an ordinary answer from a tool that requires a task, on an %s server", async (era) => {
      const progress: number[] = [];
      const done = await client.call(
        `mcp__${era}tasking__work`,
        { steps: 3 },
        { onprogress: (told) => progress.push(told.progress) },
      );
      expect(done.isError).not.toBe(true);
      expect(textOf(await client.call(`mcp__${era}tasking__ask`))).toContain("Ada");
    });

    it("is notified when a server is killed, and can call the new process", async () => {
      const pidOf = (result: Record<string, unknown>) => Number(textOf(result).replace("ok ", ""));
      const first = pidOf(await client.call("mcp__crashing__ok"));
      const changes = client.told.listChanges;
      process.kill(first, "SIGKILL");
      await expect.poll(() => client.told.listChanges).toBeGreaterThan(changes);
      await expect.poll(async () => pidOf(await client.call("mcp__crashing__ok"))).toBeGreaterThan(0);
      expect(pidOf(await client.call("mcp__crashing__ok"))).not.toBe(first);
    });

    it("is not blocked by a server that floods, hangs or dies", async () => {
      const others = [
        client.call("mcp__flooding__big", { bytes: 8_000_000 }),
        client.call("mcp__flooding__logs", { count: 5_000 }),
        client.call("mcp__silent__anything").catch((error: unknown) => error),
        client.call("mcp__crashing__crash"),
      ];
      expect(textOf(await client.call("mcp.echo", { message: "still here" }))).toBe("still here");
      expect(textOf(await client.call("mcp__newslow__wait", { ms: 10 }))).toBe("waited 10 ms");
      const [big, logs, , dead] = await Promise.all(others);
      expect(textOf(big as object)).toHaveLength(8_000_000);
      expect(textOf(logs as object)).toBe("sent 5000 log messages");
      expect(JSON.parse(textOf(dead as object)).error.code).toBe("SERVER_EXITED");
    });
  },
);

describe("roots", () => {
  it.each(["v2 legacy", "v1"] as const)(
    "of a %s client, and changes to them, reach a real server that asks on its own",
    async (kind) => {
      using own = new Place({ "argument/c.txt": "c", "one/a.txt": "a", "two/b.txt": "b" });
      const filesystem = createRequire(import.meta.url).resolve(
        "@modelcontextprotocol/server-filesystem/dist/index.js",
      );
      own.write("mcp.json", { mcpServers: { files: { command: process.execPath, args: [filesystem, "argument"] } } });
      const roots = [{ uri: pathToFileURL(join(own.cwd, "one")).href }];
      await using client = await connectPeer(
        kind,
        {
          args: ["--mcp", "mcp.json", "serve", "--surface", "direct"],
          cwd: own.cwd,
          env: { PATH: process.env.PATH ?? "", HOME: own.home },
        },
        { roots },
      );
      const allowed = async () => textOf(await client.call("mcp__files__list_allowed_directories"));
      // Until it gets roots, it works in the folder of its argument.
      await expect.poll(allowed).toContain(join(own.cwd, "one"));
      roots.splice(0, 1, { uri: pathToFileURL(join(own.cwd, "two")).href });
      // The server applies two answers that arrive close together in any order, so it may have to be told again.
      const allowedAfterChange = async () => {
        await client.rootsChanged();
        return await allowed();
      };
      await expect.poll(allowedAfterChange, { interval: 500 }).toContain(join(own.cwd, "two"));
      expect(await allowed()).not.toContain(join(own.cwd, "one"));
    },
  );
});

describe("the composite tools", () => {
  it.each(kinds)("let upstream servers ask a %s client and report progress to it", async (kind) => {
    await using client = await connectPeer(kind, {
      args: ["--mcp", "mcp.json", "serve", "--surface", "composite"],
      cwd: place.cwd,
      env: { PATH: process.env.PATH ?? "", HOME: place.home },
    });
    expect(await client.listTools()).toEqual(["query", "execute", "session"]);
    for (const era of eras) {
      const asked = await client.call("execute", {
        operations: [{ op: `${era}asking.ask_form`, params: { tag: era } }],
      });
      expect(JSON.parse(textOf(asked))).toMatchObject({
        succeeded: 1,
        results: [{ success: true, result: { tag: era, answer: { action: "accept" } } }],
      });
      expect(client.told.questions.at(-1)).toContain(`[${era}]`);
    }
    const progress: number[] = [];
    await client.call(
      "execute",
      { operations: [{ op: "newslow.wait", params: { ms: 300, progress_every_ms: 50 } }] },
      { onprogress: (told) => progress.push(told.progress) },
    );
    expect(progress.length).toBeGreaterThan(1);
    const [status] = await client.readResource("trunkline://status");
    expect(JSON.parse(String(status?.text)).servers).toContainEqual(
      expect.objectContaining({ name: "newasking", state: "connected" }),
    );
    expect(await client.getPrompt("search_codebase", { query: "retry" })).toMatchObject({
      messages: [{ role: "user", content: { text: expect.stringContaining("retry") } }],
    });
  });
});

describe("two concurrent clients", () => {
  it("each get their own questions, even from a server that cannot say which client it asks", async () => {
    await using one = await peer("v2 legacy", "http");
    await using two = await peer("v2 modern", "http");
    const ask = (client: Peer, tag: string) => client.call("mcp__oldasking__ask_many", { count: 3, tag });
    await Promise.all([ask(one, "one"), ask(two, "two"), ask(one, "one"), ask(two, "two")]);
    expect(one.told.questions).toHaveLength(6);
    expect(one.told.questions.every((question) => question.includes("[one]"))).toBe(true);
    expect(two.told.questions).toHaveLength(6);
    expect(two.told.questions.every((question) => question.includes("[two]"))).toBe(true);
  });
});
