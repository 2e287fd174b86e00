// The models `trunkline ask` and `trunkline doctor` use: how one is selected, and what goes over the wire.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Answer, openAi, sse, startProviderServer } from "../../packages/agent/test/provider-server.js";
import { endpointOf, startFakeModel } from "../models/fake-model.js";
import { placeWithServers } from "./agent-support.js";
import { freePort, Place } from "./command.js";

let place: Place;

beforeAll(() => {
  place = placeWithServers();
});

afterAll(() => place[Symbol.dispose]());

describe.each([
  ["openai", "OPENAI_API_KEY"],
  ["anthropic", "ANTHROPIC_API_KEY"],
  ["google", "GEMINI_API_KEY"],
])("a model with the API of %s", (provider, variable) => {
  const KEY = "sk-secret-key-0123456789";
  const run = (url: string, args: readonly string[]) =>
    place.run(["ask", "--provider", provider, "--endpoint", endpointOf({ url }, provider), "--model", "m", ...args], {
      env: { [variable]: KEY },
    });

  it("uses tools and gets its key but cannot print it, with the usage on stderr", async () => {
    await using model = await startFakeModel(
      { calls: [{ name: "everything_get-sum", args: { a: 2, b: 3 } }] },
      { text: `It is 5, and your key ${KEY}.` },
    );
    const { code, stdout, stderr } = await run(model.url, ["--tool", "everything.get-sum", "--usage", "2 + 3?"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "It is 5, and your key <redacted>.\n" });
    expect(stderr).toContain("observation: The sum of 2 and 3 is 5.");
    expect(stderr).toMatch(/usage: \d+ input tokens .*, \d+ output tokens.*, 2 turns, unknown cost/);
    expect(stderr).not.toContain(KEY);
    expect(JSON.stringify(model.requests[0]?.headers)).toContain(KEY);
    expect(JSON.stringify(model.requests[1]?.body)).toContain("<<<tool-output");
  });

  it("ends with exit code 3 if it rejects the key, without showing the key", async () => {
    await using model = await startFakeModel({ status: 401, body: { error: { message: `bad key ${KEY}` } } });
    const { code, stdout, stderr } = await run(model.url, ["x"]);
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
    expect(stderr).toContain("refused the API key");
    expect(stderr).toContain(variable);
    expect(stderr).not.toContain(KEY);
  });

  it("is retried after a rate limit, and cannot stream its key either", async () => {
    await using model = await startFakeModel(
      { status: 429, headers: { "retry-after-ms": "1" } },
      { text: `Your key is ${KEY}, is it not?` },
    );
    const { code, stdout, stderr } = await run(model.url, ["--stream", "x"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "Your key is <redacted>, is it not?\n" });
    expect(stderr).toContain("note:");
    expect(stderr).not.toContain(KEY);
  });
});

describe("a model that is asked for JSON", () => {
  it("cannot print its own key", async () => {
    const KEY = "sk-secret-key-0123456789";
    await using model = await startFakeModel({ text: `{"key": "${KEY}"}` });
    const args = [
      "ask",
      "--provider",
      "openai",
      "--endpoint",
      `${model.url}/v1`,
      "--model",
      "m",
      "--format",
      "json",
      "x",
    ];
    const { stdout, stderr } = await place.run(args, { env: { OPENAI_API_KEY: KEY } });
    expect(JSON.parse(stdout)).toEqual({ key: "<redacted>" });
    expect(stderr).not.toContain(KEY);
  });
});

describe("a broken stream", () => {
  it("starts over and tells the user to ignore what was shown", async () => {
    await using model = await startFakeModel({ cut: "The ans" }, { text: "The answer." });
    const args = ["ask", "--endpoint", `${model.url}/v1`, "--model", "m", "x"];
    const { code, stdout, stderr } = await place.run([...args, "--stream"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "The ans\nThe answer.\n" });
    expect(stderr).toContain("Ignore what was shown of this answer so far.");
  });

  it("leaves no trace on stdout without --stream", async () => {
    await using model = await startFakeModel({ cut: "The ans" }, { text: "The answer." });
    const { stdout } = await place.run(["ask", "--endpoint", `${model.url}/v1`, "--model", "m", "x"]);
    expect(stdout).toBe("The answer.\n");
  });
});

describe("the model to ask", () => {
  it("is chosen by which API key is set", async () => {
    await using model = await startFakeModel({ text: "Hello." });
    const env = { OPENAI_API_KEY: "sk-1234567890", OPENAI_BASE_URL: `${model.url}/v1` };
    expect((await place.run(["ask", "x"], { env })).stdout).toBe("Hello.\n");
    expect(model.requests[0]).toMatchObject({ path: "/v1/chat/completions", body: { model: "gpt-4.1-mini" } });
  });

  it("must be named if several keys are set, unless its name identifies the provider", async () => {
    const env = { OPENAI_API_KEY: "sk-1234567890", ANTHROPIC_API_KEY: "sk-ant-1234567890" };
    const { code, stderr } = await place.run(["ask", "x"], { env });
    expect(code).toBe(2);
    expect(stderr).toContain("There are API keys for openai and anthropic, and no provider is chosen.");
    await using model = await startFakeModel({ text: "Hello." });
    const { stdout } = await place.run(["ask", "--model", "gpt-5", "x"], {
      env: { ...env, OPENAI_BASE_URL: `${model.url}/v1` },
    });
    expect(stdout).toBe("Hello.\n");
  });

  it("comes from TRUNKLINE_PROVIDER, TRUNKLINE_MODEL, TRUNKLINE_ENDPOINT and TRUNKLINE_API_KEY", async () => {
    await using model = await startFakeModel({ text: "Hello." });
    const env = {
      TRUNKLINE_PROVIDER: "anthropic",
      TRUNKLINE_MODEL: "claude-test",
      TRUNKLINE_ENDPOINT: `${model.url}/v1`,
      TRUNKLINE_API_KEY: "key-of-trunkline",
      ANTHROPIC_API_KEY: "key-of-anthropic",
    };
    expect((await place.run(["ask", "x"], { env })).stdout).toBe("Hello.\n");
    expect(model.requests[0]?.body.model).toBe("claude-test");
    expect(model.requests[0]?.headers["x-api-key"]).toBe("key-of-trunkline");
  });

  it("changes with --provider, without settings meant for the other provider", async () => {
    await using model = await startFakeModel({ text: "Hello." });
    const env = {
      TRUNKLINE_PROVIDER: "anthropic",
      TRUNKLINE_MODEL: "claude-test",
      TRUNKLINE_API_KEY: "key-of-anthropic",
      OLLAMA_HOST: model.url.replace("http://", ""),
    };
    const { stdout } = await place.run(["ask", "--provider", "ollama", "--model", "llama3", "x"], { env });
    expect(stdout).toBe("Hello.\n");
    expect(JSON.stringify(model.requests[0])).not.toMatch(/key-of-anthropic|claude-test/);
  });

  it("can be set in .env, but an endpoint from .env never receives a key from the environment", async () => {
    await using model = await startFakeModel({ text: "Hello." }, { text: "Hello." });
    using other = new Place({
      ".env": `TRUNKLINE_ENDPOINT=${model.url}/v1\nTRUNKLINE_MODEL=m\nTRUNKLINE_PROVIDER=openai\n`,
    });
    const env = { OPENAI_API_KEY: "sk-of-the-user" };
    expect((await other.run(["ask", "x"], { env })).stdout).toBe("Hello.\n");
    expect(JSON.stringify(model.requests[0]?.headers)).not.toContain("sk-of-the-user");
    other.write(".env", `TRUNKLINE_ENDPOINT=${model.url}/v1\nTRUNKLINE_MODEL=m\nTRUNKLINE_API_KEY=key-of-the-file\n`);
    await other.run(["ask", "x"], { env });
    expect(model.requests[1]?.headers.authorization).toBe("Bearer key-of-the-file");
  });

  it("defaults to an endpoint's only model, or must be chosen from its list", async () => {
    let ids = ["llama3"];
    const list: Answer = (response) => void response.end(JSON.stringify({ data: ids.map((id) => ({ id })) }));
    await using model = await startProviderServer(list, sse(openAi.text("Hello.")), list);
    const args = ["ask", "--endpoint", `${model.url}/v1`, "x"];
    expect((await place.run(args)).stdout).toBe("Hello.\n");
    expect(model.requests[1]?.body.model).toBe("llama3");
    ids = ["llama3", "qwen3"];
    const { code, stderr } = await place.run(args);
    expect(code).toBe(2);
    expect(stderr).toContain("Available: llama3, qwen3.");
  });

  it("needs a key at its own endpoint: exit code 3 before anything is sent", async () => {
    const { code, stderr } = await place.run(["ask", "--provider", "anthropic", "x"]);
    expect(code).toBe(3);
    expect(stderr).toContain("anthropic needs an API key, and none is set.");
  });

  it("is reported as unreachable if its endpoint cannot be reached", async () => {
    const endpoint = `http://127.0.0.1:${await freePort()}/v1`;
    const { code, stderr } = await place.run(["ask", "--endpoint", endpoint, "--model", "m", "x"], {});
    expect(code).toBe(1);
    expect(stderr).toMatch(/cannot be reached: \w+\. Trying again in /);
  });
});

describe("trunkline doctor", () => {
  it("sends a real request to the configured model", async () => {
    await using model = await startFakeModel({ text: "ok" }, { text: "ok" });
    const env = { TRUNKLINE_ENDPOINT: `${model.url}/v1`, TRUNKLINE_MODEL: "m", TRUNKLINE_API_KEY: "secret-key-42" };
    using empty = new Place({}, env);
    const { stdout } = await empty.run(["doctor", "--format", "json"]);
    expect(JSON.parse(stdout).model).toMatchObject({
      status: "ok",
      provider: "openai-compatible",
      model: "m",
      endpoint: `${model.url}/v1`,
      took_ms: expect.any(Number),
      error: null,
    });
    expect((await empty.run(["doctor"])).stdout).toMatch(/✓ model {2}openai-compatible\/m at http.*\n {4}answered in /);
    expect(stdout).not.toContain("secret-key-42");
  });

  it("says what is missing, and fails", async () => {
    using empty = new Place({}, { TRUNKLINE_PROVIDER: "anthropic" });
    const { code, stdout } = await empty.run(["doctor"]);
    expect(code).toBe(1);
    expect(stdout).toContain("✗ model  anthropic/claude-sonnet-4-5");
    expect(stdout).toContain("next: Set the environment variable ANTHROPIC_API_KEY.");
  });

  it("has no model section if no model is configured", async () => {
    using empty = new Place();
    expect(JSON.parse((await empty.run(["doctor", "--format", "json"])).stdout)).not.toHaveProperty("model");
  });
});
