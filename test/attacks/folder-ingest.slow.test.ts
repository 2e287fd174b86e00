// What a folder add, `init` and `watch` take in: never secrets, and nothing from outside the folder.
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { outcomeOf, Place, seen } from "../e2e/command.js";

const SECRET = "hunter2hunter2";

/** A project with secrets in it and next to it. Every secret file contains {@link SECRET}. */
function placeWithSecrets(): Place {
  const names = [
    ".env",
    ".ENV.local",
    "packages/api/.env.production",
    "prod.env",
    "id_rsa",
    "keys/id_ed25519",
    "server.pem",
    "tls/site.key",
    ".netrc",
    ".npmrc",
    ".pgpass",
    ".aws/credentials",
    ".aws/deep/er/than/four/parts/x",
    ".ssh/config",
    ".kube/config",
    ".gnupg/pubring.kbx",
    ".npmrc~",
    "server.pem.old",
    "backup/.config/gh/hosts.yml",
  ];
  const place = new Place({
    "a.md": "apples",
    "src/b.md": "pears",
    ".env.example": "KEY=",
    ...Object.fromEntries(names.map((name) => [name, SECRET])),
  });
  mkdirSync(join(place.home, ".ssh"));
  writeFileSync(join(place.home, ".ssh", "id_rsa"), SECRET);
  writeFileSync(join(place.home, "notes.md"), SECRET);
  symlinkSync(join(place.home, ".ssh", "id_rsa"), join(place.cwd, "notes.md"));
  symlinkSync(join(place.home, ".ssh"), join(place.cwd, "docs"));
  symlinkSync(join(place.home, "notes.md"), join(place.cwd, "outside.md"));
  symlinkSync(".env", join(place.cwd, "inside.md"));
  symlinkSync(".aws/deep/er/than/four/parts/x", join(place.cwd, "deep.md"));
  symlinkSync(".aws", join(place.cwd, "cloud"));
  return place;
}

async function pathsIn(place: Place, ...args: string[]): Promise<string[]> {
  const { stdout } = await place.run(["store", "list", "--paths-only", ...args]);
  return stdout.split("\n").filter((line) => line !== "");
}

async function expectNoSecret(place: Place): Promise<void> {
  expect((await place.run(["store", "grep", SECRET])).stdout).toBe("");
  const paths = await pathsIn(place);
  expect(paths.sort()).toEqual([".env.example", "a.md", "src/b.md"]);
}

describe("secrets in a folder are left out", () => {
  it("by store add, which says so", async () => {
    using place = placeWithSecrets();
    const { code, stdout, stderr } = await place.run(["store", "add", ".", "--json"]);
    expect(code).toBe(0);
    await expectNoSecret(place);
    const { left_out, files, skipped, problems } = JSON.parse(stdout);
    expect([files, left_out.sensitive, left_out.folders.sort()]).toEqual([
      3,
      16,
      [".aws", ".gnupg", ".kube", ".ssh", "gh"],
    ]);
    expect(skipped).toBe(left_out.sensitive + problems.length);
    expect(stderr).toMatch(/^Skipped 16 sensitive files, \.aws\//m);
  });

  it("even if a glob asks for them", async () => {
    using place = placeWithSecrets();
    await place.run(["store", "add", ".", "--include", "*", "--include", ".env", "--include", ".*"]);
    expect((await place.run(["store", "grep", SECRET])).stdout).toBe("");
  });

  it("by an agent's add of the folder", async () => {
    using place = placeWithSecrets();
    expect((await place.run(["execute", '[{"op":"add","params":{"path":"."}}]'])).code).toBe(0);
    await expectNoSecret(place);
  });

  it("by init, even without a .gitignore", async () => {
    using place = placeWithSecrets();
    const { code, stderr } = await place.run(["init"]);
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^Skipped \d+ sensitive files, /m)]);
    await expectNoSecret(place);
  });

  it("if the folder itself is one of secrets", async () => {
    using place = new Place();
    mkdirSync(join(place.home, ".ssh", "keys", "a", "b", "c"), { recursive: true });
    for (const name of ["config", "known_hosts", "keys/work", "keys/a/b/c/deep"])
      writeFileSync(join(place.home, ".ssh", name), SECRET);
    symlinkSync(join(place.home, ".ssh"), join(place.cwd, "docs"));
    for (const folder of [join(place.home, ".ssh"), "docs", join(place.home, ".ssh", "keys", "a", "b", "c")]) {
      expect((await place.run(["store", "add", folder])).stderr).toMatch(/Skipped \d sensitive file/);
    }
    expect(await pathsIn(place)).toEqual([]);
  });

  it("by watch, also when they appear later", async () => {
    using place = placeWithSecrets();
    const watching = place.start(["store", "watch", "."]);
    const ended = outcomeOf(watching);
    await seen(watching.stderr, /watching/);
    for (const name of [".env.new", "src/late.pem", ".ssh/new", "src/id_rsa"]) place.write(name, SECRET);
    symlinkSync(join(place.home, "notes.md"), join(place.cwd, "src", "late.md"));
    symlinkSync("../.env", join(place.cwd, "src", "inner.md"));
    place.write("z-last.md", "plums");
    await seen(watching.stdout, /z-last\.md/);
    watching.kill("SIGINT");
    const { stderr } = await ended;
    expect(stderr).toContain("Skipped 16 sensitive files");
    expect((await place.run(["store", "grep", SECRET])).stdout).toBe("");
  });

  it("whatever the name of a private key is, and it can be added by naming it", async () => {
    const key = (kind: string) => `\n-----BEGIN ${kind}PRIVATE KEY-----\n${SECRET}\n-----END ${kind}PRIVATE KEY-----\n`;
    using place = new Place({
      deploy: key("OPENSSH "),
      "config/prod.txt": key(""),
      "putty.txt": `PuTTY-User-Key-File-3: ssh-ed25519\n${SECRET}`,
      "a.md": "A key begins with\n-----BEGIN PRIVATE KEY-----\n",
    });
    const { stderr } = await place.run(["store", "add", "."]);
    expect(stderr).toContain("Skipped 3 sensitive files");
    expect(await pathsIn(place)).toEqual(["a.md"]);
    // A document of an earlier version goes away, too.
    place.write("a.md", key("RSA "));
    await place.run(["init"]);
    expect((await place.run(["store", "grep", "PRIVATE"])).stdout).toBe("");
    await place.run(["store", "add", "deploy"]);
    expect(await pathsIn(place)).toEqual(["deploy"]);
  });

  it("but a person can add one by naming it", async () => {
    using place = placeWithSecrets();
    expect((await place.run(["store", "add", ".env", join(place.home, ".ssh", "id_rsa")])).code).toBe(0);
    expect(await pathsIn(place)).toHaveLength(2);
  });

  it("and documents of secrets that an earlier version took in are removed", async () => {
    using place = new Place({ "a.md": "apples", ".env": SECRET });
    // As a folder add used to: the file with its root.
    await place.run(["store", "add", ".env", "a.md"]);
    await place.run(["store", "add", "."]);
    expect(await pathsIn(place)).toEqual(["a.md"]);
  });
});

describe("init and watch without a .gitignore", () => {
  const FILES = {
    "a.md": "apples",
    "node_modules/x/index.js": "x",
    "packages/p/node_modules/y/index.js": "y",
    "dist/a.js": "a",
    "target/a.o": "a",
    "packages/p/build/a.js": "a",
    ".venv/lib/a.py": "a",
    ".next/a.js": "a",
    ".editorconfig": "root = true",
    "src/out.ts": "out",
    "big.csv": "1,2,3\n".repeat(2_000_000),
  };

  it("skip packages, build output, hidden folders and large files, and say so", async () => {
    using place = new Place(FILES);
    const { stderr } = await place.run(["init"]);
    expect(stderr).toMatch(/^Skipped \.next\/, \.venv\/, dist\/, 3 more folders and 1 file over 10 MB\.$/m);
    const wanted = [".editorconfig", "a.md", "src/out.ts"];
    expect((await pathsIn(place)).sort()).toEqual(wanted);
    // An add of the same folder takes everything, and another init keeps it.
    await place.run(["store", "add", "."]);
    await place.run(["init"]);
    expect(await pathsIn(place)).toHaveLength(Object.keys(FILES).length);
  });

  it("take what a .gitignore allows, also one of the repository around the folder", async () => {
    using place = new Place({
      ".git/HEAD": "",
      ".gitignore": "target\n",
      "sub/dist/a.md": "a",
      "sub/target/b.md": "b",
    });
    await place.run(["init"], { cwd: join(place.cwd, "sub") });
    const { stdout } = await place.run(["store", "list", "--paths-only"], { cwd: join(place.cwd, "sub") });
    expect(stdout).toContain(join("dist", "a.md"));
  });

  it("take --exclude", async () => {
    using place = new Place({ "a.md": "a", "b.txt": "b", "deep/c.txt": "c", "drafts/d.md": "d" });
    await place.run(["init", "--exclude", "*.txt", "drafts/"]);
    expect(await pathsIn(place)).toEqual(["a.md"]);
    const watching = place.start(["store", "watch", ".", "--exclude", "*.txt", "--exclude", "drafts"]);
    const ended = outcomeOf(watching);
    await seen(watching.stderr, /watching/);
    place.write("late.txt", "x");
    place.write("drafts/late.md", "x");
    place.write("node_modules/z/late.md", "x");
    place.write("z-last.md", "x");
    await seen(watching.stdout, /z-last\.md/);
    watching.kill("SIGINT");
    const { stdout } = await ended;
    expect(stdout).not.toContain("late");
  });
});
