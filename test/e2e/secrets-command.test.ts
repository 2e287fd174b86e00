// `trunkline secrets`, the question about a project's secrets, and moving literal secrets to the keychain.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { StandInKeychain } from "../support/stand-in-keychain.js";
import { Place, root } from "./command.js";
import { Terminal } from "./terminal.js";

const mirror = join(root, "test", "servers", "mirror.js");
const VALUE = "s3cr3t-value-0815";

function stage(files: Record<string, unknown> = {}) {
  const place = new Place(files);
  const keychain = new StandInKeychain(join(place.base, "bin"));
  const env = { PATH: keychain.path };
  return {
    place,
    keychain,
    env,
    run: (args: readonly string[], input = "") => place.run(args, { env, input }),
    [Symbol.dispose]: () => place[Symbol.dispose](),
  };
}

function openTerminal(...args: ConstructorParameters<typeof Terminal>): Terminal {
  const terminal = new Terminal(...args);
  onTestFinished(() => terminal.close());
  return terminal;
}

/** A program that says how it was started, and fails. */
const showing = (...shown: string[]) => ({
  command: process.execPath,
  args: ["-e", `console.error(${shown.join(", ")}); process.exit(1)`],
});

describe("secrets", () => {
  it("are saved, listed and removed", async () => {
    using at = stage();
    expect((await at.run(["secrets", "list"])).stderr).toContain("No secret is saved");
    expect((await at.run(["secrets", "set", "TOKEN"], `${VALUE}\n`)).stdout).toMatch(/^Saved "TOKEN" in the /);
    expect((await at.run(["secrets", "set", "TOKEN"], VALUE)).stdout).toMatch(/^Replaced "TOKEN"/);
    expect((await at.run(["secrets", "list"])).stdout).toBe("TOKEN\n");
    expect((await at.run(["secrets", "remove", "TOKEN"])).stdout).toContain("Removed");
    expect(await at.run(["secrets", "remove", "TOKEN"])).toMatchObject({ code: 1 });
    expect((await at.run(["secrets", "list", "--json"])).stdout).toBe("[]\n");
    expect(at.keychain.kept).toEqual({});
  });

  it("are listed with a warning if the keychain cannot be used", async () => {
    using at = stage();
    await at.run(["secrets", "set", "TOKEN"], VALUE);
    at.keychain.breakDown();
    const listed = await at.run(["secrets", "list"]);
    expect(listed).toMatchObject({ code: 0, stdout: "TOKEN\n" });
    expect(listed.stderr).toMatch(/^warning: .* cannot be used: .*\n {2}Servers that need one of these do not start\./);
    expect((await at.run(["secrets", "list", "--json"])).stdout).toBe('[\n  "TOKEN"\n]\n');
  });

  it("are asked for at a terminal, without showing them", async () => {
    using at = stage();
    const terminal = openTerminal(at.place, ["secrets", "set", "TOKEN"], at.env);
    await terminal.answer("Value of TOKEN: ", VALUE);
    expect((await terminal.end()).code).toBe(0);
    expect(terminal.screen).not.toContain(VALUE);
    expect((await at.run(["secrets", "list"])).stdout).toBe("TOKEN\n");
  });

  it("that are empty or too short are not taken without a word", async () => {
    using at = stage();
    expect(await at.run(["secrets", "set", "TOKEN"], "\n")).toMatchObject({ code: 2 });
    expect((await at.run(["secrets", "set", "TOKEN"], "abc")).stderr).toContain("so short");
  });

  it("are given to the user's own server when it starts: in env and args", async () => {
    using at = stage();
    await at.run(["secrets", "set", "TOKEN"], VALUE);
    const { command, args } = showing("process.env.T.length", "process.argv[1].length");
    await at.run([
      "servers",
      "add",
      "u",
      "--user",
      "--env",
      "T=${secret:TOKEN}",
      "--",
      command,
      ...args,
      "${secret:TOKEN}",
    ]);
    const { stderr } = await at.run(["tools"]);
    expect(stderr).toContain(`${VALUE.length} ${VALUE.length}`);
  });

  it("that are missing, and a missing keychain, are explained with the next step", async () => {
    using at = stage();
    await at.run(["servers", "add", "u", "--user", "--env", "T=${secret:TOKEN}", "--", process.execPath, mirror]);
    const missing = await at.run(["call", "u.show"]);
    expect(missing.stderr).toContain('Server "u" cannot be started');
    expect(missing.stderr).toContain("trunkline secrets set TOKEN");
    at.keychain.breakDown();
    expect((await at.run(["call", "u.show"])).stderr).toContain("Cannot autolaunch D-Bus");
  });

  it("work in a command of the user's own settings, and not in the fields that say what runs", async () => {
    using at = stage();
    const { command, args } = showing("process.env.T.length");
    await at.run(["servers", "add", "u", "--user", "--env", "T=${cmd:echo 12345678}", "--", command, ...args]);
    expect((await at.run(["tools"])).stderr).toContain("It wrote: 8");
    await at.run(["servers", "add", "v", "--user", "--", "${secret:TOKEN}"]);
    expect((await at.run(["tools", "v.x"])).stderr).toContain("secrets do not work in this field");
  });
});

describe("a project that asks for secrets, at a terminal", () => {
  const entry = { command: process.execPath, args: [mirror], env: { T: "${secret:TOKEN}" } };
  const files = { ".trunkline/mcp.json": { mcpServers: { p: entry } } };

  it("names them and what would get them, and asks once", async () => {
    using at = stage(files);
    at.keychain.set("TOKEN", VALUE);
    const terminal = openTerminal(at.place, ["call", "p.show"], at.env);
    await terminal.answer("Approve what this project would run?", "y");
    await terminal.sees("ask for secrets that you keep elsewhere");
    await terminal.sees("mirror.js");
    await terminal.answer("Give the secret TOKEN to them?", "y");
    expect((await terminal.end()).code).toBe(0);
    expect(await at.run(["call", "p.show"])).toMatchObject({ code: 0, stderr: "" });
  });

  it("gets none after a no, and is not started", async () => {
    using at = stage(files);
    at.keychain.set("TOKEN", VALUE);
    const terminal = openTerminal(at.place, ["call", "p.show"], at.env);
    await terminal.answer("Approve what this project would run?", "y");
    await terminal.answer("Give the secret TOKEN to them?", "n");
    expect((await terminal.end()).code).toBe(2);
    expect(at.keychain.calls).toEqual([]);
  });
});

describe("a secret that the user writes into a project's entry", () => {
  it("is granted to it", async () => {
    using at = stage();
    at.keychain.set("TOKEN", VALUE);
    await at.run(["servers", "add", "p", "--project", "--env", "T=${secret:TOKEN}", "--", process.execPath, mirror]);
    expect((await at.run(["call", "p.show"])).code).toBe(0);
  });
});

describe("import", () => {
  const theirs = {
    mcpServers: {
      github: {
        command: process.execPath,
        args: [mirror],
        env: { GITHUB_TOKEN: VALUE, MODE: "fast", API_KEY: "${KEY}" },
      },
      wiki: { url: "https://wiki.example/mcp", headers: { Authorization: `Bearer ${VALUE}`, Accept: "text/plain" } },
    },
  };
  const settingsOf = (place: Place) => readFileSync(join(place.home, ".trunkline", "settings.json"), "utf8");
  const from = ["import", "--from", "theirs.json", "--user"];

  it("moves literal secrets to the keychain on request", async () => {
    using at = stage({ "theirs.json": theirs });
    const { code, stdout } = await at.run([...from, "--yes", "--move-secrets"]);
    expect(stdout).toContain("Moved 2 secrets");
    expect(code).toBe(0);
    expect(JSON.parse(settingsOf(at.place)).mcpServers).toMatchObject({
      github: { env: { GITHUB_TOKEN: "${secret:github.GITHUB_TOKEN}", MODE: "fast", API_KEY: "${KEY}" } },
      wiki: { headers: { Authorization: "Bearer ${secret:wiki.Authorization}", Accept: "text/plain" } },
    });
    expect((await at.run(["secrets", "list"])).stdout).toBe("github.GITHUB_TOKEN\nwiki.Authorization\n");
    expect((await at.run(["call", "github.show"])).code).toBe(0);
  });

  it("offers it at a terminal", async () => {
    using at = stage({ "theirs.json": theirs });
    const terminal = openTerminal(at.place, from, at.env);
    await terminal.answer("Write 2 servers?", "y");
    await terminal.answer("Move 2 secrets to", "y");
    expect((await terminal.end()).code).toBe(0);
    expect(settingsOf(at.place)).not.toContain(VALUE);
  });

  it("says so if they stay plain text", async () => {
    using at = stage({ "theirs.json": theirs });
    for (const [option, verb] of [
      ["--dry-run", "would be"],
      ["--yes", "are"],
    ] as const)
      expect((await at.run([...from, option])).stderr).toContain(`2 secrets ${verb} written as plain text`);
    expect(at.keychain.calls).toEqual([]);
  });

  it("writes nothing if the keychain does not take them", async () => {
    using at = stage({ "theirs.json": theirs });
    at.keychain.breakDown();
    expect((await at.run([...from, "--yes", "--move-secrets"])).code).not.toBe(0);
    expect(() => settingsOf(at.place)).toThrow("ENOENT");
  });
});
