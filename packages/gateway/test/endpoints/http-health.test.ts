import { request as httpRequest } from "node:http";
import { describe, expect, it, onTestFinished } from "vitest";
import type { HealthSource } from "../../src/endpoints/http.js";
import { callModern, startHttp, textOf } from "./http-client.js";

function source(problems: string[] = []): HealthSource & { looked: number } {
  return {
    looked: 0,
    async problems() {
      this.looked += 1;
      return problems;
    },
    metrics: async () => "calls 3\n",
  };
}

const page = (url: string, path: string, init: RequestInit = {}) => fetch(new URL(path, url), init);

describe("the pages for operators", () => {
  it("say that the process is alive and ready, without a token", async () => {
    const { url } = await startHttp({ health: source(), token: "s3cret" });
    for (const [path, text] of [
      ["/healthz", "ok\n"],
      ["/readyz", "ready\n"],
      ["/readyz?verbose", "ready\n"],
    ] as const) {
      const response = await page(url, path);
      expect(response.status).toBe(200);
      expect(await response.text()).toBe(text);
      expect(response.headers.get("cache-control")).toBe("no-store");
    }
    expect((await page(url, "/healthz", { method: "HEAD" })).status).toBe(200);
  });

  it("say why the process is not ready, while it stays alive", async () => {
    const { url } = await startHttp({ health: source(["The store cannot be reached."]) });
    const response = await page(url, "/readyz");
    expect(response.status).toBe(503);
    expect(await response.text()).toBe("The store cannot be reached.\n");
    expect((await page(url, "/healthz")).status).toBe(200);
  });

  it("show figures only with the token", async () => {
    const { url } = await startHttp({ health: source(), token: "s3cret" });
    const refused = await page(url, "/metrics");
    expect(refused.status).toBe(401);
    expect(await refused.text()).not.toContain("calls");
    const response = await page(url, "/metrics", { headers: { authorization: "Bearer s3cret" } });
    expect(response.headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(await response.text()).toBe("calls 3\n");
  });

  it("are looked up once for a flood of probes", async () => {
    const health = source();
    const { url } = await startHttp({ health });
    await Promise.all(Array.from({ length: 50 }, () => page(url, "/readyz")));
    expect(health.looked).toBeLessThan(10);
  });

  it("can only be read", async () => {
    const { url } = await startHttp({ health: source() });
    for (const path of ["/healthz", "/readyz", "/metrics"]) {
      const response = await page(url, path, { method: "POST", body: "x" });
      expect(response.status).toBe(405);
      expect(response.headers.get("allow")).toBe("GET, HEAD");
    }
  });

  it("reject pages of other sites and foreign host names", async () => {
    const { url } = await startHttp({ health: source() });
    expect((await page(url, "/readyz", { headers: { origin: "https://evil.example" } })).status).toBe(403);
    const status = await new Promise((resolve, reject) => {
      httpRequest(new URL("/metrics", url), { headers: { host: "evil.example" } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on("error", reject)
        .end();
    });
    expect(status).toBe(403);
  });

  it("do not exist unless they are asked for", async () => {
    const { url } = await startHttp();
    expect((await page(url, "/healthz")).status).toBe(404);
  });
});

describe("an endpoint that is closed with time to drain", () => {
  it("says that it is not ready and goes on answering", async () => {
    let stop = () => {};
    const drained = new Promise<void>((resolve) => {
      stop = resolve;
    });
    onTestFinished(() => stop());
    const { url, close } = await startHttp({ health: source(), drain: () => drained });
    expect((await page(url, "/readyz")).status).toBe(200);
    const closing = close();
    const response = await page(url, "/readyz");
    expect(response.status).toBe(503);
    expect(await response.text()).toBe("The server is stopping.\n");
    expect((await page(url, "/healthz")).status).toBe(200);
    const call = await callModern(url, "echo", { text: "late" });
    expect(textOf(call)).toBe("late");
    // The client opens its next connection elsewhere.
    expect(call.headers.get("connection")).toBe("close");
    stop();
    await closing;
    await expect(page(url, "/healthz")).rejects.toThrow();
  });

  it("then rejects requests without running them until its calls have finished", async () => {
    let stop = () => {};
    const refused = new Promise<void>((resolve) => {
      stop = resolve;
    });
    onTestFinished(() => stop());
    const { url, close, service } = await startHttp({ health: source(), refuse: () => refused });
    const closing = close();
    const large = JSON.stringify({ text: "x".repeat(1_000_000) });
    for (const body of ["{}", large]) {
      const response = await page(url, "/mcp", { method: "POST", body });
      expect([response.status, response.headers.get("connection")]).toEqual([503, "close"]);
    }
    expect((await page(url, "/readyz")).status).toBe(503);
    expect(service.started).toEqual([]);
    stop();
    await closing;
    await expect(page(url, "/healthz")).rejects.toThrow();
  });
});
