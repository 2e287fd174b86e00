// Resources, prompts and the rest of the protocol, through the built command if it has one for this, otherwise through
// the built library.
import { join } from "node:path";
import {
  type Channel,
  createChannel,
  type Hub,
  loadConfig,
  openHub,
  type ResourceUpdate,
  type ServerLog,
} from "@trunkline/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serverPath, startServer } from "../servers/start.js";
import { outcomeOf, Place, seen } from "./command.js";
import { everythingServer } from "./server-entries.js";

const DOCUMENT = "demo://resource/static/document/architecture.md";

let place: Place;

beforeAll(() => {
  place = new Place({}, { TRUNKLINE_TRUST: "all" });
  place.write(".trunkline/mcp.json", {
    mcpServers: {
      everything: everythingServer,
      hello: { command: process.execPath, args: [serverPath("hello")] },
    },
  });
});

afterAll(() => place[Symbol.dispose]());

/** Opens the library with the same configuration. */
async function open(channel: Channel): Promise<Hub> {
  const { cwd, home, env } = place;
  const config = await loadConfig({ cwd, home, env: { ...env, PATH: process.env.PATH }, trustAll: true });
  return await openHub(config, { channel, lazy: true });
}

/** Creates a listener and a promise for the first thing it receives. */
function toldOnce<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

describe("with server-everything, the command", () => {
  it("lists resources and templates, as text and as JSON", async () => {
    const listed = await place.run(["resources"]);
    expect(listed).toMatchObject({ code: 0, stderr: "" });
    expect(listed.stdout).toMatch(/^everything {2}demo:\/\/resource\/static\/document\/architecture\.md {2}/m);
    const json = await place.run(["resources", "list", "everything", "--json", "--templates"]);
    expect(JSON.parse(json.stdout)).toMatchObject([
      { server: "everything", uriTemplate: "demo://resource/dynamic/text/{resourceId}", mimeType: "text/plain" },
      { server: "everything", uriTemplate: "demo://resource/dynamic/blob/{resourceId}" },
    ]);
    expect(await place.run(["resources", "hello"])).toEqual({
      code: 0,
      stdout: "",
      stderr: 'Server "hello" has no resources.\n',
    });
  });

  it("reads resources: text, one from a template, binary, and raw", async () => {
    const document = await place.run(["resources", "read", "everything", DOCUMENT]);
    expect(document).toMatchObject({ code: 0, stderr: "" });
    expect(document.stdout).toContain("# Everything Server");
    const made = await place.run(["resources", "read", "everything", "demo://resource/dynamic/text/7"]);
    expect(made.stdout).toMatch(/^Resource 7: This is a plaintext resource/);
    const blob = await place.run(["resources", "read", "everything", "demo://resource/dynamic/blob/7"]);
    expect(blob.stdout).toContain(`[binary saved at ${join(place.home, ".trunkline", "mcp-blobs")}`);
    const raw = await place.run(["resources", "read", "everything", DOCUMENT, "--raw"]);
    expect(JSON.parse(raw.stdout).contents[0].uri).toBe(DOCUMENT);
  });

  it("suggests the nearest resource, server and prompt", async () => {
    const uri = await place.run(["resources", "read", "everything", DOCUMENT.replace("architecture", "architectur")]);
    expect(uri).toMatchObject({ code: 1, stderr: expect.stringContaining(`Did you mean ${DOCUMENT}`) });
    const apart = await place.run(["prompts", "get", "everything", "simple-prompt"]);
    expect(apart).toMatchObject({ code: 2, stderr: expect.stringContaining("Did you mean everything.simple-prompt") });
    const server = await place.run(["resources", "everythin"]);
    expect(server).toMatchObject({ code: 2, stderr: expect.stringContaining("Did you mean everything?") });
    const prompt = await place.run(["prompts", "get", "everything.simple-promt"]);
    expect(prompt).toMatchObject({ code: 2, stderr: expect.stringContaining("everything.simple-prompt") });
  });

  it("lists and renders prompts", async () => {
    const listed = await place.run(["prompts"]);
    expect(listed.stdout).toContain("everything.args-prompt(city, state?)\n    A prompt with two arguments");
    const json = await place.run(["prompts", "everything", "--json"]);
    expect(JSON.parse(json.stdout)[0]).toMatchObject({ server: "everything", name: "simple-prompt", arguments: [] });
    const filled = await place.run(["prompts", "get", "everything.args-prompt", "city=Oslo", "state=Norway"]);
    expect(filled).toEqual({ code: 0, stdout: "user:\nWhat's weather in Oslo, Norway?\n", stderr: "" });
    const messages = await place.run(["prompts", "get", "args-prompt", "city=Oslo", "--json"]);
    expect(JSON.parse(messages.stdout)).toMatchObject({ server: "everything", messages: [{ role: "user" }] });
  });

  it("says which prompt argument is missing and what the server suggests for it", async () => {
    const { code, stderr } = await place.run(["prompts", "get", "completable-prompt", "department=Sales"]);
    expect(code).toBe(2);
    expect(stderr).toContain('The prompt "completable-prompt" needs name.');
    expect(stderr).toContain("For example, name can be David, Eve, Frank.");
  });

  it("calls a tool that must be a task", async () => {
    const { code, stdout, stderr } = await place.run(["call", "everything.simulate-research-query", "topic=tea"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("# Research Report: tea");
  });
});

describe("with server-everything, the library", () => {
  it("receives updates, log messages and progress", async () => {
    const logged = toldOnce<ServerLog>();
    await using hub = await open({ log: logged.resolve });
    const updated = toldOnce<ResourceUpdate>();
    const uri = "demo://resource/dynamic/text/1";
    const stop = await hub.subscribe("everything", uri, updated.resolve);
    await hub.call("everything.toggle-subscriber-updates");
    expect(await updated.promise).toEqual({ server: "everything", uri, restored: false });
    await stop();

    await hub.setLogLevel("everything", "debug");
    await hub.call("everything.toggle-simulated-logging");
    expect(await logged.promise).toMatchObject({ server: "everything" });

    const progress: number[] = [];
    await hub.call(
      "everything.trigger-long-running-operation",
      { duration: 1.5, steps: 3 },
      { onProgress: (told) => void progress.push(told.progress) },
    );
    expect(progress.slice(0, 2)).toEqual([1, 2]);
    expect(await hub.ping("everything")).toBeGreaterThan(0);
  });

  it("completes a template's argument", async () => {
    await using hub = await open({});
    const ref = { type: "ref/resource", uri: "demo://resource/dynamic/text/{resourceId}" } as const;
    expect((await hub.complete("everything", ref, { name: "resourceId", value: "12" })).values).toEqual(["12"]);
  });

  it("answers a task's questions, and visits the page that a call needs first", async () => {
    const visited: string[] = [];
    const channel = createChannel({
      elicit: async (elicitation) => {
        if (elicitation.mode === "form") return { action: "accept", content: { interpretation: "snake" } };
        visited.push(elicitation.url);
        return { action: "accept" };
      },
    });
    await using hub = await open(channel);
    const [research, visit] = await Promise.all([
      hub.call("everything.simulate-research-query", { topic: "python", ambiguous: true }),
      hub.call("everything.trigger-url-elicitation", { url: "https://example.org/", errorPath: true }),
    ]);
    expect(research.text).toContain("python (snake)");
    expect(visit.text).toContain("User completed the URL elicitation flow");
    expect(visited).toEqual(["https://modelcontextprotocol.io/", "https://example.org/"]);
  });
});

describe.each([
  ["modern", []],
  ["legacy", ["--legacy-only"]],
])("resources read --watch of a %s server", (_, args) => {
  it("prints the resource again whenever it changes, until it is stopped", async () => {
    await using server = await startServer("library", args);
    using watching = new Place({ "mcp.json": { servers: { library: { type: "http", url: server.url } } } });
    const child = watching.start([
      "--mcp",
      "mcp.json",
      "resources",
      "read",
      "library",
      "test://notes/today",
      "--watch",
    ]);
    const ended = outcomeOf(child);
    await seen(child.stdout, /changed 0 times\n/);
    const again = seen(child.stdout, /changed 1 times\n/);
    await watching.run(["--mcp", "mcp.json", "call", "library.touch"]);
    await again;
    child.kill("SIGINT");
    expect(await ended).toMatchObject({
      code: 130,
      stdout: "changed 0 times\nchanged 1 times\n",
      stderr: "changed:\n",
    });
  });
});
