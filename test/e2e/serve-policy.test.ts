// A policy stays in effect while its file is broken.
// @with-broker
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { HANG_MS } from "../support/hang.js";
import { Place, root } from "./command.js";
import { ServedStdio } from "./serve-stdio-client.js";

const hello = { command: process.execPath, args: [join(root, "test", "servers", "hello.js")] };
const TRUSTED = { TRUNKLINE_TRUST: "all" };
const SOON = { timeout: HANG_MS, interval: 50 };
const SETTINGS = "../home/.trunkline/settings.json";

/** Returns an operation's error code, if any. */
async function codeOf(served: ServedStdio, op: string, params: Record<string, unknown>) {
  return (await served.execute(op, params)).value.results[0].error?.code;
}

describe("trunkline serve with a settings file that is not JSON", () => {
  it("keeps its policy and servers and says so once", async () => {
    using place = new Place();
    place.write(SETTINGS, { mcpServers: { hello }, policy: { "hello.repeat": "deny" } });
    await using served = await ServedStdio.start(place);
    const repeat = () => codeOf(served, "hello.repeat", { text: "x", count: 2 });
    const greet = () => codeOf(served, "hello.hello", { name: "Ada" });
    expect([await repeat(), await greet()]).toEqual(["DENIED", undefined]);
    place.write(SETTINGS, '{ "mcpServers": ');
    await served.says(/settings\.json:1:\d+ cannot be used: .* its previous content stays in effect/);
    expect([await repeat(), await greet()]).toEqual(["DENIED", undefined]);
    // Another file may change meanwhile.
    place.write(".trunkline/settings.json", { policy: { add: "deny" } });
    await vi.waitFor(async () => expect(await codeOf(served, "add", { content: "x", name: "x" })).toBe("DENIED"), SOON);
    expect([await repeat(), await greet()]).toEqual(["DENIED", undefined]);
    place.write(SETTINGS, { mcpServers: { hello } });
    await vi.waitFor(async () => expect(await repeat()).toBeUndefined(), SOON);
    expect((await served.end()).stderr.match(/cannot be used/g)).toHaveLength(1);
  });

  it("refuses every upstream tool from the start and says which file to fix; the store works", async () => {
    using place = new Place({ ".trunkline/mcp.json": { servers: { hello } } }, TRUSTED);
    const file = place.write(SETTINGS, '{ "policy": { "hello.repeat": "deny" ');
    await using served = await ServedStdio.start(place);
    const { value } = await served.execute("hello.hello", { name: "Ada" });
    expect(value.results[0].error).toMatchObject({
      code: "DENIED",
      hint: expect.stringContaining("home/.trunkline/settings.json"),
    });
    expect(value.results[0].error.hint).toContain("trunkline doctor");
    expect(await codeOf(served, "add", { content: "x", name: "x" })).toBeUndefined();
    await served.says(/settings\.json:1:\d+ cannot be used: .*counts as "deny"/);
    place.write(SETTINGS, "{}");
    await vi.waitFor(async () => expect(await codeOf(served, "hello.hello", { name: "Ada" })).toBeUndefined(), SOON);
    expect(file).toContain("settings.json");
  });

  it("refuses everything if the policy is not an object", async () => {
    using place = new Place({ ".trunkline/mcp.json": { servers: { hello } } }, TRUSTED);
    place.write(SETTINGS, { policy: "deny" });
    await using served = await ServedStdio.start(place);
    for (const [op, params] of [
      ["hello.hello", { name: "Ada" }],
      ["add", { content: "x", name: "x" }],
    ] as const)
      expect(await codeOf(served, op, params)).toBe("DENIED");
    await served.says(/"policy" is .*counts as \{ "\*": "deny" \}/);
  });
});

describe("trunkline serve and its own configuration", () => {
  it("does not let clients write it or read the user's folder", async () => {
    using place = new Place({ "work.json": { servers: {} }, ".git/config": "[core]" });
    place.write(SETTINGS, { policy: {} });
    await using served = await ServedStdio.start(place, ["--mcp", "work.json"]);
    const own = join(place.home, ".trunkline");
    const evil = JSON.stringify({ servers: { evil: { command: "touch", args: ["pwned"] } } });
    for (const name of [
      "plan.md",
      "mcp.json",
      ".trunkline/mcp.json",
      ".trunkline/settings.json",
      "work.json",
      ".git/config",
    ])
      expect(await codeOf(served, "add", { content: evil, name, collection: "evil" })).toBeUndefined();
    for (const output_directory of [".trunkline", own, ".git/hooks", ".Trunkline/deep", "work.json"])
      expect(
        await codeOf(served, "restore", { collection: "evil", output_directory, overwrite: true }),
        output_directory,
      ).toBe("DENIED");
    const { value } = await served.execute("restore", { collection: "evil", output_directory: ".", overwrite: true });
    expect(value.results[0]).toMatchObject({ restored: 1 });
    expect(value.results[0].conflicts).toHaveLength(5);
    expect(await codeOf(served, "add", { path: join(own, "settings.json") })).toBe("DENIED");
    expect(await codeOf(served, "add", { path: own })).toBe("DENIED");
  });
});
