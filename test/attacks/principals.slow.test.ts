// Attacks of one client on the data of another: both have a token of their own for the same server.
import type { ContentId, ContentStore } from "@trunkline/core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import {
  type TestService,
  testCaller,
  testExchange,
  testService,
} from "../../packages/gateway/test/service/support.js";
import { clientOf as clientIn, type Raw, SECRET, spill as spillIn } from "./two-clients.js";

let under: TestService;

const clientOf = (principal: string) => clientIn(under, principal);
const spill = (principal: string) => spillIn(under, principal);

/** Gives each test its own service. */
function own(): void {
  beforeEach(() => {
    under = testService([]);
  });

  afterEach(async () => {
    await under[Symbol.asyncDispose]();
  });
}

describe("client B cannot read A's stored result", () => {
  const attempts: Readonly<Record<string, (found: { hash: string; name: string }) => readonly [string, Raw]>> = {
    "list of the collection": () => ["list", { collection: "results" }],
    "list of the stored name of the collection": () => ["list", { collection: "results@alice" }],
    "get by hash": ({ hash }) => ["get", { hash, include_content: true }],
    "get by a part of the hash": ({ hash }) => ["get", { hash: hash.slice(0, 10), include_content: true }],
    "get by name": ({ name }) => ["get", { path: name, include_content: true }],
    "get by the end of the name": () => ["get", { path: "export.md", include_content: true }],
    "get by a document reference": ({ hash, name }) => [
      "get",
      { documents: [{ path: name, hash }], include_content: true },
    ],
    "search everywhere": () => ["search", { query: SECRET }],
    "search in the collection": () => ["search", { query: SECRET, collection: "results" }],
    "search in the content": ({ hash }) => ["search", { query: "private figure", hash }],
    "grep everywhere": () => ["grep", { pattern: "alice-private" }],
    "grep in the collection": () => ["grep", { pattern: "alice-private", collection: "results" }],
    "grep in the content": ({ hash }) => ["grep", { pattern: "alice-private", hash }],
    "grep in a document reference": ({ hash, name }) => [
      "grep",
      { pattern: "alice", documents: [{ path: name, hash }] },
    ],
    "graph by hash": ({ hash }) => ["graph", { hash }],
    "graph by name": () => ["graph", { name: "export.md" }],
    "graph by symbol": () => ["graph", { name: "quarterlyFigures" }],
    "graph of all files": () => ["graph", { list_type: "file" }],
    "graph of all headings": () => ["graph", { list_type: "section" }],
    "graph of the collection": () => ["graph", { node_key: "collection:results", reverse: true }],
    "diff of snapshots": () => ["diff", { from: "alice-snapshot" }],
    "list of a snapshot": () => ["list", { snapshot: "alice-snapshot" }],
    "list of snapshots": () => ["list_snapshots", {}],
  };

  // One store for all ways that only read.
  let found: { hash: string; name: string };

  beforeAll(async () => {
    under = testService([]);
    found = await spill("alice");
    const alice = clientOf("alice");
    await alice.execute("snapshot", { collection: "results", label: "alice-snapshot" });
    await vi.waitFor(async () => {
      expect((await alice.query("graph", { name: "quarterlyFigures" })).isError).toBe(false);
    }, 20_000);
  });

  afterAll(async () => {
    await under[Symbol.asyncDispose]();
  });

  it.each(Object.keys(attempts))("by %s", async (way) => {
    const [op, params] = attempts[way]?.(found) ?? [way, {}];
    const { text } = await clientOf("bob").query(op, params);
    // An error repeats what was asked for.
    const answer = text.replaceAll(/The store has no [^.]*\.md/g, "");
    expect(answer).not.toContain("export.md");
    expect(answer).not.toContain(SECRET);
    expect(answer).not.toMatch(/"label\\?":\\?"alice-snapshot/);
  });

  it("by its resource or its completion", async () => {
    const { hash, name } = found;
    const bob = clientOf("bob");
    for (const uri of [
      `trunkline://blob/${hash}`,
      `trunkline://document/${name}`,
      "trunkline://snapshot/alice-snapshot",
    ]) {
      expect(await bob.read(uri)).toMatch(/not found/i);
    }
    expect(await clientOf("alice").read(`trunkline://blob/${hash}`)).toContain(SECRET);
    const complete = (principal: string, uri: string, value: string) =>
      under.service.handle(
        "completion/complete",
        { ref: { type: "ref/resource", uri }, argument: { name: "x", value } },
        testExchange({ caller: testCaller({ principal }) }),
      );
    expect(JSON.stringify(await complete("alice", "trunkline://blob/{hash}", hash.slice(0, 8)))).toContain(hash);
    expect(JSON.stringify(await complete("bob", "trunkline://blob/{hash}", hash.slice(0, 8)))).not.toContain(hash);
    const subscribe = (principal: string) =>
      under.service.subscribe(`trunkline://document/${name}`, () => {}, { principal });
    await expect(subscribe("bob")).rejects.toThrow(/not found/i);
    await (await subscribe("alice"))();
  });

  it("word by word, as the corrections of a search", async () => {
    // The word is in A's result only, misspelled here.
    const misspelled = { query: "quarterlyFigurse" };
    const own = await clientOf("alice").query("search", { ...misspelled, collection: "results" });
    expect(own.text).toMatch(/"corrections/);
    expect((await clientOf("bob").query("search", misspelled)).text).not.toMatch(/quarterlyFigures/i);
  });

  it("through the port that the server uses, for any operation", async () => {
    const { hash } = found;
    const bob: ContentStore = (await under.store()).viewedBy("bob");
    const id = hash as ContentId;
    expect(await bob.has(id)).toBe(false);
    expect(await bob.resolve(id.slice(0, 8))).toEqual([]);
    await expect(bob.get(id)).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(await (await under.store()).viewedBy("alice").has(id)).toBe(true);
  });
});

describe("client B cannot reach A's stored result", () => {
  own();

  it("by a $hash reference in a pipeline", async () => {
    const { hash } = await spill("alice");
    const step = { op: "add", params: { content: `$hash:${hash}`, name: "stolen.md" } };
    const bob = clientOf("bob");
    expect((await bob.call("execute", { operations: [step] })).isError).toBe(true);
    expect((await bob.query("get", { path: "stolen.md", include_content: true })).text).not.toContain(SECRET);
  });

  it("by restoring it to a folder", async () => {
    await spill("alice");
    const bob = clientOf("bob");
    for (const collection of ["results", "results@alice"]) {
      const params = { collection, output_directory: `${under.folder}/out`, dry_run: true };
      expect((await bob.execute("restore", params)).text).not.toContain("export.md");
    }
  });

  it("by changing, pinning or deleting it", async () => {
    const { hash, name } = await spill("alice");
    const bob = clientOf("bob");
    const { session_id: session } = (await bob.session("start", { label: "b" })).value as { session_id: string };
    expect(session).toBeDefined();
    const refused = [
      await bob.execute("update", { hash, tags: ["mine"] }),
      await bob.execute("update", { name, tags: ["mine"] }),
      await bob.execute("update", { pattern: "**/export.md", tags: ["mine"] }),
      await bob.execute("delete", { name }),
      await bob.execute("delete", { name, collection: "results@alice" }),
      await bob.session("pin", { hash }),
      await bob.session("pin", { path: name }),
    ];
    for (const { text, isError } of refused) {
      expect(isError, text).toBe(true);
      expect(text).not.toContain("AMBIGUOUS");
    }
    expect((await bob.execute("delete", { pattern: "**" })).text).not.toContain("export.md");
    expect((await clientOf("alice").query("get", { path: name, include_content: true })).text).toContain(SECRET);
  });

  it("by writing into A's collection", async () => {
    await spill("alice");
    const bob = clientOf("bob");
    const planted = { content: "planted", name: "alice/export.md" };
    expect((await bob.execute("add", { ...planted, collection: "results@alice" })).isError).toBe(true);
    await bob.execute("add", { ...planted, collection: "results" });
    const read = { path: "alice/export.md", collection: "results", include_content: true };
    expect((await clientOf("alice").query("get", read)).text).toContain(SECRET);
    expect((await bob.query("get", read)).text).toContain("planted");
  });

  it("by undeleting it", async () => {
    const { name } = await spill("alice");
    await clientOf("alice").execute("delete", { name });
    expect((await clientOf("bob").execute("undelete", { name })).isError).toBe(true);
  });

  it("even if B is the stored default token and A is the person at the terminal", async () => {
    const { hash } = await spill("local");
    const bob = clientOf("default");
    expect((await bob.query("get", { hash, include_content: true })).text).not.toContain(SECRET);
    expect((await bob.query("list", { collection: "results" })).text).not.toContain("export.md");
  });
});

describe("client B cannot use A's session", () => {
  own();

  it("by its id, in any operation", async () => {
    const alice = clientOf("alice");
    const { session_id: session } = (await alice.session("start", { label: "plan of alice" })).value as {
      session_id: string;
    };
    await alice.execute("add", { content: "shared", name: "shared.md", session: true });
    const bob = clientOf("bob");
    const refused = [
      await bob.session("stop", { session }),
      await bob.session("pin", { session, path: "shared.md" }),
      await bob.session("watch", { session, paths: ["."] }),
      await bob.execute("add", { content: "x", name: "x.md", session }),
      await bob.query("list", { session }),
    ];
    for (const { isError, text } of refused) expect(isError, text).toBe(true);
    expect((await bob.query("list_sessions")).text).not.toContain("plan of alice");
    // It is still open.
    expect((await alice.session("pin", { path: "shared.md" })).isError).toBe(false);
  });

  it("after a restart, when no process knows whose it was", async () => {
    const alice = clientOf("alice");
    const { session_id: session } = (await alice.session("start", {})).value as { session_id: string };
    const store = await under.store();
    await expect(store.viewedBy("bob").run("resume", { session_id: session }, { client: "bob" })).rejects.toMatchObject(
      { code: "NOT_FOUND" },
    );
    await store.viewedBy("alice").run("resume", { session_id: session }, { client: "alice-2" });
  });
});

describe("client B cannot use A's idempotency key", () => {
  own();

  it("even with the same client name and the same batch", async () => {
    const batch = (content: string) => ({
      operations: [{ op: "add", params: { content, name: "note.md", collection: "results" } }],
      idempotency_key: "daily",
    });
    const first = await clientOf("alice").call("execute", batch("one"));
    expect(first.isError).toBe(false);
    // B's batch runs: it is neither answered with A's result nor refused because of A's key.
    const other = await clientOf("bob").call("execute", batch("two"));
    expect(other.isError, other.text).toBe(false);
    expect((await clientOf("alice").query("get", { path: "note.md", include_content: true })).text).toContain("one");
    // The key still works for A.
    expect((await clientOf("alice").call("execute", batch("other"))).text).toContain("was used for a batch");
  });
});
