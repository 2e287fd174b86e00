import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { silentLogger } from "../../packages/core/src/index.js";
import { BrokerServer, brokerPlace, type ClientLink } from "../../packages/daemon/src/index.js";
import { root } from "../e2e/command.js";
import { isRunning, User } from "./windows.js";

const NEW_VERSION = "999.0.0";
const installed = join(root, "packages", "cli");

describe("a newer version", () => {
  let folder: string;
  let newer: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "trunkline-newer-"));
    for (const part of ["bin", "dist"]) cpSync(join(installed, part), join(folder, part), { recursive: true });
    const manifest = JSON.parse(readFileSync(join(installed, "package.json"), "utf8")) as object;
    writeFileSync(join(folder, "package.json"), JSON.stringify({ ...manifest, version: NEW_VERSION }));
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    newer = join(folder, "bin", "trunkline.cjs");
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("takes over the windows of the old one, after their calls", async () => {
    await using user = new User();
    const [busy, ...idle] = await Promise.all(Array.from({ length: 5 }, () => user.greet()));
    if (busy === undefined) throw new Error("no window");
    const old = user.broker;
    const oldServer = await busy.server();
    const spent = busy.text("spend", { key: "a" });
    await expect.poll(() => user.written).toEqual(["spend a"]);
    const first = await user.greet({ entry: newer });
    const server = await first.server();
    expect(server).not.toBe(oldServer);
    // Windows without calls move at once.
    await expect
      .poll(async () => await Promise.all(idle.map((window) => window.server())))
      .toEqual(idle.map(() => server));
    expect(user.brokers).toHaveLength(2);
    expect(isRunning(old)).toBe(true);
    // Nor does a call that the old broker still runs delay others of the same window.
    expect(await busy.text("add", { key: "b" })).toBe("added b");
    user.go();
    expect(await spent).toBe("spent a");
    await expect.poll(() => isRunning(old)).toBe(false);
    await expect.poll(() => isRunning(oldServer)).toBe(false);
    expect(await busy.server()).toBe(server);
    expect(user.written).toEqual(["spend a", "add b"]);
    // The old version was not started again, and its windows did not notice.
    expect(user.starts).toBe(2);
    expect([first, busy, ...idle].map(({ stderr }) => stderr).join("")).toBe("");
    // An old window that opens later uses the new broker.
    const { broker } = user;
    expect(await (await user.greet()).server()).toBe(server);
    expect(user.broker).toBe(broker);
  });

  it("leaves no server if the old broker is killed while it finishes its calls", async () => {
    await using user = new User();
    user.configure({ ledger: user.ledger("--stubborn") });
    const busy = await user.greet();
    const old = user.broker;
    const oldServer = await busy.server();
    const spent = busy.call("spend", { key: "a" });
    await expect.poll(() => user.written).toEqual(["spend a"]);
    const first = await user.greet({ entry: newer });
    const server = await first.server();
    process.kill(old, "SIGKILL");
    expect((await spent).error?.data).toMatchObject({ retryable: false });
    expect(await busy.server()).toBe(server);
    await expect.poll(() => [old, oldServer].filter(isRunning)).toEqual([]);
    // Two relays, the broker, the server and its child.
    await expect.poll(() => user.processes.length).toBe(5);
  });

  it("takes over a window whose call does not end in time", async () => {
    await using user = new User();
    const { version } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8")) as { version: string };
    const links: ClientLink[] = [];
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const old = new BrokerServer({
      place: brokerPlace({ home: user.home }),
      version,
      build: "another@1",
      // Never answers a call.
      host: {
        admit: async () => ({
          isRepeatable: async () => true,
          serve: async (link) => {
            links.push(link);
            link.input.on("data", (line: Buffer) => {
              const { id, method } = JSON.parse(line.toString("utf8").trim() || "{}") as {
                id?: number;
                method?: string;
              };
              if (method === "initialize") link.output.write(`{"jsonrpc":"2.0","id":${id},"result":{}}\n`);
            });
            await ended;
          },
        }),
        run: async () => 1,
        status: async () => ({}),
        close: async () => {},
      },
      logger: silentLogger,
      idleMs: 600_000,
      drainMs: 100,
      onDone: end,
    });
    expect(await old.listen()).toBe(true);
    const window = await user.greet();
    expect(links).toHaveLength(1);
    const [echoed, spent] = [window.text("echo", { text: "a" }), window.call("spend", { key: "a" })];
    const first = await user.greet({ entry: newer });
    await ended;
    expect(await echoed).toBe(`a ${await first.server()}`);
    expect((await spent).error?.data).toMatchObject({ retryable: false });
    expect(user.written).toEqual([]);
  });
});
