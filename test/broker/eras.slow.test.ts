import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isRunning, User, type Window } from "./windows.js";

const CHANGED = "notifications/prompts/list_changed";
const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "window", version: "1.0" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** Adds prompts, one after the other, each when the window has heard of the last: servers that connect report one, too. */
async function hearsOfPrompts(user: User, window: Window): Promise<void> {
  for (let round = 0; round < 4; round++) {
    window.notifications.length = 0;
    writeFileSync(join(user.home, "prompts", `PROMPT-${process.hrtime.bigint()}.md`), "# A prompt\n");
    await expect.poll(() => window.notifications).toContain(CHANGED);
  }
}

async function killBroker(user: User): Promise<void> {
  const { broker } = user;
  process.kill(broker, "SIGKILL");
  await expect.poll(() => isRunning(broker)).toBe(false);
}

describe("a client whose broker is killed still hears what it subscribed to", () => {
  it("with a handshake", async () => {
    await using user = new User();
    mkdirSync(join(user.home, "prompts"));
    const window = await user.greet();
    await window.request("prompts/list");
    await hearsOfPrompts(user, window);
    await killBroker(user);
    expect(await window.text("echo", { text: "a" })).toMatch(/^a /);
    await hearsOfPrompts(user, window);
    expect(window.strange).toEqual([]);
  });

  it("without one", async () => {
    await using user = new User();
    mkdirSync(join(user.home, "prompts"));
    const window = user.open();
    const listening = window.request("subscriptions/listen", {
      notifications: { promptsListChanged: true },
      _meta: ENVELOPE,
    });
    const echo = () => window.request("tools/call", { name: "echo", arguments: { text: "a" }, _meta: ENVELOPE });
    expect((await echo()).result?.content?.[0]?.text).toMatch(/^a /);
    await hearsOfPrompts(user, window);
    for (let kill = 0; kill < 7; kill++) {
      await killBroker(user);
      expect((await echo()).result?.content?.[0]?.text).toMatch(/^a /);
    }
    await hearsOfPrompts(user, window);
    expect(await Promise.race([listening, "open"])).toBe("open");
    expect(window.strange).toEqual([]);
  });
});
