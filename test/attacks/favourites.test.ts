// Favourites decide what an agent sees first. A repository, another workspace or another token must not decide that, and
// being a favourite must not allow anything.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { journalFolder, workspaceKey } from "../../packages/gateway/src/journal/index.js";
import { Place, root } from "../e2e/command.js";
import { ServedStdio } from "../e2e/serve-stdio-client.js";

const OWN = ["query", "execute", "session"];
const DAY_MS = 24 * 60 * 60 * 1000;

/** A project whose server has many tools, and a user who wants few of them listed. */
function project(settings: { project?: object; user?: object } = {}): Place {
  const place = new Place({}, { TRUNKLINE_TRUST: "all" });
  const inputSchema = { type: "object", properties: { text: { type: "string" } } };
  const tools = ["mine", "used", "wanted", "erase"].map((name) => ({
    name,
    description: `Does ${name}.`,
    inputSchema,
  }));
  place.write("docs.json", { tools });
  const args = [join(root, "test", "servers", "changing.js"), "--definitions", join(place.cwd, "docs.json")];
  place.write(".trunkline/mcp.json", {
    mcpServers: { docs: { command: process.execPath, args } },
    ...settings.project,
  });
  const user = { surface: { directTokens: 0 }, ...settings.user };
  mkdirSync(join(place.home, ".trunkline"), { recursive: true });
  writeFileSync(join(place.home, ".trunkline", "settings.json"), JSON.stringify(user));
  return place;
}

interface Line {
  readonly workspace?: string;
  readonly principal?: string;
  readonly outcome?: string;
  readonly client?: string;
}

/** Writes journal lines as if a tool had been called on the last three days. */
function called(place: Place, op: string, more: Line = {}): void {
  const home = join(place.home, ".trunkline");
  const folder = journalFolder(home, join(home, "store"));
  mkdirSync(folder, { recursive: true });
  const fields = { client: "c", op, ms: 1, bytes: 1, outcome: "ok", workspace: workspaceKey(place.cwd), ...more };
  const lines = [1, 2, 3].map((day) => ({ at: new Date(Date.now() - day * DAY_MS).toISOString(), ...fields }));
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  writeFileSync(join(folder, "calls-000001.jsonl"), text, { flag: "a" });
}

/** Lists the tools, once the server's are known. */
async function listed(place: Place): Promise<string[]> {
  await place.run(["tools"]);
  await using served = await ServedStdio.start(place);
  const { tools } = await served.request("tools/list");
  return tools.map(({ name }: { name: string }) => name);
}

describe("favourites", () => {
  it("are what this workspace used", async () => {
    using place = project();
    called(place, "docs.used");
    expect(await listed(place)).toEqual([...OWN, "docs_used"]);
  });

  it("of a project do not crowd out what the user chose or uses", async () => {
    const user = { favourites: ["docs.mine"], surface: { directTokens: 0, favouriteTokens: 80 } };
    using place = project({ user, project: { favourites: ["docs.wanted", "docs.*"] } });
    called(place, "docs.used");
    expect(await listed(place)).toEqual([...OWN, "docs_mine", "docs_used"]);
  });

  it("of a project cost no more than the user's limit, whatever the project says", async () => {
    const surface = { directTokens: 1_000_000, favouriteTokens: 1_000_000, clients: { "*": "direct" } };
    const user = { surface: { directTokens: 0, favouriteTokens: 0 } };
    using place = project({ user, project: { favourites: ["docs.*"], surface } });
    expect(await listed(place)).toEqual(OWN);
  });

  it("are not decided by another workspace, another token, failed calls or a server's news", async () => {
    using place = project();
    called(place, "docs.used", { workspace: workspaceKey(place.home) });
    called(place, "docs.wanted", { principal: "someone" });
    called(place, "docs.mine", { outcome: "error" });
    called(place, "docs.erase", { client: "new definition" });
    expect(await listed(place)).toEqual(OWN);
  });

  it("allow nothing: a denied tool is not listed and does not run", async () => {
    using place = project({ user: { favourites: ["docs.*"], policy: { "docs.erase": "deny" } } });
    called(place, "docs.erase");
    expect(await listed(place)).toEqual([...OWN, "docs_mine", "docs_used", "docs_wanted"]);
    await using served = await ServedStdio.start(place);
    const { isError, content } = await served.request("tools/call", { name: "docs_erase", arguments: {} });
    expect([isError, content[0].text]).toEqual([true, expect.stringContaining("DENIED")]);
  });

  it("survive a journal full of rubbish", async () => {
    using place = project();
    called(place, "docs.used");
    for (const op of ["__proto__.x", "docs.\u001b[2Jmine", `docs.${"x".repeat(5_000)}`, "../../etc.passwd", "."])
      called(place, op);
    const home = join(place.home, ".trunkline");
    const file = join(journalFolder(home, join(home, "store")), "calls-000002.jsonl");
    writeFileSync(file, Buffer.alloc(6 * 1024 * 1024, "{"));
    expect(await listed(place)).toEqual(OWN);
    writeFileSync(file, "{\n[[[[\nnull\n");
    expect(await listed(place)).toEqual([...OWN, "docs_used"]);
  });
});
