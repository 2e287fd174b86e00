import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { recordedBrokers } from "../../packages/daemon/src/relay/index.js";
import { isAlive, Place, root } from "../e2e/command.js";
import { ServedStdio } from "../e2e/serve-stdio-client.js";

describe("a client whose broker is killed", () => {
  it("goes on in its own process if no other broker can be started", async () => {
    using place = new Place({}, { TRUNKLINE_BROKER: "on" });
    const home = join(place.home, ".trunkline");
    mkdirSync(home);
    const hello = { command: process.execPath, args: [join(root, "test", "servers", "hello.js")] };
    writeFileSync(join(home, "settings.json"), JSON.stringify({ mcpServers: { hello } }));
    const served = await ServedStdio.startProcess(place);
    const call = () => served.execute("hello.hello", { name: "Ada" });
    const before = await call();
    expect(JSON.stringify(before.value.results)).toContain("Ada");
    const run = join(home, "run");
    const [broker = 0] = recordedBrokers(join(run, "broker.groups")).map(({ pid }) => pid);
    // A folder where the lock would be: no broker can be started.
    mkdirSync(join(run, "broker.lock"));
    process.kill(broker, "SIGKILL");
    await served.says(/^trunkline: working without the broker: /m);
    expect((await call()).value.results).toEqual(before.value.results);
    expect(await served.end()).toMatchObject({ code: 0 });
    expect(isAlive(broker)).toBe(false);
  });
});
