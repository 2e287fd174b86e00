import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { silentLogger } from "@trunkline/core";
import type { ClientHello, ClientLink } from "@trunkline/daemon";
import { afterEach, describe, expect, it } from "vitest";
import { WarmParts } from "../../src/commands/broker/warm-parts.js";
import { Workspaces } from "../../src/commands/broker/workspace.js";
import { readServeArgs } from "../../src/commands/serve/command.js";

const opened: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of opened.splice(0)) await close();
});

/** Workspaces of one broker, with an empty home. */
async function openWorkspaces({ idleMs = 600_000 } = {}) {
  const userHome = mkdtempSync(join(tmpdir(), "tw-"));
  const home = join(userHome, ".trunkline");
  const parts = new WarmParts(silentLogger);
  const workspaces = new Workspaces({ home, shared: parts, idleMs });
  opened.push(async () => {
    await workspaces.close();
    await parts.close();
  });
  const options = { ...(await readServeArgs([])), mcp: undefined };
  const hello = (env: Record<string, string> = {}): ClientHello => ({
    kind: "client",
    protocol: 1,
    version: "1.0.0",
    build: "code@1",
    pid: 1,
    place: "",
    args: ["serve"],
    cwd: userHome,
    userHome,
    env: { HOME: userHome, ...env },
    generation: 0,
  });
  return { home, workspaces, join: (env?: Record<string, string>) => workspaces.join(hello(env), options), hello };
}

/** A client's connection, and whether it was asked to attach again. */
function link() {
  const input = new PassThrough();
  const state = { input, handOvers: 0 };
  const client: ClientLink = {
    input,
    output: new PassThrough().resume(),
    handover: new AbortController().signal,
    handOver: () => {
      state.handOvers += 1;
    },
    note: () => {},
  };
  return { client, state };
}

describe("the workspaces of a broker", () => {
  it("are shared by clients whose environments differ only in what nothing uses", async () => {
    const { join } = await openWorkspaces();
    const a = await join({ WINDOW: "1" });
    const b = await join({ WINDOW: "2" });
    expect(b.workspace).toBe(a.workspace);
  });

  it("have the configuration as it is when a client joins", async () => {
    const { home, join: joinWorkspace } = await openWorkspaces();
    const names = async () => {
      const { workspace } = await joinWorkspace();
      return (await workspace.app.config()).servers.map(({ name }) => name);
    };
    const write = (...servers: string[]) =>
      writeFileSync(
        join(home, "settings.json"),
        JSON.stringify({ mcpServers: Object.fromEntries(servers.map((name) => [name, { command: "true" }])) }),
      );
    mkdirSync(home);
    expect(await names()).toEqual([]);
    write("first");
    expect(await names()).toEqual(["first"]);
    write("first", "second");
    expect(await names()).toEqual(["first", "second"]);
  });

  it("are parted by a variable that is used, also if it is used only later", async () => {
    const { workspaces, join, hello } = await openWorkspaces();
    const [a, b] = [await join({ TOKEN: "a" }), await join({ TOKEN: "b" })];
    const [first, second] = [link(), link()];
    const serving = [
      a.workspace.serve(hello({ TOKEN: "a" }).env, first.client),
      b.workspace.serve(hello({ TOKEN: "b" }).env, second.client),
    ];
    expect(a.workspace.app.context.env.TOKEN).toBe("a");
    expect([first.state.handOvers, second.state.handOvers]).toEqual([0, 1]);
    const again = await join({ TOKEN: "b" });
    expect(again.workspace).not.toBe(a.workspace);
    expect(again.workspace.app.context.env.TOKEN).toBe("b");
    expect(workspaces.all).toHaveLength(2);
    for (const { state } of [first, second]) state.input.end();
    await Promise.all(serving);
  });

  it("stay open for a client that has joined and is not served yet", async () => {
    const { workspaces, join } = await openWorkspaces({ idleMs: 0 });
    const a = await join();
    const b = await join();
    await a.release();
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(workspaces.all).toEqual([b.workspace]);
    await b.release();
    await expect.poll(() => workspaces.all).toEqual([]);
  });
});
