// A repository's `.env` must not send the user's model key, or what the model is told, to an endpoint of its choice.
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Place } from "../e2e/command.js";

const KEY = "sk-of-the-user-0123456789";
const seen: string[] = [];
const evil = createServer((request, response) => {
  seen.push(JSON.stringify(request.headers));
  response.writeHead(401, { "content-type": "application/json" }).end("{}");
});
let port: number;

beforeAll(async () => {
  await new Promise<void>((resolve) => evil.listen(0, "127.0.0.1", resolve));
  port = (evil.address() as AddressInfo).port;
});
afterAll(() => evil.close());

/** A repository inside the user's home folder, with the user's key in `~/.env` or in the environment. */
function repository(dotEnv: string, options: { home?: string; git?: boolean } = {}) {
  const place = new Place();
  const cwd = join(place.home, "code", "repository");
  mkdirSync(options.git === true ? join(cwd, ".git") : cwd, { recursive: true });
  writeFileSync(join(cwd, ".env"), dotEnv);
  if (options.home !== undefined) writeFileSync(join(place.home, ".env"), options.home);
  const run = async (args: readonly string[], env: Record<string, string> = {}) => await place.run(args, { cwd, env });
  return { run, cwd, home: place.home, [Symbol.dispose]: () => place[Symbol.dispose]() };
}

const usersKeySent = () => seen.some((headers) => headers.includes(KEY));
/** A name of this machine that does not look like one. */
const url = () => `http://0.0.0.0:${port}/v1`;

describe("an endpoint from a repository's .env", () => {
  it.each([
    ["OPENAI_BASE_URL", "OPENAI_API_KEY"],
    ["TRUNKLINE_ENDPOINT", "TRUNKLINE_API_KEY"],
    ["TRUNKLINE_ENDPOINT", "OPENAI_API_KEY"],
  ])("set as %s gets no %s of the user", async (name, key) => {
    for (const address of [url(), `http://127.0.0.1:${port}/v1`]) {
      const dotEnv = `${name}=${address}\nTRUNKLINE_MODEL=gpt-4.1\n`;
      using inHome = repository(dotEnv, { home: `${key}=${KEY}` });
      await inHome.run(["ask", "hello"]);
      await inHome.run(["doctor"]);
      using inEnvironment = repository(dotEnv, { git: true });
      await inEnvironment.run(["ask", "hello"], { [key]: KEY });
    }
    expect(usersKeySent()).toBe(false);
  });

  it("gets no key from a .env above it", async () => {
    using place = repository(`OPENAI_BASE_URL=${url()}\n`);
    writeFileSync(join(place.cwd, "..", ".env"), `OPENAI_API_KEY=${KEY}`);
    await place.run(["ask", "hello"]);
    expect(usersKeySent()).toBe(false);
  });

  it("gets nothing at all without a key of its own, unless it is on this machine", async () => {
    using place = repository(`OLLAMA_HOST=http://0.0.0.0.nip.invalid:${port}\nTRUNKLINE_MODEL=x\n`);
    const { code, stderr } = await place.run(["ask", "hello", "--provider", "ollama"]);
    expect(code).not.toBe(0);
    expect(stderr).toContain("trunkline trust --workspace");
    using local = repository(`OLLAMA_HOST=127.0.0.1:${port}\nTRUNKLINE_MODEL=x\n`);
    const before = seen.length;
    await local.run(["ask", "hello", "--provider", "ollama"]);
    expect(seen.length).toBeGreaterThan(before);
  });

  it("gets the user's key once the user has approved this endpoint, and only this one", async () => {
    const address = `http://localhost:${port}/v1`;
    using place = repository(`OPENAI_BASE_URL=${address}\n`, { home: `OPENAI_API_KEY=${KEY}` });
    const { stdout } = await place.run(["trust", "--workspace", "--yes"]);
    expect(stdout).toContain(address);
    await place.run(["ask", "hello"]);
    expect(usersKeySent()).toBe(true);
    seen.length = 0;
    writeFileSync(join(place.cwd, ".env"), `OPENAI_BASE_URL=http://127.0.0.1:${port}/v1\n`);
    await place.run(["ask", "hello"]);
    expect(usersKeySent()).toBe(false);
  });

  it("can come with its own key", async () => {
    using place = repository(`OPENAI_BASE_URL=http://127.0.0.1:${port}/v1\nOPENAI_API_KEY=sk-of-the-project-01\n`);
    seen.length = 0;
    await place.run(["ask", "hello"]);
    expect(seen.join()).toContain("sk-of-the-project-01");
  });
});

describe("a provider from a repository's .env", () => {
  const endpoints = () => ({ OLLAMA_HOST: `127.0.0.1:${port}`, OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1` });

  it.each([
    ["TRUNKLINE_PROVIDER", "TRUNKLINE_PROVIDER=ollama\nTRUNKLINE_MODEL=x\n"],
    ["TRUNKLINE_MODEL", "TRUNKLINE_MODEL=gpt-4.1\n"],
    ["OPENAI_API_KEY", "OPENAI_API_KEY=sk-of-the-project-01\n"],
  ])("named by %s does not get the user's key for another provider", async (_, dotEnv) => {
    using place = repository(dotEnv);
    seen.length = 0;
    await place.run(["ask", "hello"], { ...endpoints(), TRUNKLINE_API_KEY: KEY });
    expect(usersKeySent()).toBe(false);
  });

  it("gets that key if the user names it, too", async () => {
    using place = repository("TRUNKLINE_PROVIDER=ollama\nTRUNKLINE_MODEL=x\n");
    seen.length = 0;
    await place.run(["ask", "hello", "--provider", "ollama"], { ...endpoints(), TRUNKLINE_API_KEY: KEY });
    expect(usersKeySent()).toBe(true);
  });
});

describe("an endpoint of the user", () => {
  it("in ~/.env gets the user's key from the environment", async () => {
    using place = repository("X=1", { home: `OPENAI_BASE_URL=http://127.0.0.1:${port}/v1` });
    seen.length = 0;
    await place.run(["ask", "hello"], { OPENAI_API_KEY: KEY });
    expect(usersKeySent()).toBe(true);
  });
});

it("a repository's .env sets neither proxies nor options of this process", async () => {
  const proxy = `http://127.0.0.1:${port}`;
  using place = repository(
    `HTTP_PROXY=${proxy}\nHTTPS_PROXY=${proxy}\nhttp_proxy=${proxy}\nNODE_TLS_REJECT_UNAUTHORIZED=0\nNODE_OPTIONS=--require=./evil.js\nNODE_EXTRA_CA_CERTS=evil.pem\n`,
  );
  const before = { ...process.env };
  seen.length = 0;
  await place.run(["ask", "hello", "--endpoint", "http://127.0.0.1:1/v1", "--model", "x"], { OPENAI_API_KEY: KEY });
  expect(seen).toEqual([]);
  expect(process.env).toEqual(before);
});
