// A client that asks for much and reads nothing, or sends without end, costs the others neither time nor memory.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { testServer } from "../e2e/server-entries.js";
import { BrokerUser } from "./broker-support.js";

const MB = 1024 * 1024;

const line = (message: object) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`;

const initialize = line({
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "greedy", version: "1" } },
});

/** The largest amount of memory that a process has used. */
function peakOf(pid: number): number {
  const [, kilobytes] = /^VmHWM:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) * 1024;
}

describe("a client of the broker", () => {
  it("that reads no answers is not answered further, and no one else notices", async () => {
    using user = new BrokerUser({ mcpServers: { flooding: testServer("flooding"), hello: testServer("hello") } });
    const folder = user.project("p");
    await using other = await user.serve(folder, { args: ["--surface", "direct"] });
    const { pid } = await user.status();
    const greedy = user.start(["serve", "--surface", "direct", "--no-spill"], { cwd: folder });
    greedy.stdout?.pause();
    greedy.stdin?.write(initialize);
    for (let id = 1; id <= 200; id++) {
      const params = { name: "mcp__flooding__big", arguments: { bytes: MB } };
      greedy.stdin?.write(line({ id, method: "tools/call", params }));
    }
    for (let round = 0; round < 30; round++) {
      const { content } = await other.request("tools/call", {
        name: "mcp__hello__hello",
        arguments: { name: `${round}` },
      });
      expect(content[0].text).toBe(`Hello, ${round}!`);
    }
    // The server works in order, so it has worked on everything that the broker took before.
    await other.request("tools/call", { name: "mcp__flooding__big", arguments: { bytes: 1 } });
    expect(peakOf(pid)).toBeLessThan(500 * MB);
    const ended = once(greedy, "exit");
    greedy.kill("SIGKILL");
    await ended;
    expect(await other.request("ping")).toEqual({});
    expect((await user.status()).pid).toBe(pid);
  });

  it("that sends a line without end is told so, and no one else notices", async () => {
    using user = new BrokerUser();
    const folder = user.project("p");
    await using other = await user.serve(folder);
    const { pid } = await user.status();
    const endless = user.start(["serve"], { cwd: folder });
    let said = "";
    endless.stdout?.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
    endless.stdin?.on("error", () => {});
    endless.stdin?.write(initialize);
    const part = "x".repeat(MB);
    for (let sent = 0; sent < 200; sent++) {
      if (endless.stdin?.write(part) === false) await once(endless.stdin, "drain");
    }
    // What follows in the same line is not a message of its own.
    endless.stdin?.write(line({ id: 7, method: "ping" }));
    endless.stdin?.end(line({ id: 8, method: "ping" }));
    await once(endless, "exit");
    expect(said).toContain("longer than");
    expect(said).toContain('"id":8');
    expect(said).not.toContain('"id":7');
    expect(peakOf(pid)).toBeLessThan(900 * MB);
    expect(await other.request("ping")).toEqual({});
    expect((await user.status()).pid).toBe(pid);
  });
});
