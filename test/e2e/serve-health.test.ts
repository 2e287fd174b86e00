// What operators see of `trunkline serve --http`.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { modern } from "../../packages/gateway/test/endpoints/http-client.js";
import { Place } from "./command.js";
import { testServer } from "./server-entries.js";

const PATIENCE = { timeout: 30_000, interval: 100 };

let place: Place;

beforeEach(() => {
  place = new Place(
    { ".trunkline/mcp.json": { mcpServers: { hello: testServer("hello") } } },
    { TRUNKLINE_TRUST: "all" },
  );
});

afterEach(() => place[Symbol.dispose]());

async function serve(...args: string[]) {
  const running = place.start(["serve", "--http", "--port", "0", ...args]);
  let printed = "";
  running.stderr?.on("data", (chunk) => {
    printed += String(chunk);
  });
  const closed = new Promise<number | null>((resolve) => running.once("close", resolve));
  onTestFinished(async () => {
    running.kill();
    await closed;
  });
  await vi.waitFor(() => expect(printed).toContain("Ctrl-C stops it"), PATIENCE);
  const url = /listening at (\S+)/.exec(printed)?.[1] ?? "";
  const headers = { authorization: `Bearer ${/Bearer (tkl_[\w-]+)/.exec(printed)?.[1]}` };
  const page = (path: string) => fetch(new URL(path, url), { headers });
  return { url, headers, page, printed: () => printed };
}

describe("trunkline serve --http", () => {
  it("counts calls, errors and servers", async () => {
    const { url, headers, page } = await serve();
    expect((await page("/healthz")).status).toBe(200);
    // The first look opens the store.
    await vi.waitFor(async () => expect(await (await page("/readyz")).text()).toBe("ready\n"), PATIENCE);
    const run = async (op: string) =>
      await modern(url, "tools/call", { name: "execute", arguments: { operations: [{ op }] } }, { headers });
    await run("hello.hello");
    await run("hello.hello");
    await run("hello.missing");
    const text = await (await page("/metrics")).text();
    expect(text).toContain('trunkline_calls_total{operation="hello.hello",outcome="ok"} 2\n');
    expect(text).toMatch(/^trunkline_calls_total\{operation="[^"]+",outcome="error"\} 1$/m);
    expect(text).toContain('trunkline_servers{state="connected"} 1\n');
    expect(text).toContain("trunkline_ready 1\n");
    expect(text).toContain("trunkline_store_up 1\n");
    expect(text).toMatch(/^trunkline_http_requests \d+$/m);
    expect(text).toContain("trunkline_http_sessions 0\n");
    expect(text).toContain("trunkline_draining 0\n");
    expect(text).toMatch(/^process_resident_memory_bytes \d{7,}$/m);
  });

  it("is not ready if its configuration is broken, names no file, and becomes ready when it is fixed", async () => {
    const file = join(place.cwd, ".trunkline", "mcp.json");
    writeFileSync(file, "{ broken");
    const { page } = await serve();
    await vi.waitFor(async () => {
      const response = await page("/readyz");
      expect(response.status).toBe(503);
      expect(await response.text()).toBe("The configuration cannot be used. `trunkline doctor` says why.\n");
    }, PATIENCE);
    rmSync(file);
    await vi.waitFor(async () => expect((await page("/readyz")).status).toBe(200), PATIENCE);
  });

  it("is not ready if its store cannot be opened", async () => {
    place.write("store", "not a store");
    const { page, printed } = await serve("--store", "store", "--log-level", "warn");
    const response = await page("/readyz");
    expect(response.status).toBe(503);
    expect(await response.text()).toBe("The store cannot be reached.\n");
    expect((await page("/healthz")).status).toBe(200);
    await page("/readyz");
    await vi.waitFor(() => expect(printed()).toContain("the store cannot be reached"), PATIENCE);
    expect(printed().match(/the store cannot be reached/g)).toHaveLength(1);
  });

  it("drains only over HTTP", async () => {
    const { code, stderr } = await place.run(["serve", "--drain", "5"]);
    expect(code).toBe(2);
    expect(stderr).toContain("--drain needs --http");
  });
});
