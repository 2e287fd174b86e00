// What a pool says about its servers: who uses them, and why two of one name are not the same one.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ConnectionPool } from "../../src/index.js";
import { stdio } from "../hub/fixtures.js";
import { ManualClock, PoolHubs, pidsOf } from "./fixtures.js";

let hubs: PoolHubs;
beforeEach(() => {
  hubs = new PoolHubs();
});
afterEach(async () => await hubs[Symbol.asyncDispose]());

const { PATH = "" } = process.env;

describe("who uses a server", () => {
  it("is everyone who has called it, until they leave", async () => {
    const hub = await hubs.open(stdio("hello"), { label: "/src/app" });
    const [ada, bob, eve] = [
      { name: "ada", party: {} },
      { name: "bob", party: {} },
      { name: "eve", party: {} },
    ];
    const releases = [ada, bob, eve].map((channel) => hub.holdChannel(channel));
    for (const channel of [ada, bob, ada]) await hub.call("hello.hello", {}, { channel });
    const names = () => hubs.pool.servers().flatMap(({ clients }) => clients);
    expect(names()).toEqual([
      { hub: "/src/app", name: "ada" },
      { hub: "/src/app", name: "bob" },
    ]);
    await releases[0]?.();
    expect(names()).toEqual([{ hub: "/src/app", name: "bob" }]);
  });

  it("is no one whose channel is that of a single call, so that calls leave nothing behind", async () => {
    const hub = await hubs.open(stdio("hello"));
    for (let calls = 0; calls < 20; calls++) await hub.call("hello.hello", {}, { channel: { name: "ada" } });
    expect(hubs.pool.servers().flatMap(({ clients }) => clients)).toEqual([]);
  });

  it("is one client for each process of a server that keeps a state", async () => {
    const hub = await hubs.open(stdio("hello", [], { share: "client" }));
    const channels = ["ada", "bob"].map((name) => ({ name, party: {} }));
    for (const channel of channels) hub.holdChannel(channel);
    for (const channel of channels) await hub.call("hello.hello", {}, { channel });
    expect(hubs.pool.servers()).toMatchObject([
      { clients: [{ name: "ada" }], notShared: 'share is "client"' },
      { clients: [{ name: "bob" }], notShared: 'share is "client"' },
    ]);
  });

  it("says that a server is known to keep a state for each client", async () => {
    await hubs.open(stdio("hello", [], { command: "no-such-playwright", lazy: true }));
    expect(hubs.pool.servers()).toMatchObject([{ notShared: "it keeps state for each client" }]);
  });
});

describe("two servers of one name", () => {
  it.each([
    ["workspaces", {}, { workspace: "v" }, ["workspace"]],
    ["variables", {}, { env: { PATH, LANG: "de" } }, ["$LANG"]],
    ["arguments", { args: ["x"] }, {}, ["command"]],
    ["folders", { cwd: "/" }, {}, ["folder"]],
    ["limits", { callTimeoutMs: 1 }, {}, ["settings"]],
    ["variables of their own", { env: { command: "x", TERM: "vt100" } }, {}, ["$TERM", "$command"]],
  ])("say what is different: %s", async (_, entry, options, expected) => {
    const env = { PATH };
    await hubs.open(stdio("hello", [], { lazy: true }), { env });
    await hubs.open(stdio("hello", [], { lazy: true, ...entry }), { env, ...options });
    expect(hubs.pool.servers().map(({ differs }) => differs)).toEqual([expected, expected]);
  });

  it("are compared with the most similar one", async () => {
    const env = { PATH };
    await hubs.open(stdio("hello", ["x"], { lazy: true }), { env });
    for (const workspace of ["u", "v"]) await hubs.open(stdio("hello", [], { lazy: true }), { env, workspace });
    expect(hubs.pool.servers().map(({ differs }) => differs)).toEqual([
      ["command", "workspace"],
      ["workspace"],
      ["workspace"],
    ]);
  });

  it("are not compared with one that is no longer there", async () => {
    const clock = new ManualClock();
    await using others = new PoolHubs(new ConnectionPool({ clock, idleStopMs: 1_000 }));
    await others.open(stdio("hello"), { workspace: "v" });
    const leaving = await others.open(stdio("hello"));
    clock.advance(1_000);
    await leaving.close();
    expect(others.pool.servers()).toMatchObject([{ state: "idle" }]);
    expect(others.pool.servers()[0]?.differs).toBeUndefined();
  });

  it("are the same one in different terminals", async () => {
    const one = await hubs.open(stdio("hello"), { env: { PATH, TERM: "xterm" } });
    const two = await hubs.open(stdio("hello"), { env: { PATH, TERM: "screen" } });
    const three = await hubs.open(stdio("hello"), { env: { PATH } });
    expect(pidsOf([one, two, three])).toHaveLength(1);
    expect(hubs.pool.servers()[0]?.differs).toBeUndefined();
  });
});
