// Several projects over one broker: what belongs to one of them is invisible to the others.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { isAlive } from "../e2e/command.js";
import type { ServedStdio } from "../e2e/serve-stdio-client.js";
import { testServer } from "../e2e/server-entries.js";
import { BrokerUser } from "./broker-support.js";
import { asking, attempt } from "./paths-support.js";

const SECRET_A = "sk-alpha-5f1c9b7e2d";
const SECRET_B = "sk-bravo-8a4e6d3c1f";

const showing = (more: object = {}) => ({ ...testServer("showing"), ...more });
const config = (entry: object) => ({ ".trunkline/mcp.json": { mcpServers: { showing: entry } } });

interface Shown {
  readonly pid: number;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Runs an operation of an upstream server. */
async function callOf(served: ServedStdio, op: string, params: Record<string, unknown> = {}) {
  const { value } = await served.execute(op, params);
  return value.results[0];
}

const show = async (served: ServedStdio): Promise<Shown> => (await callOf(served, "showing.show")).result;

async function trusted(user: BrokerUser, name: string, files: Readonly<Record<string, unknown>>): Promise<string> {
  const folder = user.project(name, files);
  expect((await user.command(["trust", "--yes"], { cwd: folder })).code).toBe(0);
  return folder;
}

describe("a project over the same broker", () => {
  it("sees nothing of another one's servers, secrets, policy, notes or errors", async () => {
    using user = new BrokerUser();
    const entry = showing({ env: { KEY: `\${env:KEY}` } });
    const a = await trusted(user, "a", {
      ".trunkline/mcp.json": { mcpServers: { showing: entry, broken: { command: "./no-such-program-of-a" } } },
      ".trunkline/settings.json": { policy: { list: "deny" } },
    });
    const b = user.project("b");
    await using one = await user.serve(a, { env: { KEY: SECRET_A, TRUNKLINE_LOG_LEVEL: "debug" } });
    await using two = await user.serve(b, { env: { TRUNKLINE_LOG_LEVEL: "debug" } });
    expect((await callOf(one, "showing.keep", { text: "note of a" })).success).toBe(true);
    await callOf(one, "broken.x");
    const seen = [
      await two.query("describe", {}),
      await two.execute("showing.show"),
      await two.execute("showing.keep", { text: "x" }),
      await two.request("tools/list"),
      await two.request("resources/list"),
      await two.request("resources/read", { uri: "trunkline://status" }),
      await two.request("prompts/list"),
    ];
    const text = JSON.stringify([seen, two.instructions, two.stderr]);
    for (const foreign of [SECRET_A, "note of a", "no-such-program-of-a", a]) expect(text).not.toContain(foreign);
    expect(JSON.stringify(seen[1])).toContain("NOT_FOUND");
    expect(JSON.stringify(await one.query("list"))).toContain("DENIED");
    expect(JSON.stringify(await two.query("list"))).not.toContain("DENIED");
    const { stdout } = await user.command(["tools"], { cwd: b });
    expect(stdout).not.toContain("showing");
  });

  it("does not inherit another one's approval, even with the same file", async () => {
    using user = new BrokerUser();
    const a = await trusted(user, "a", config(showing({ share: "user" })));
    const b = user.project("b", config(showing({ share: "user" })));
    await using one = await user.serve(a);
    expect((await show(one)).pid).toBeGreaterThan(0);
    await using two = await user.serve(b);
    expect(JSON.stringify(await two.execute("showing.show"))).toMatch(/trunkline trust/);
    const command = await user.command(["call", "showing.show"], { cwd: b });
    expect(command.stderr).toContain("trunkline trust");
    expect(command.stdout).toBe("");
    // Someone at a terminal who approves A says nothing about B.
    expect((await user.command(["call", "showing.show"], { cwd: a })).code).toBe(0);
    expect(JSON.stringify(await two.execute("showing.show"))).toMatch(/trunkline trust/);
  });

  it("loses its servers as soon as its own approval is withdrawn, and the other one does not", async () => {
    using user = new BrokerUser();
    const [a, b] = [await trusted(user, "a", config(showing())), await trusted(user, "b", config(showing()))];
    await using one = await user.serve(a);
    await using two = await user.serve(b);
    const { pid } = await show(two);
    await show(one);
    await user.command(["trust", "--revoke"], { cwd: a });
    await expect.poll(async () => JSON.stringify(await one.execute("showing.show"))).toMatch(/trunkline trust/);
    expect((await show(two)).pid).toBe(pid);
  });
});

describe("a project's entry that asks to be shared by everyone", () => {
  it("gets at no process of another project or of the user, with the same entry down to the last letter", async () => {
    const entry = { ...testServer("showing"), cwd: "/", env: { KEY: "k" }, share: "user" };
    using user = new BrokerUser({ mcpServers: { showing: entry } });
    const a = await trusted(user, "a", config(entry));
    const b = await trusted(user, "b", config(entry));
    const c = user.project("c");
    const d = user.project("d");
    await using one = await user.serve(a);
    await using two = await user.serve(b);
    await using three = await user.serve(c);
    await using four = await user.serve(d);
    const kept = await Promise.all(
      [one, two, three].map(
        async (served, at) => (await callOf(served, "showing.keep", { text: `state ${at}` })).result,
      ),
    );
    expect(kept).toEqual([["state 0"], ["state 1"], ["state 2"]]);
    // The user's own entry is shared as the user wants it.
    expect((await show(four)).pid).toBe((await show(three)).pid);
    expect(new Set([one, two, three].map(async (served) => (await show(served)).pid)).size).toBe(3);
    // The commands of a project use its own as well.
    const command = await user.command(["call", "showing.keep", "text=more"], { cwd: b });
    expect(JSON.parse(command.stdout)).toEqual(["state 1", "more"]);
  });
});

describe("the environment of a client", () => {
  it("is the one that its servers get, never the broker's or another client's", async () => {
    using user = new BrokerUser({ mcpServers: { showing: showing({ env: { KEY: `\${env:KEY}` } }) } });
    const folder = user.project("p");
    // A folder that does not exist does not count.
    const path = (name: string) => `${user.project(name)}:/usr/bin:/bin`;
    const env = (name: string) => ({
      KEY: name,
      PATH: path(name),
      LANG: `${name}.UTF-8`,
      LD_DEBUG: "",
      NODE_OPTIONS: "",
    });
    // All at once: the second one arrives while the first one's configuration is being read.
    const served = await Promise.all(["one", "two", "one"].map((name) => user.serve(folder, { env: env(name) })));
    try {
      const shown = await Promise.all(served.map(show));
      expect(shown.map(({ env: own }) => [own.KEY, own.PATH, own.LANG])).toEqual(
        ["one", "two", "one"].map((name) =>
          ["[redacted]", path(name), `${name}.UTF-8`].map((value, at) => (at === 0 ? expect.any(String) : value)),
        ),
      );
      expect(shown[0]?.pid).toBe(shown[2]?.pid);
      expect(shown[0]?.pid).not.toBe(shown[1]?.pid);
      for (const { env: own } of shown) {
        for (const name of ["TRUNKLINE_BROKER", "NODE_OPTIONS", "XDG_RUNTIME_DIR", "TRUNKLINE_HOME"])
          expect(own).not.toHaveProperty(name);
      }
    } finally {
      for (const each of served) await each.end();
    }
  });

  it("shares a server with another process of the same agent, without the folder that the agent added to the PATH", async () => {
    using user = new BrokerUser({ mcpServers: { showing: showing() } });
    const folder = user.project("p");
    const own = (...parts: string[]) => {
      const path = join(user.base, ...parts);
      mkdirSync(path, { recursive: true });
      return path;
    };
    const codex = (name: string) => own("h", ".codex", "tmp", "arg0", `codex-arg0${name}`);
    const path = (...folders: string[]) => ({ env: { PATH: [...folders, process.env.PATH].join(":") } });
    await using one = await user.serve(folder, path(codex("aB3xY9")));
    await using two = await user.serve(folder, path(join(user.base, "gone"), codex("Zz81qq")));
    // A project's folder with such a name gains nothing: no server searches it.
    await using three = await user.serve(folder, path(own("p", "tmp", "arg0", "codex-arg0evil1")));
    await using other = await user.serve(folder, path(own("tools")));
    const shown = await Promise.all([one, two, three, other].map(show));
    expect(new Set(shown.slice(0, 3).map(({ pid }) => pid)).size).toBe(1);
    expect(shown[3]?.pid).not.toBe(shown[0]?.pid);
    expect(shown.map(({ env: { PATH } }) => PATH?.includes("codex-arg0"))).toEqual([false, false, false, false]);
    expect(shown[3]?.env.PATH?.startsWith(join(user.base, "tools"))).toBe(true);
    expect((await user.status()).servers).toHaveLength(2);
  });

  it.each([
    ["NODE_EXTRA_CA_CERTS", "/tmp/ca.pem"],
    ["NODE_TLS_REJECT_UNAUTHORIZED", "0"],
    ["SSL_CERT_FILE", "/tmp/ca.pem"],
    ["NODE_OPTIONS", "--use-openssl-ca"],
    ["NODE_USE_ENV_PROXY", "1"],
    ["TZ", "Asia/Tokyo"],
  ])("is not replaced by the broker's where it counts for a whole process: %s", async (name, value) => {
    using user = new BrokerUser({ mcpServers: { showing: showing() } });
    const folder = user.project("p");
    await using plain = await user.serve(folder);
    await using special = await user.serve(folder, { env: { [name]: value } });
    expect(special.stderr).toContain(`working without the broker: the broker has another ${name}`);
    expect(plain.stderr).not.toContain("broker");
    expect((await user.status()).clients).toHaveLength(1);
    // A debugger's options do not matter.
    await using debugged = await user.serve(folder, { env: { NODE_OPTIONS: "--max-old-space-size=4000" } });
    expect(debugged.stderr).not.toContain("broker");
  });

  it("of the broker's first client is not passed on: its secrets are not in the broker's process", async () => {
    using user = new BrokerUser();
    await using first = await user.serve(user.project("p"), { env: { SOME_TOKEN: SECRET_A, LD_LIBRARY_PATH: "" } });
    expect(first.stderr).toBe("");
    const { pid } = await user.status();
    const { readFileSync } = await import("node:fs");
    expect(readFileSync(`/proc/${pid}/environ`, "utf8")).not.toContain(SECRET_A);
  });
});

describe("a secret", () => {
  it("is in neither the log nor the status of the broker, and is redacted only for those who have it", async () => {
    using user = new BrokerUser();
    const entry = showing({ env: { API_KEY: `\${env:KEY}` }, args: [...showing().args, "--token", `\${env:KEY}`] });
    const a = await trusted(user, "a", config(entry));
    const b = await trusted(user, "b", config(entry));
    const env = (KEY: string) => ({ env: { KEY, TRUNKLINE_LOG_LEVEL: "debug" } });
    await using one = await user.serve(a, env(SECRET_A));
    await using two = await user.serve(b, env(SECRET_B));
    for (const served of [one, two]) await show(served);
    const say = async (served: ServedStdio) =>
      JSON.stringify(await callOf(served, "showing.leave", { text: `${SECRET_A} ${SECRET_B}` }));
    // Each sees the other's value, which it has sent itself: redacting it would tell that it is a secret elsewhere.
    const [errorA, errorB] = [await say(one), await say(two)];
    expect(errorA).toContain(SECRET_B);
    expect(errorA).not.toContain(SECRET_A);
    expect(errorB).toContain(SECRET_A);
    expect(errorB).not.toContain(SECRET_B);
    for (const served of [one, two]) await show(served);
    await one.end();
    // A server that no one uses any more is lost, and its last words were a secret.
    const c = await trusted(user, "c", config(entry));
    const key = { cwd: c, env: { KEY: SECRET_A } };
    expect((await user.command(["call", "showing.keep", `text=${SECRET_A}`], key)).code).toBe(0);
    const { pid } = JSON.parse((await user.command(["call", "showing.show"], key)).stdout);
    process.kill(pid, "SIGKILL");
    await expect.poll(() => isAlive(pid)).toBe(false);
    expect((await user.command(["call", "showing.none"], key)).code).not.toBe(0);
    const status = JSON.stringify(await user.status());
    const { stdout } = await user.command(["broker"]);
    const logs = await user.command(["broker", "logs"]);
    for (const secret of [SECRET_A, SECRET_B])
      for (const text of [status, stdout, logs.stdout, user.log]) expect(text).not.toContain(secret);
  });
});

describe("the allowed folders", () => {
  it("of one client, by an option, by its roots or by an answer, are not another one's", async () => {
    using user = new BrokerUser();
    const folder = user.project("p");
    const other = join(user.base, "other");
    mkdirSync(other);
    const path = join(other, "notes.md");
    writeFileSync(path, "notes");
    const roots = [{ uri: pathToFileURL(other).href, name: "other" }];
    await using allowed = await user.serve(folder, { args: ["--allow-path", other] });
    await using rooted = await user.serve(folder, {
      client: { capabilities: { roots: {} }, answer: () => ({ roots }) },
    });
    const answering = asking("session");
    await using granted = await user.serve(folder, { client: answering });
    await using plain = await user.serve(folder);
    const refusing = asking("no");
    await using refused = await user.serve(folder, { client: refusing });
    for (const served of [allowed, rooted, granted])
      expect(await attempt(served, "add", { path })).not.toHaveProperty("code");
    expect(answering.asked).toHaveLength(1);
    for (const served of [plain, refused])
      expect(await attempt(served, "add", { path })).toMatchObject({ code: "DENIED" });
    expect(refusing.asked).toHaveLength(1);
    const clients = (await user.status()).clients as { kind: string }[];
    expect(clients.filter(({ kind }) => kind === "client")).toHaveLength(5);
  });

  it("of a store that two projects share stay each project's own", async () => {
    using user = new BrokerUser();
    const [a, b] = [user.project("a", { "x.md": "of a" }), user.project("b", { "y.md": "of b" })];
    await using one = await user.serve(a);
    await using two = await user.serve(b);
    expect(await attempt(one, "add", { path: "x.md" })).not.toHaveProperty("code");
    expect(await attempt(two, "add", { path: "y.md" })).not.toHaveProperty("code");
    expect(await attempt(two, "add", { path: join(a, "x.md") })).toMatchObject({ code: "DENIED" });
    expect(await attempt(one, "restore", { collection: "default", output_directory: b })).toMatchObject({
      code: "DENIED",
    });
    expect((await user.status()).stores).toHaveLength(1);
  });
});
