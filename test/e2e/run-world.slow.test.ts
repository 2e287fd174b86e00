// What a script can use (`hub`, `store`, `model`, `agent`), and that everything is closed when it ends.
import { execFile } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { startServer } from "../servers/start.js";
import { isAlive, outcomeOf, Place, root, seen } from "./command.js";

const hello = { command: process.execPath, args: [join(root, "test/servers/hello.js")] };
const library = pathToFileURL(join(root, "packages/cli/dist/index.js")).href;

/** Goes before the first call: sets `told` to the server's process id. */
const WATCH_SERVER = `import { subscribe } from "node:diagnostics_channel";
let told: number | undefined;
subscribe("child_process", (message) => setImmediate(() => { told ??= (message as { process: { pid: number } }).process.pid; }));
`;
const PID_OF_HELLO = 'console.log("pid", told);';

describe("the hub of a script", () => {
  it("is opened from --mcp, given before or after run, and closed at the end", async () => {
    using place = new Place({
      "mcp.json": { servers: { hello } },
      "script.ts": `${WATCH_SERVER}import { hub } from "trunkline";\nconsole.log((await hub.call("hello.hello", { name: "Ada" })).text);\n${PID_OF_HELLO}`,
    });
    for (const args of [
      ["--mcp", "mcp.json", "run", "script.ts"],
      ["run", "--mcp", "mcp.json", "script.ts"],
    ]) {
      const { code, stdout, stderr } = await place.runProcess(args);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(stdout).toMatch(/^Hello, Ada!\npid \d+\n$/);
      expect(isAlive(Number(/\d+/.exec(stdout)?.[0]))).toBe(false);
    }
  });

  it("names the tools, and has its calls in the log", async () => {
    using place = new Place({
      "mcp.json": { servers: { hello } },
      "script.ts": `import { hub } from "trunkline";
console.log((await hub.toolNames()).join());
await hub.call("mcp__hello__hello", { name: "Ada" });
await hub.callTool("hello", "repeat", { text: 3 });
await hub.call("hello.nothing").catch(({ code }) => console.log(code));`,
    });
    const { stdout } = await place.runProcess(["run", "--mcp", "mcp.json", "script.ts"]);
    expect(stdout).toBe("mcp__hello__hello,mcp__hello__repeat\nTOOL_NOT_FOUND\n");
    const lines = (await place.run(["log", "--json"])).stdout.trimEnd().split("\n");
    const log = lines.map((line) => JSON.parse(line) as { operation: string; outcome: string });
    expect(log.map(({ operation, outcome }) => `${operation} ${outcome}`).sort()).toEqual([
      "hello.hello ok",
      "hello.repeat error",
    ]);
  });

  it("stays open for a script whose calls are not awaited", async () => {
    using place = new Place({
      "mcp.json": { servers: { hello } },
      "script.ts": `import { hub } from "trunkline";
async function main() {
  for (const name of ["Ada", "Bob"]) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    console.log((await hub.call("hello.hello", { name })).text);
  }
  console.log((await hub.status()).map(({ state }) => state).join());
}
void main();`,
    });
    const outcome = await place.runProcess(["run", "--mcp", "mcp.json", "script.ts"]);
    expect(outcome).toEqual({ code: 0, stdout: "Hello, Ada!\nHello, Bob!\nconnected\n", stderr: "" });
  });

  it.each([
    ["Streamable HTTP", [], "http"],
    ["HTTP+SSE", ["--sse"], "sse"],
  ])("does not prevent the script from ending over %s", async (_name, args, type) => {
    await using server = await startServer("library", args);
    using place = new Place({
      "mcp.json": { servers: { library: { type, url: server.url } } },
      "script.ts": `import { hub } from "trunkline";
console.log((await hub.prompts()).length > 0);
await hub.subscribe("library", "test://notes/today", () => {});
console.log((await hub.tools("library.*")).length > 0);`,
    });
    const outcome = await place.runProcess(["run", "--mcp", "mcp.json", "script.ts"]);
    expect(outcome).toEqual({ code: 0, stdout: "true\ntrue\n", stderr: "" });
  });

  it("warns only about the servers that the script uses", async () => {
    using place = new Place({
      "mcp.json": {
        mcpServers: {
          used: { ...hello, env: { A: "${UNSET_USED}" } },
          other: { ...hello, env: { A: "${UNSET_OTHER}" } },
        },
      },
      "script.ts": 'import { hub } from "trunkline";\nconsole.log((await hub.call("used.hello")).text);',
    });
    const { stdout, stderr } = await place.runProcess(["run", "--mcp", "mcp.json", "script.ts"]);
    expect(stdout).toBe("Hello, world!\n");
    expect(stderr).toContain("UNSET_USED");
    expect(stderr).not.toContain("UNSET_OTHER");
  });

  it("also stays open when the underlying object is used", async () => {
    using place = new Place({
      "mcp.json": { servers: { hello } },
      "script.ts": `import { hub } from "trunkline";
const opened = await hub.open();
await opened.connect();
console.log(opened.tools().length, (await opened.call("hello.hello", { name: "Ada" })).text);`,
    });
    const outcome = await place.runProcess(["run", "--mcp", "mcp.json", "script.ts"]);
    expect(outcome).toEqual({ code: 0, stdout: "2 Hello, Ada!\n", stderr: "" });
  });

  it("starts no server of an unapproved project", async () => {
    using place = new Place({
      ".trunkline/mcp.json": { servers: { hello } },
      "script.ts": `${WATCH_SERVER}import { hub } from "trunkline";\nconsole.log((await hub.status())[0]?.state);\nawait hub.call("hello.hello");`,
    });
    const { code, stdout, stderr } = await place.runProcess(["run", "script.ts"]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "untrusted\n" });
    expect(stderr).toContain("trunkline trust");
  });

  it("is closed on Ctrl-C, along with the store, whatever the script is doing, with exit code 130", async () => {
    using place = new Place({
      "mcp.json": { servers: { hello } },
      "script.ts": `${WATCH_SERVER}import { hub, store } from "trunkline";
await hub.call("hello.hello");
await store.add({ content: "text", name: "a.md" });
${PID_OF_HELLO}
setInterval(() => {}, 1000);
await new Promise((resolve) => setTimeout(resolve, 60_000));`,
    });
    const child = place.startProcess(["run", "--mcp", "mcp.json", "script.ts"], { env: { TRUNKLINE_STORE: "kept" } });
    const [, pid] = await seen(child.stdout, /pid (\d+)\n/);
    child.kill("SIGINT");
    expect(await outcomeOf(child)).toMatchObject({ code: 130, stderr: "" });
    expect(isAlive(Number(pid))).toBe(false);
  });

  it("is closed after an uncaught error", async () => {
    using place = new Place({
      "mcp.json": { servers: { hello } },
      "script.ts": `${WATCH_SERVER}import { hub } from "trunkline";\nawait hub.call("hello.hello");\n${PID_OF_HELLO}\nthrow new Error("no");`,
    });
    const { code, stdout } = await place.runProcess(["run", "--mcp", "mcp.json", "script.ts"]);
    expect(code).toBe(1);
    expect(isAlive(Number(/pid (\d+)/.exec(stdout)?.[1]))).toBe(false);
  });

  it("leaves the first Ctrl-C to a script that listens for it", async () => {
    using place = new Place({
      "script.ts": `const timer = setInterval(() => {}, 1000);
process.on("SIGINT", () => { console.log("tidied"); clearInterval(timer); process.exitCode = 5; });
console.log("ready");`,
    });
    const child = place.startProcess(["run", "script.ts"]);
    await seen(child.stdout, /ready/);
    child.kill("SIGINT");
    expect(await outcomeOf(child)).toMatchObject({ code: 5, stdout: "tidied\n" });
  });
});

describe("the store of a script", () => {
  it("is the one the command uses", async () => {
    using place = new Place({
      "script.ts": `import { store } from "trunkline";
await store.add({ content: "the quick brown fox", name: "fox.md" });
const { results } = await store.search({ query: "fox" });
console.log(results.length, results[0]?.path.endsWith("fox.md"));`,
    });
    const env = { TRUNKLINE_STORE: "kept" };
    expect(await place.runProcess(["run", "script.ts"], { env })).toEqual({ code: 0, stdout: "1 true\n", stderr: "" });
    expect((await place.run(["store", "list", "--paths-only"], { env })).stdout).toMatch(/fox\.md\n$/);
  });
});

describe("models and agents of a script", () => {
  it("come from the environment, and tools from the hub by glob", async () => {
    using place = new Place(
      {
        "mcp.json": { servers: { hello } },
        "script.ts": `import { agent, model } from "trunkline";
console.log(await model.ask("What is this?"));
console.log((await model()).provider, (await model("other")).id);
const script = '{"tool": "hello.hello", "args": {"name": "Ada"}}\\n{"text": "Said."}';
const { text, messages } = await agent("tools", "Greet.", { tools: ["hello.*"], allow: true, model: { echo: { script } } });
console.log(text, JSON.stringify(messages).includes("Hello, Ada!"));`,
      },
      { TRUNKLINE_PROVIDER: "echo" },
    );
    const outcome = await place.runProcess(["run", "--mcp", "mcp.json", "script.ts"]);
    expect(outcome).toEqual({ code: 0, stdout: "What is this?\necho other\nSaid. true\n", stderr: "" });
  });

  it("keep the script alive, even a model used without an agent on a connection that an agent used", async () => {
    const endpoint = createServer((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const piece = (delta: object, finish: string | null) =>
        `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
      setTimeout(() => response.end(`${piece({ content: "Yes." }, null)}${piece({}, "stop")}data: [DONE]\n\n`), 50);
    });
    await new Promise<void>((resolve) => endpoint.listen(0, "127.0.0.1", resolve));
    using place = new Place(
      {
        "mcp.json": { servers: { hello } },
        "script.ts": `import { agent, model } from "trunkline";
console.log((await agent("tools", "Is it?", { tools: ["hello.*"] })).text);
for await (const event of (await model()).stream({ messages: [{ role: "user", parts: [{ type: "text", text: "Is it?" }] }] }))
  if (event.type === "text") console.log(event.text);`,
      },
      { TRUNKLINE_MODEL: "m", TRUNKLINE_ENDPOINT: `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/v1` },
    );
    const outcome = await place.runProcess(["run", "--mcp", "mcp.json", "script.ts"]);
    endpoint.close();
    expect(outcome).toEqual({ code: 0, stdout: "Yes.\nYes.\n", stderr: "" });
  });

  it("refuse tools that can make changes without approval", async () => {
    using place = new Place({
      "mcp.json": { servers: { hello } },
      "script.ts": `import { agent } from "trunkline";
const script = '{"tool": "hello.hello", "args": {"name": "Ada"}}\\n{"text": "Not said."}';
const { messages } = await agent("tools", "Greet.", { tools: ["hello.*"], model: { provider: "echo", echo: { script } } });
console.log(JSON.stringify(messages).includes("Hello, Ada!"));`,
    });
    expect(await place.runProcess(["run", "--mcp", "mcp.json", "script.ts"])).toMatchObject({
      code: 0,
      stdout: "false\n",
    });
  });

  it("respect the configured policy, whatever the script allows", async () => {
    using place = new Place({
      "mcp.json": { servers: { hello }, policy: { "hello.*": "deny" } },
      "script.ts": `import { agent } from "trunkline";
await agent("tools", "Greet.", { tools: ["hello.*"], allow: true, model: { provider: "echo" } });`,
    });
    const { code, stderr } = await place.runProcess(["run", "--mcp", "mcp.json", "script.ts"]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/\[DENIED\][\s\S]*script\.ts:2:7/) });
  });

  it("say what to configure if nothing is configured", async () => {
    using place = new Place({ "script.ts": `import { model } from "trunkline";\nawait model.ask("x");` });
    const { code, stderr } = await place.runProcess(["run", "script.ts"]);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/script\.ts:2:13[\s\S]*OPENAI_API_KEY/),
    });
  });

  it("can be extended, but only under unused names", async () => {
    using place = new Place({
      "script.ts": `import { agent, registerAgent } from "trunkline";
const mine = (name: string) => registerAgent({
  name, summary: "", run: async ({ messages }) => ({ text: name, messages, turns: 0, usage: { inputTokens: 0, outputTokens: 0 }, ended: "answer" }),
});
mine("mine");
console.log((await agent("mine", "x", { model: { provider: "echo" } })).text);
try { mine("mine"); } catch (error) { console.log((error as Error).message); }
mine("react");
await agent("mine", "x", { model: { provider: "echo" } }).catch((error: Error) => console.log(error.message));`,
    });
    const { stdout } = await place.runProcess(["run", "script.ts"]);
    expect(stdout.split("\n").slice(0, 3)).toEqual([
      "mine",
      'There is already an agent named "mine".',
      'There is already an agent named "react".',
    ]);
  });
});

describe("trunkline in your own program", () => {
  it("works the same and lets the program end", async () => {
    using place = new Place({
      "mcp.json": { servers: { hello } },
      "program.mjs": `import { args, hub, store } from ${JSON.stringify(library)};
console.log(args[0], (await hub.call("hello.hello", { name: "Ada" })).text, (await store.status()).totalObjects);`,
    });
    const { stdout } = await promisify(execFile)(process.execPath, ["program.mjs", "one"], {
      cwd: place.cwd,
      env: { PATH: process.env.PATH, HOME: place.home, TRUNKLINE_MCP_FILE: join(place.cwd, "mcp.json") },
    });
    expect(stdout).toBe("one Hello, Ada! 0\n");
  });
});
