// What clients with tokens of their own do every day: nothing is in their way.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type TestService, testService } from "../../packages/gateway/test/service/support.js";
import { clientOf as clientIn, type Raw, SECRET, spill as spillIn } from "./two-clients.js";

describe("everyday use of several clients", () => {
  let under: TestService;
  const clientOf = (principal: string) => clientIn(under, principal);
  const spill = (principal: string) => spillIn(under, principal);

  beforeEach(() => {
    under = testService([]);
  });

  afterEach(async () => {
    await under[Symbol.asyncDispose]();
  });

  it("a document in a collection is shared, also if its content is a result of someone else", async () => {
    const { content } = await spill("alice");
    await clientOf("alice").execute("add", { content, name: "report.md", collection: "shared" });
    const bob = clientOf("bob");
    expect((await bob.query("get", { path: "report.md", include_content: true })).text).toContain(SECRET);
    expect((await bob.query("search", { query: SECRET })).text).toContain("report.md");
    expect((await bob.query("grep", { pattern: "alice-private", count: true })).text).toContain("report.md");
    expect((await bob.query("get", { path: "report.md" })).text).not.toContain("alice/export");
  });

  it("each client reads its own results back in every way, under the name results", async () => {
    const { hash, name } = await spill("alice");
    const alice = clientOf("alice");
    const ways: readonly (readonly [string, Raw])[] = [
      ["list", { collection: "results" }],
      ["get", { hash, include_content: true, lines: "1-3" }],
      ["get", { path: name, lines: "1-3" }],
      ["search", { query: "quarterlyFigures", collection: "results" }],
      ["search", { query: "private", hash }],
      ["grep", { pattern: "alice-private", hash }],
      ["grep", { pattern: "alice-private", collection: "results" }],
      ["graph", { name: "export.md" }],
    ];
    for (const [op, params] of ways) {
      const { text, isError } = await alice.query(op, params);
      expect(isError, `${op} ${text}`).toBe(false);
      expect(text, op).toMatch(/export|alice-private/);
      expect(text, op).not.toContain("results@");
    }
    const listed = (await alice.query("list_collections")).text;
    expect(listed).toContain("results");
    expect(listed).not.toContain("results@");
  });

  it("the person at the terminal sees the results of everyone", async () => {
    const { hash } = await spill("alice");
    const local = clientOf("local");
    expect((await local.query("get", { hash, lines: "1-3" })).text).toContain(SECRET);
    expect((await local.query("list", { collection: "results@alice" })).text).toContain("export.md");
    expect((await local.query("list_collections")).text).toContain("results@alice");
  });

  it("two clients of the same principal share their results", async () => {
    const { hash } = await spill("alice");
    expect((await clientOf("alice").query("get", { hash, lines: "1-3" })).text).toContain(SECRET);
  });
});
