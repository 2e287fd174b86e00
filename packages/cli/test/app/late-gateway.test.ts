import { type Gateway, silentLogger, type Team, TrunklineError } from "@trunkline/core";
import { afterEach, describe, expect, it, vi } from "vitest";
import { MemoryTeam } from "../../../gateway/test/protocol/memory-team.js";
import { LateGateway } from "../../src/app/late-gateway.js";

const away = () => Promise.reject(new TrunklineError("STORE_UNAVAILABLE", "away"));

/** A gateway on a store that can be opened when the test says so. */
function open(memory: MemoryTeam, opening: () => Promise<Team | undefined>) {
  const team: Team = { join: async (name) => memory.join(name) };
  let openStore = opening;
  const gateway = new LateGateway({ name: "late", logger: silentLogger, team: () => openStore() });
  const comeBack = () => {
    openStore = async () => team;
  };
  return { gateway, comeBack };
}

const ask = (gateway: Gateway) =>
  gateway.ask("late", Buffer.from("hi"), { signal: new AbortController().signal, onPart: () => {} });

afterEach(() => void vi.useRealTimers());

describe("a gateway whose database is away when it starts", () => {
  it("starts, joins when the database is back, and then serves the others", async () => {
    vi.useFakeTimers();
    const memory = new MemoryTeam();
    const other = memory.join("other");
    const { gateway, comeBack } = open(memory, away);
    await gateway.start();
    gateway.serve(async () => Buffer.from("hello"));
    expect(await ask(other)).toEqual({ kind: "unknown" });
    await expect(gateway.findTask("late.1", "ada")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    comeBack();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await ask(other)).toEqual({ kind: "answer", body: Buffer.from("hello") });
    await gateway.leave();
    expect(await ask(other)).toEqual({ kind: "gone" });
  });

  it("stops trying when it is stopped", async () => {
    vi.useFakeTimers();
    const { gateway, comeBack } = open(new MemoryTeam(), away);
    await gateway.start();
    await gateway.leave();
    comeBack();
    expect(vi.getTimerCount()).toBe(0);
    await expect(gateway.findTask("late.1", "ada")).rejects.toMatchObject({ code: "CLOSED" });
  });
});

describe("a gateway that cannot join", () => {
  it.each([
    ["its name is taken", new TrunklineError("USAGE", "taken")],
    ["the password is wrong", new TrunklineError("STORE_UNAVAILABLE", "refused", { retryable: false })],
  ])("does not start: %s", async (_, problem) => {
    const { gateway } = open(new MemoryTeam(), () => Promise.reject(problem));
    await expect(gateway.start()).rejects.toBe(problem);
    await gateway.leave();
  });
});

describe("a gateway that nothing asked for", () => {
  it("does not open the store", async () => {
    let opened = 0;
    const { gateway } = open(new MemoryTeam(), async () => {
      opened += 1;
      return undefined;
    });
    gateway.serve(async () => undefined);
    await gateway.leave();
    expect(opened).toBe(0);
  });
});
