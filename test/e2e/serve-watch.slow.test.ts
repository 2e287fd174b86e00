// `serve --watch` and its session in the store.
// @with-broker
import { describe, expect, it, vi } from "vitest";
import { HANG_MS } from "../support/hang.js";
import { outcomeOf, Place, seen } from "./command.js";
import { ServedStdio } from "./serve-stdio-client.js";
import { json } from "./store-support.js";

const SOON = { timeout: HANG_MS, interval: 50 };

describe.concurrent("the session of serve --watch", () => {
  it.each([undefined, "SIGTERM", "SIGINT"] as const)("is closed when the server ends (%s)", async (signal) => {
    using place = new Place({ "src/a.md": "apples" });
    const served = await ServedStdio.start(place, ["--watch", "src"]);
    const total = async () => (await served.query("list", { paths_only: true })).value.total;
    await vi.waitFor(async () => expect(await total()).toBe(1), SOON);
    place.write("src/b.md", "pears");
    await vi.waitFor(async () => expect(await total()).toBe(2), SOON);
    expect(await served.end(signal)).toEqual({ code: signal === "SIGINT" ? 130 : 0, stderr: "" });
    expect(await json(place, ["sessions"])).toMatchObject({
      total: 1,
      sessions: [{ label: "serve --watch", stopped: expect.any(String), documents: 2 }],
    });
  });

  it("is closed when a server over HTTP ends", async () => {
    using place = new Place({ "src/a.md": "apples" });
    const server = place.start(["serve", "--http", "--port", "0", "--watch", "src"]);
    const ended = outcomeOf(server);
    await seen(server.stderr, /listening at [\s\S]*Ctrl-C/);
    await vi.waitFor(async () => expect(await json(place, ["list"])).toMatchObject({ total: 1 }), SOON);
    server.kill("SIGTERM");
    expect((await ended).code).toBe(0);
    expect(await json(place, ["sessions"])).toMatchObject({ sessions: [{ stopped: expect.any(String) }] });
  });

  it("is closed even if the client leaves while the folder is being added", async () => {
    const files = Array.from({ length: 300 }, (_, number) => [`src/${number}.md`, `number ${number}`]);
    using place = new Place(Object.fromEntries(files));
    const served = await ServedStdio.start(place, ["--watch", "src"]);
    await vi.waitFor(async () => expect(await json(place, ["sessions"])).toMatchObject({ total: 1 }), SOON);
    expect(await served.end()).toEqual({ code: 0, stderr: "" });
    expect(await json(place, ["sessions"])).toMatchObject({ sessions: [{ stopped: expect.any(String) }] });
  });
});
