import { beforeAll, describe, expect, it } from "vitest";
import { outcomeOf } from "../e2e/command.js";
import { type Answer, isRunning, User, type Window } from "./windows.js";

type Part = "broker" | "relay" | "server" | "client";
const PARTS: readonly Part[] = ["broker", "relay", "server", "client"];

function orders(parts: readonly Part[]): Part[][] {
  if (parts.length === 0) return [[]];
  return parts.flatMap((first) => orders(parts.filter((part) => part !== first)).map((rest) => [first, ...rest]));
}

/** Whether a call was answered, or failed with an error that says that it was lost. */
function isHonest({ result, error }: Answer, text: string): boolean {
  if (error !== undefined) return error.data?.code === "SERVER_EXITED";
  return result?.isError === true || result?.content?.[0]?.text === text;
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    // The death of another part has ended it.
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

describe("kill -9 of the broker", () => {
  it("leaves no server when the last window closes at the same moment", async () => {
    await using user = new User();
    user.configure({ ledger: user.ledger("--stubborn") });
    const window = await user.greet();
    const before = [user.broker, await window.server()];
    process.kill(user.broker, "SIGKILL");
    expect(await window.close()).toBe(0);
    await expect.poll(() => before.filter(isRunning)).toEqual([]);
    // Only a new broker, if the window noticed before it closed. It may not have recorded itself yet.
    await expect.poll(() => user.processes.filter((pid) => !user.brokers.includes(pid))).toEqual([]);
  });

  it("leaves no server when a command was the only user", async () => {
    await using user = new User();
    user.configure({ ledger: user.ledger("--stubborn") });
    const call = user.place.startProcess(["call", "ledger.spend", "key=a"]);
    const ended = outcomeOf(call);
    await expect.poll(() => user.written).toEqual(["spend a"]);
    process.kill(user.broker, "SIGKILL");
    const { code, stderr } = await ended;
    expect(stderr).toMatch(/may or may not have taken effect/);
    expect(code).toBe(1);
    await expect.poll(() => user.processes).toEqual([]);
  });
});

describe("kill -9 of a window's parts", () => {
  let user: User;
  let survivor: Window;
  beforeAll(async () => {
    user = new User();
    user.configure({ ledger: user.ledger("--stubborn") });
    survivor = await user.greet();
    return async () => await user[Symbol.asyncDispose]();
  });

  it.each(orders(PARTS).map((order, at) => ({ name: order.join(", "), order, at })))(
    "in the order $name leaves the other window's session and no process",
    async ({ order, at }) => {
      const victim = await user.greet({ asClient: true });
      const server = await victim.server();
      expect(await survivor.server()).toBe(server);
      const pids = { broker: user.broker, relay: await victim.relay(), server, client: victim.pid };
      const running = [
        survivor.call("spend", { key: `b${at}` }),
        survivor.call("look", { key: `b${at}` }),
        victim.call("spend", { key: `a${at}` }),
      ];
      await expect.poll(() => user.written).toContain(`spend a${at}`);
      await expect.poll(() => user.written).toContain(`look b${at}`);
      for (const part of order) kill(pids[part]);
      // The session goes on.
      await expect.poll(async () => await survivor.text("echo", { text: "on" }).catch(() => "")).toMatch(/^on \d+$/);
      expect(await survivor.server()).not.toBe(server);
      await expect.poll(() => Object.values(pids).filter(isRunning)).toEqual([]);
      user.go();
      const [spent, looked] = await Promise.all(running.slice(0, 2));
      expect(isHonest(spent as Answer, `spent b${at}`)).toBe(true);
      expect(isHonest(looked as Answer, `looked b${at}`)).toBe(true);
      if (order[0] === "broker") {
        expect(looked?.result?.content?.[0]?.text).toBe(`looked b${at}`);
        expect(spent?.error).toMatchObject({ data: { retryable: false } });
        expect(spent?.error?.message).toMatch(/may or may not have taken effect/);
      }
      user.stop();
      expect(user.written.filter((line) => line === `spend b${at}`)).toHaveLength(1);
      expect(survivor.strange).toEqual([]);
      // The survivor's relay, the broker, one server and its child.
      await expect.poll(() => user.processes.length).toBe(4);
    },
  );
});
