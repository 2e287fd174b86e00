// Secrets by reference over the broker: the process that starts the server looks them up with the session of the window
// that asks, and no workspace gets the secrets of another.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Place } from "../e2e/command.js";
import { testServer } from "../e2e/server-entries.js";
import { StandInKeychain } from "../support/stand-in-keychain.js";

const VALUE = "s3cr3t-value-0815";

/** A home whose server greets with the secret GREETING, and two projects. */
class Stage extends Place {
  readonly folders = ["one", "two"].map((name) => join(this.base, name));

  constructor() {
    super({}, { TRUNKLINE_BROKER: "on" });
    for (const folder of this.folders) mkdirSync(join(folder, ".git"), { recursive: true });
    const entry = { ...testServer("hello"), share: "user", env: { GREETING: "${secret:GREETING}", T: "${secret:T}" } };
    mkdirSync(join(this.home, ".trunkline"));
    writeFileSync(join(this.home, ".trunkline", "settings.json"), JSON.stringify({ mcpServers: { hello: entry } }));
  }

  /** A keychain of its own. The greeting "short" makes the server say "Hi". */
  keychain(name: string, greeting: string): StandInKeychain {
    const keychain = new StandInKeychain(join(this.base, name));
    keychain.set("GREETING", greeting);
    keychain.set("T", VALUE);
    return keychain;
  }

  async greet(folder: string, keychain: StandInKeychain): Promise<string> {
    const { stdout, stderr } = await this.runProcess(["call", "hello.hello", "name=Ada"], {
      cwd: folder,
      env: { PATH: keychain.path },
    });
    return `${stdout}${stderr}`.trim();
  }
}

describe("a server with secrets, over the broker", () => {
  it("has those of the window that asks, in each workspace", async () => {
    using stage = new Stage();
    const [one = "", two = ""] = stage.folders;
    const [short, long] = [stage.keychain("short", "short"), stage.keychain("long", "long")];
    expect(await stage.greet(one, short)).toBe("Hi, Ada!");
    expect(await stage.greet(two, long)).toBe("Hello, Ada!");
    expect(await stage.greet(one, short)).toBe("Hi, Ada!");
    // The same workspace with another keychain.
    expect(await stage.greet(one, long)).toBe("Hello, Ada!");
    expect(short.calls.length).toBeGreaterThan(0);
    expect(long.calls.length).toBeGreaterThan(0);
  });

  it("is started once for a workspace", async () => {
    using stage = new Stage();
    const [one = ""] = stage.folders;
    const keychain = stage.keychain("short", "short");
    await stage.greet(one, keychain);
    const lookups = keychain.calls.length;
    await stage.greet(one, keychain);
    expect(keychain.calls).toHaveLength(lookups);
  });

  it("leaves no value in the broker's files and reports", async () => {
    using stage = new Stage();
    const [one = ""] = stage.folders;
    const keychain = stage.keychain("short", "short");
    await stage.greet(one, keychain);
    for (const args of [["broker"], ["broker", "--json"], ["broker", "logs"]]) {
      const { stdout, stderr } = await stage.runProcess(args, { cwd: one });
      expect(stdout + stderr).not.toContain(VALUE);
    }
    const files = readdirSync(stage.home, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(files).not.toEqual([]);
    for (const { parentPath, name } of files)
      expect(readFileSync(join(parentPath, name), "latin1"), name).not.toContain(VALUE);
  });

  it("does not start for a project that was not granted them, beside one that was", async () => {
    using stage = new Stage();
    const keychain = stage.keychain("short", "short");
    const entry = { ...testServer("hello"), env: { GREETING: "${secret:GREETING}" } };
    const [one = "", two = ""] = stage.folders;
    for (const folder of [one, two]) {
      mkdirSync(join(folder, ".trunkline"));
      writeFileSync(join(folder, ".trunkline", "mcp.json"), JSON.stringify({ mcpServers: { hello: entry } }));
      await stage.runProcess(["trust", "--yes"], { cwd: folder });
    }
    await stage.runProcess(["trust", "--secret", "GREETING"], { cwd: one });
    expect(await stage.greet(one, keychain)).toContain("Hi, Ada!");
    expect(await stage.greet(two, keychain)).toContain("which you have not granted");
  });
});
