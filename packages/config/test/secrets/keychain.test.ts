import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { StandInKeychain } from "../../../../test/support/stand-in-keychain.js";
import { readKeychain, removeFromKeychain, writeKeychain } from "../../src/secrets/keychain.js";
import { resolveSecrets, secretEnvironment } from "../../src/secrets/resolve-secrets.js";
import { parseSecretReference, referenceProblem } from "../../src/secrets/secret-reference.js";

function standIn(platform: string) {
  const folder = mkdtempSync(join(tmpdir(), "trunkline-keychain-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const keychain = new StandInKeychain(folder);
  const env = secretEnvironment({ ...process.env, PATH: keychain.path });
  return { keychain, place: { env, cwd: folder, platform } };
}

describe.each(["linux", "darwin", "win32"])("the keychain of %s", (platform) => {
  it.each(["plain", "two\nlines\n", "é 日本 'quoted' \"too\" $HOME `x`", " spaces "])(
    "keeps %j as it is",
    async (value) => {
      const { place } = standIn(platform);
      expect(await readKeychain("A", place)).toBeUndefined();
      await writeKeychain("A", value, place);
      expect(await readKeychain("A", place)).toBe(value);
      await writeKeychain("A", "another", place);
      expect(await readKeychain("A", place)).toBe("another");
      expect(await removeFromKeychain("A", place)).toBe(true);
      expect(await removeFromKeychain("A", place)).toBe(false);
    },
  );

  it("never has a value on a command line", async () => {
    const { keychain, place } = standIn(platform);
    await writeKeychain("A", "s3cr3t-0815", place);
    const words = JSON.stringify(keychain.calls);
    for (const form of ["s3cr3t-0815", Buffer.from("s3cr3t-0815").toString("base64")])
      expect(words).not.toContain(form);
  });

  it.each(["--help", "-a", "", "a b", "a\nb", "../x", "a/b", "é", "x".repeat(200)])(
    "is not asked for %j",
    async (name) => {
      const { keychain, place } = standIn(platform);
      await expect(readKeychain(name, place)).rejects.toThrow("not the name of a secret");
      await expect(writeKeychain(name, "value", place)).rejects.toThrow("not the name of a secret");
      expect(keychain.calls).toEqual([]);
    },
  );

  it("tells a missing keychain from a missing secret", async () => {
    const { keychain, place } = standIn(platform);
    keychain.breakDown();
    await expect(readKeychain("A", place)).rejects.toThrow("Cannot autolaunch D-Bus");
  });

  it("rejects what does not fit", async () => {
    const { place } = standIn(platform);
    await expect(writeKeychain("A", "x".repeat(5_000), place)).rejects.toThrow("at most");
    await expect(writeKeychain("A", "a\0b", place)).rejects.toThrow("NUL");
  });
});

describe("a password that was saved without Trunkline", () => {
  it("is read from the keychain of macOS as it is", async () => {
    const { keychain, place } = standIn("darwin");
    keychain.set("A", "plain-password");
    expect(await readKeychain("A", place)).toBe("plain-password");
  });
});

describe("secrets of a server", () => {
  const reference = (body: string) => parseSecretReference(body) ?? expect.fail(body);

  it("come from the keychain, 1Password and commands", async () => {
    const { keychain, place } = standIn("linux");
    keychain.set("A", "from-keychain");
    keychain.set("op://vault/item/field", "from-1password");
    const references = ["secret:A", "op://vault/item/field", "cmd:printf 'from-%s' command"].map(reference);
    const values = await resolveSecrets(references, place);
    expect([...values.values()]).toEqual(["from-keychain", "from-1password", "from-command"]);
    expect(keychain.calls).toContainEqual(["op", "read", "--no-newline", "op://vault/item/field"]);
  });

  it("can be written with or without the scheme of 1Password", () => {
    for (const body of ["op://v/i/f", "op:v/i/f", "op:op://v/i/f"]) expect(reference(body).name).toBe("op://v/i/f");
  });

  it.each([
    ["secret:MISSING", 'no secret "MISSING"'],
    ["op://vault/item/missing", "1Password did not return op://vault/item/missing"],
    ["cmd:echo s3cr3t-part >&2; exit 3", "failed with exit code 3."],
    ["cmd:true", "is empty"],
    ["cmd:printf 'a\\0b'", "NUL"],
    ["cmd:yes s3cr3t", "more than 64 KB"],
  ])("that cannot be had are explained: %s", async (body, message) => {
    const { place } = standIn("linux");
    const failure = await resolveSecrets([reference(body)], place).catch((error: unknown) => String(error));
    expect(failure).toContain(message);
    expect(failure).not.toContain("s3cr3t");
  });

  it("stop being looked up when the caller gives up", async () => {
    const { place } = standIn("linux");
    const stop = new AbortController();
    const waiting = resolveSecrets([reference("cmd:sleep 600 | cat")], { ...place, signal: stop.signal });
    stop.abort();
    await expect(waiting).rejects.toMatchObject({ code: "ABORTED" });
  });

  it.each(["secret:--help", "secret:", "op:--help", "op://a/b", "op://a/b\n/c", "op:///a/b", "cmd:", "cmd:a\0b"])(
    "have a name that can exist: not %j",
    (body) => {
      expect(referenceProblem(reference(body))).toBeDefined();
    },
  );

  it("give their programs only the variables they need", () => {
    const env = secretEnvironment({ PATH: "/bin", HOME: "/h", GITHUB_TOKEN: "x", OP_SESSION_a: "y", LD_PRELOAD: "z" });
    expect(env).toEqual({ PATH: "/bin", HOME: "/h", OP_SESSION_a: "y" });
  });
});
