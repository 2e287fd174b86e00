// `trunkline broker` as a person sees it, and what `doctor` says about the broker.
import { appendFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { InProcessBroker } from "./broker-support.js";
import { isAlive, outcomeOf, Place, seen } from "./command.js";
import { plain, runAtScreen, tooWide } from "./screen.js";
import { testServer } from "./server-entries.js";

const USE = { TRUNKLINE_BROKER: "" };

const SERVERS = {
  hello: testServer("hello"),
  tickets: { ...testServer("hello"), share: "user" },
  browser: { ...testServer("hello"), share: "client" },
};

/** A place whose user has three servers, and a second project. */
function placeWithServers(): { place: Place; other: string } {
  const place = new Place({}, USE);
  const other = join(place.base, "other");
  mkdirSync(other);
  mkdirSync(join(place.home, ".trunkline"));
  writeFileSync(join(place.home, ".trunkline", "settings.json"), JSON.stringify({ mcpServers: SERVERS }));
  return { place, other };
}

describe("without a broker", () => {
  it("says so, and creates nothing", async () => {
    using place = new Place({}, USE);
    expect(await place.run(["broker"])).toEqual({
      code: 0,
      stdout: "No broker is running. The next `trunkline serve` starts one.\n",
      stderr: "",
    });
    expect(JSON.parse((await place.run(["broker", "--json"])).stdout)).toEqual({ running: false });
    expect(await place.run(["broker", "stop"])).toMatchObject({ code: 0, stderr: "No broker is running.\n" });
    expect(await place.run(["broker", "restart"])).toMatchObject({
      code: 0,
      stderr: "No broker is running. The next `trunkline serve` starts one.\n",
    });
    expect(JSON.parse((await place.run(["broker", "stop", "--json"])).stdout)).toEqual({ stopped: false });
    expect(JSON.parse((await place.run(["broker", "restart", "--json"])).stdout)).toEqual({ restarting: false });
    expect(existsSync(join(place.home, ".trunkline"))).toBe(false);
  });

  it.each([
    ["TRUNKLINE_BROKER", "off", "TRUNKLINE_BROKER is off"],
    ["TRUNKLINE_MCP_FILE", "x.json", "TRUNKLINE_MCP_FILE is set"],
    ["TRUNKLINE_TRUST", "all", "TRUNKLINE_TRUST is set"],
  ])("says why it is not used: %s", async (name, value, why) => {
    using place = new Place({}, USE);
    const { stdout } = await place.run(["broker"], { env: { [name]: value } });
    expect(stdout).toBe(`No broker is running.\nCommands here do not use the broker: ${why}.\n`);
  });

  it("says that a setting has no meaning, as does doctor", async () => {
    using place = new Place({}, { TRUNKLINE_BROKER: "0" });
    const odd = 'TRUNKLINE_BROKER is "0", which has no effect. Set it to on or off.\n';
    expect((await place.run(["broker"])).stdout).toBe(
      `No broker is running. The next \`trunkline serve\` starts one.\n${odd}`,
    );
    expect((await place.run(["doctor"])).stdout).toContain(`\nBroker\n  ${odd}  not running; `);
  });

  it("says why there cannot be one", async () => {
    using place = new Place({}, USE);
    const home = join(place.home, "a".repeat(120));
    expect(await place.run(["broker"], { env: { TRUNKLINE_HOME: home } })).toEqual({
      code: 1,
      stdout: "",
      stderr: `trunkline: The broker cannot be used: the path of its socket would be too long: ${home}/run.\n  Trunkline works without it: every window then runs its own servers.\n`,
    });
  });

  it("has no other commands than those it lists", async () => {
    using place = new Place({}, USE);
    expect(await place.run(["broker", "foo"])).toMatchObject({
      code: 2,
      stderr: 'trunkline: There is no command "broker foo".\n  Commands: status, stop, restart, logs.\n',
    });
    const { stdout: help } = await place.run(["broker", "--help"]);
    expect(help).not.toMatch(/^ {2}run /m);
    for (const word of ["status", "stop", "restart", "logs", "--no-broker", "TRUNKLINE_BROKER"])
      expect(help).toContain(word);
    expect((await place.run(["serve", "--help"])).stdout).toContain("--no-broker");
    const { stdout: words } = await place.run(["__complete", "--", "broker", ""]);
    expect(words.split("\n").map((line) => line.split("\t")[0])).toEqual([
      "",
      "status",
      "stop",
      "restart",
      "logs",
      "help",
      "",
    ]);
    expect((await place.run(["__complete", "--", "broker", "logs", "--f"])).stdout).toContain("--follow");
  });
});

describe("a broker with clients of two projects", () => {
  const { place, other } = placeWithServers();
  let broker: InProcessBroker;
  beforeAll(async () => {
    broker = await InProcessBroker.start(place);
    for (const name of ["cursor", "Visual Studio Code"]) {
      const client = await broker.client(name);
      for (const server of ["hello", "tickets", "browser"]) await client.execute(`${server}.hello`);
    }
    await broker.client("idle window");
    const client = await broker.client("zed", other);
    for (const server of ["hello", "tickets"]) await client.execute(`${server}.hello`);
    await client.query("status");
  });
  afterAll(async () => {
    await broker[Symbol.asyncDispose]();
    place[Symbol.dispose]();
  });

  it("shows who uses it, which servers it runs for them, and what that saves", async () => {
    const { code, stdout, stderr } = await place.run(["broker"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const facts = stdout
      .replaceAll(/\d+\.\d MB/g, "<memory>")
      .replaceAll(/pid \d+/g, "pid <n>")
      .replaceAll(/last call (?:just now|\d+ (?:s|min) ago)/g, "last call <time>")
      .replaceAll(/(up|for) \d+ (?:s|min)/g, "$1 <time>")
      .replace(/^trunkline broker [\d.]+/, "trunkline broker <version>")
      .replaceAll(other, "<other>")
      .replaceAll(place.cwd, "<project>");
    expect(facts).toBe(`trunkline broker <version>, up <time>, <memory>, pid <n>

Clients
  zed                 <other>, for <time>, pid <n>
  cursor              <project>, for <time>, pid <n>
  Visual Studio Code  <project>, for <time>, pid <n>
  idle window         <project>, for <time>, pid <n>

Servers
  browser  connected, <memory>, pid <n>, last call <time>
           used by cursor in <project>; not shared: share is "client"
  browser  connected, <memory>, pid <n>, last call <time>
           used by Visual Studio Code in <project>; not shared: share is "client"
  browser  not started
           not used yet in <other>; not shared: share is "client"
  hello    connected, <memory>, pid <n>, last call <time>
           shared by cursor, Visual Studio Code in <project>; other workspaces have their own
  hello    connected, <memory>, pid <n>, last call <time>
           used by zed in <other>; not shared: other workspaces have their own
  tickets  connected, <memory>, pid <n>, last call <time>
           shared by cursor, Visual Studio Code, zed in <project>, <other>

Stores
  ~/.trunkline/store

Sharing saves 3 server processes and <memory>: without it, every further client of a server would start its own.
To share a server among workspaces, set "share": "user" in its entry: hello
`);
  });

  it("prints the same facts as JSON", async () => {
    const status = JSON.parse((await place.run(["broker", "--json"])).stdout);
    expect(status).toMatchObject({
      running: true,
      pid: process.pid,
      memory_bytes: expect.any(Number),
      log: join(place.home, ".trunkline", "run", "broker.log"),
      saved: { processes: 3, memory_bytes: expect.any(Number) },
    });
    expect(status.clients.map(({ program, folder }: Record<string, string>) => ({ program, folder }))).toContainEqual({
      program: "zed",
      folder: other,
    });
    const tickets = status.servers.find(({ name }: { name: string }) => name === "tickets");
    expect(tickets).toMatchObject({ share: "user", state: "connected", folders: [other, place.cwd] });
    expect(tickets.clients).toHaveLength(3);
    // Private memory is a part of all memory.
    const { memory_bytes: most } = status.servers.reduce((max: { memory_bytes: number }, server: typeof max) =>
      (server.memory_bytes ?? 0) > max.memory_bytes ? server : max,
    );
    expect(status.saved.memory_bytes).toBeGreaterThan(0);
    expect(status.saved.memory_bytes).toBeLessThanOrEqual(3 * most);
  });

  it.each([60, 80, 120])("fits a terminal of %i columns", async (columns) => {
    const { stdout } = await runAtScreen(place, ["broker"], { columns });
    expect(tooWide(stdout, columns)).toEqual([]);
    expect(stdout).toContain("\u001b[1mServers\u001b[22m");
    expect(plain(stdout).replaceAll(/\s+/g, " ")).toContain('not shared: share is "client"');
    const { stdout: grey } = await runAtScreen(place, ["broker"], { columns, env: { NO_COLOR: "1" } });
    expect(grey).not.toContain("\u001b");
  });

  it("is a section of doctor", async () => {
    const { stdout } = await place.run(["doctor"]);
    expect(stdout).toMatch(
      /\nBroker\n {2}running: [\d.]+, up \d+ \w+, \d+\.\d MB, 4 clients, 5 server processes\n {2}Sharing saves 3 server processes and .*\n {2}more: trunkline broker\n/,
    );
    const { broker: section } = JSON.parse((await place.run(["doctor", "--json"])).stdout);
    expect(section).toMatchObject({ status: "running", reason: null, clients: 4, servers: 5, saved: { processes: 3 } });
    const { stdout: off } = await place.run(["doctor"], { env: { TRUNKLINE_BROKER: "off" } });
    expect(off).toContain("\nBroker\n  not used here: TRUNKLINE_BROKER is off\n  running: ");
  });
});

describe("a server with a state for each client", () => {
  it("keeps its process from the client's first call on, even if that call opens the servers", async () => {
    const made = placeWithServers();
    using place = made.place;
    await using broker = await InProcessBroker.start(place);
    // With this surface, the handshake does not need the servers.
    await using client = await broker.client("cursor", place.cwd, ["--surface", "composite"]);
    const pids: number[] = [];
    for (const _ of ["first", "second"]) {
      await client.execute("browser.hello");
      const { servers } = JSON.parse((await place.run(["broker", "--json"])).stdout);
      pids.push(servers.find(({ name }: { name: string }) => name === "browser").pid);
    }
    expect(pids[0]).toEqual(expect.any(Number));
    expect(pids[1]).toBe(pids[0]);
  });
});

describe("stopping a broker", () => {
  it("ends its servers first, and says that open windows start a new one", async () => {
    const made = placeWithServers();
    using place = made.place;
    await using broker = await InProcessBroker.start(place);
    const client = await broker.client("cursor");
    await client.execute("hello.hello");
    const { servers } = JSON.parse((await place.run(["broker", "--json"])).stdout);
    const pids = servers.flatMap(({ pid }: { pid?: number }) => pid ?? []);
    expect(pids.length).toBeGreaterThan(0);
    const { code, stderr } = await place.run(["broker", "stop"]);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: `Stopped the broker (pid ${process.pid}) and its servers.\n1 client is connected; its next request starts a new broker.\n`,
    });
    expect(pids.filter(isAlive)).toEqual([]);
    const log = await broker.ended();
    expect(log).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z info {2}listening broker=\d+ /);
    for (const event of [
      `client attached broker=\\d+ pid=${process.pid} folder=`,
      'stopping broker=\\d+ why="asked to stop"',
    ])
      expect(log).toMatch(new RegExp(event));
    expect((await place.run(["broker"])).stdout).toContain("No broker is running.");
  });

  it("can wait for calls, when it is restarted", async () => {
    using place = new Place({}, USE);
    await using broker = await InProcessBroker.start(place);
    const { stderr } = await place.run(["broker", "restart"]);
    expect(stderr).toBe(
      `The broker (pid ${process.pid}) ends as soon as its calls are done, after 60 s at most. The next client starts a new one.\n`,
    );
    expect(await broker.ended()).toContain("draining broker=");
  });
});

describe("the log of the broker", () => {
  it("is printed as it is, and made harmless at a terminal", async () => {
    using place = new Place({}, USE);
    expect(await place.run(["broker", "logs"])).toMatchObject({
      code: 0,
      stdout: "",
      stderr: `There is no log yet: ${join(place.home, ".trunkline", "run", "broker.log")}\n`,
    });
    const log = logOf(place);
    writeFileSync(log, "one\n\u001b[31mtwo\n");
    expect((await place.run(["broker", "logs"])).stdout).toBe("one\n\u001b[31mtwo\n");
    expect((await runAtScreen(place, ["broker", "logs"])).stdout).not.toContain("\u001b");
    writeFileSync(log, "2026-11-16T15:23:01.159Z info  listening broker=7\n    at crash.js:1\n");
    expect((await place.run(["broker", "logs", "--json"])).stdout).toBe(
      '{"time":"2026-11-16T15:23:01.159Z","level":"info","text":"listening broker=7"}\n{"text":"    at crash.js:1"}\n',
    );
  });

  it("can be followed, even if it is cut off or does not exist yet", async () => {
    using place = new Place({}, USE);
    const running = place.start(["broker", "logs", "--follow"]);
    const outcome = outcomeOf(running);
    const log = logOf(place);
    writeFileSync(log, "first line\n");
    await seen(running.stdout, /first line\n/);
    appendFileSync(log, "second line\n");
    await seen(running.stdout, /second line\n/);
    writeFileSync(log, "cut\n");
    await seen(running.stdout, /cut\n/);
    running.kill("SIGINT");
    expect(await outcome).toMatchObject({ stdout: "first line\nsecond line\ncut\n", stderr: "" });
  });
});

describe("doctor on the broker", () => {
  it.each([
    ["none runs", {}, "not running; the next `trunkline serve` starts one", "not-running"],
    ["it is off", { TRUNKLINE_BROKER: "off" }, "not used here: TRUNKLINE_BROKER is off", "off"],
    [
      "there cannot be one",
      { TRUNKLINE_HOME: `/tmp/${"a".repeat(120)}` },
      "The broker cannot be used: the path of its socket would be too long: ",
      "unavailable",
    ],
  ])("says so without failing: %s", async (_, env, text, status) => {
    using place = new Place({ "mcp.json": { mcpServers: { hello: testServer("hello") } } }, USE);
    const args = ["doctor", "--mcp", "mcp.json", "--strict"];
    const { code, stdout } = await place.run(args, { env });
    expect(code).toBe(0);
    expect(stdout).toContain(`\nBroker\n  ${text}`);
    expect(JSON.parse((await place.run([...args, "--json"], { env })).stdout).broker.status).toBe(status);
  });
});

function logOf(place: Place): string {
  mkdirSync(join(place.home, ".trunkline", "run"), { recursive: true, mode: 0o700 });
  return join(place.home, ".trunkline", "run", "broker.log");
}
