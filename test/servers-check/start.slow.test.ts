// Starting and stopping, which other tests rely on.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { serverPath, startServer } from "../servers/start.js";
import { initialize, post } from "./clients.js";

test("a started server reports its URL and is gone once it is closed", async () => {
  const server = await startServer("hello");
  expect(server.url).toBe(`http://127.0.0.1:${server.port}/mcp`);
  expect((await post(server.url, initialize)).status).toBe(200);
  await server.close();
  await server.close();
  expect(() => process.kill(server.pid, 0)).toThrow("ESRCH");
  expect(await server.exited).toBe(0);
});

test("a server that ignores SIGTERM is killed", async () => {
  const server = await startServer("silent", ["--ignore-sigterm"]);
  await server.close();
  expect(await server.exited).toBeNull();
});

test("a server ends with the process that started it, even if that process is killed", async () => {
  // A killed parent cannot remove its temporary folder, so it gets one that the test removes.
  const TMPDIR = await mkdtemp(join(tmpdir(), "trunkline-start-"));
  const program = `
    const { startServer } = await import(${JSON.stringify(serverPath("start"))});
    process.stdout.write(JSON.stringify(await startServer("silent")));
  `;
  const parent = spawn(process.execPath, ["--input-type=module", "-e", program], {
    env: { ...process.env, TMPDIR },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const { url } = JSON.parse(String((await once(parent.stdout, "data"))[0]));
  const waiting = fetch(url);
  parent.kill("SIGKILL");
  await expect(waiting).rejects.toThrow("fetch failed");
  await rm(TMPDIR, { recursive: true });
});

test("a server that cannot listen rejects with its stderr", async () => {
  const blocker = createServer().listen(0, "127.0.0.1");
  await once(blocker, "listening");
  const address = blocker.address();
  const port = typeof address === "object" && address !== null ? String(address.port) : "";
  await expect(startServer("hello", ["--port", port])).rejects.toThrow("EADDRINUSE");
  blocker.close();
});

test("the fixtures serve hello, a sign-in and a plain echo until interrupted", async () => {
  const child = spawn(process.execPath, [serverPath("fixtures"), "--any-port"], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let printed = "";
  child.stderr.setEncoding("utf8");
  while (!printed.includes("Ctrl-C")) printed += (await once(child.stderr, "data"))[0];
  const urlOf = (about: string) =>
    printed
      .split("\n")
      .find((line) => line.startsWith(`${about}`))
      ?.split(": ")[1] ?? "";
  const http = urlOf("hello over Streamable HTTP");
  expect((await post(http, initialize)).status).toBe(200);
  const stream = await fetch(urlOf("hello over HTTP+SSE"));
  expect(stream.headers.get("content-type")).toContain("text/event-stream");
  await stream.body?.cancel();
  expect((await post(urlOf("hello behind a sign-in"), initialize)).status).toBe(401);
  const echoed = await fetch(new URL("/a?b=c", urlOf("plain HTTP")), {
    method: "POST",
    headers: { "x-sent": "yes" },
    body: "hi",
  });
  expect(await echoed.json()).toMatchObject({
    method: "POST",
    path: "/a?b=c",
    headers: { "x-sent": "yes" },
    body: "hi",
  });
  child.kill("SIGINT");
  const [code] = await once(child, "exit");
  expect(code).toBe(0);
  await expect(post(http, initialize)).rejects.toThrow();
});

test("the compose file runs the fixtures and publishes each of their ports on this machine only", async () => {
  const compose = await readFile(new URL("../../compose.yaml", import.meta.url), "utf8");
  expect(compose).toContain("command: node test/servers/fixtures.js --host 0.0.0.0\n");
  const source = await readFile(serverPath("fixtures"), "utf8");
  const ports = [...source.matchAll(/port: (\d+)/g)].map(([, port]) => port);
  expect(ports).toHaveLength(4);
  const published = [...compose.matchAll(/^ +- "(.+)"/gm)].map(([, mapping]) => mapping);
  expect(published).toEqual(ports.map((port) => `127.0.0.1:${port}:${port}`));
});
