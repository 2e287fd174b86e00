// Text from a server, a repository, a registry or a client that would keep the one main thread busy: by backtracking in
// a regular expression, by a loop inside a loop, by nesting, by a file without an end.
import { rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { packageProblem } from "../../packages/cli/src/registry/package-rules.js";
import type { RegistryPackage } from "../../packages/cli/src/registry/registry-server.js";
import { asksForSecret, isSecretField } from "../../packages/client/src/channel/secret-words.js";
import { hiddenIn } from "../../packages/client/src/pins/hidden-text.js";
import { instructionsIn } from "../../packages/client/src/pins/model-instructions.js";
import { skeletonOf } from "../../packages/client/src/pins/plain-letters.js";
import { parseEnvFile } from "../../packages/config/src/dot-env.js";
import { expandText, secretsIn } from "../../packages/config/src/expand.js";
import { assigned } from "../../packages/config/src/fingerprint.js";
import { maskedText } from "../../packages/config/src/masked-text.js";
import { parseConfigText } from "../../packages/config/src/parse-file.js";
import { parseJson } from "../../packages/config/src/parse-json.js";
import { parseYaml } from "../../packages/config/src/parse-yaml.js";
import { parseProgramText } from "../../packages/config/src/program-text.js";
import {
  parsePath,
  Redactor,
  readRegularFile,
  redactedArgs,
  redactedUrl,
  secretsInArgs,
  systemCodeOf,
  urlForApproval,
  valueForApproval,
} from "../../packages/core/src/index.js";
import { parseReference } from "../../packages/gateway/src/pipeline/references.js";
import { Place } from "../e2e/command.js";
import { growthOf, MAX_GROWTH, MAX_GROWTH_WITH_MEMORY } from "../support/growth.js";

/** More than the everyday limits let through, so that a limit alone does not make a test pass. */
const LARGE = { to: 200_000 };

/** A part of a word that each rule for instructions looks for first. */
const EVERY_RULE = "ignor user confirm .ssh key curl chat https: < previousinstr decode [^ nutzer";

function registryPackage(version: string): RegistryPackage {
  return {
    ...{ type: "pypi", identifier: "notes", version, transport: "stdio" },
    ...{ runtimeArguments: [], packageArguments: [], environment: [] },
  } as unknown as RegistryPackage; // Only what the rules read.
}

describe("the time to examine a text grows with its length, not faster", () => {
  it.each<[string, (size: number) => string]>([
    ["Cyrillic letters in one word", (size) => "я".repeat(size)],
    ["marks in the wrong order above one letter", (size) => `a${"\u0301\u0323".repeat(size / 2)}`],
    ["halfwidth marks above one letter", (size) => `a${"\u0301\uff9e".repeat(size / 2)}`],
    ["a word for disregarding, repeated", (size) => "забудь".repeat(size / 6)],
    ["a request to send, repeated without spaces", (size) => "send-all-to-".repeat(size / 12)],
    ["letters spelled one by one", (size) => "a_".repeat(size / 2)],
    ["spaces", (size) => `a${" ".repeat(size)}a`],
    ["comments that do not end", (size) => "<!--".repeat(size / 4)],
    ["elements that do not end", (size) => "<a ".repeat(size / 3)],
    ["empty lines", (size) => `\n${" ".repeat(50)}`.repeat(size / 51)],
    ["spaces before a link", (size) => `[${" ".repeat(size)}`],
    ["links to nothing", (size) => "[a]:".repeat(size / 4)],
    ["base64 of nothing", (size) => "QUFB".repeat(size / 4)],
  ])("in a definition: %s", async (_name, hostile) => {
    const make = (size: number) => `${EVERY_RULE} ${hostile(size)}`;
    expect(await growthOf(make, (text) => [hiddenIn(text), instructionsIn(text)], LARGE)).toBeLessThan(MAX_GROWTH);
  });

  it("in a tool's name", async () => {
    const make = (size: number) => `a${"\u0301\u0323".repeat(size / 2)}`;
    expect(await growthOf(make, skeletonOf, LARGE)).toBeLessThan(MAX_GROWTH);
  });

  it.each<[string, (size: number) => string]>([
    ["words after a quotation mark", (size) => `"${"a ".repeat(size / 2)}`],
    ["quotation marks", (size) => "“a ".repeat(size / 3)],
    ["quotation marks in one word", (size) => "“".repeat(size)],
    ["words for a secret", (size) => "token ".repeat(size / 6)],
    ["requests", (size) => "enter your password. ".repeat(size / 21)],
    ["warnings", (size) => "do not enter token ".repeat(size / 19)],
    ["letters in one word", (size) => "a".repeat(size)],
    ["letters with spaces", (size) => "я ".repeat(size / 2)],
    ["line breaks after a word for a limit", (size) => `max${"\n".repeat(size)}`],
    ["line breaks before words for a secret", (size) => "max\n\n\n\ntoken ".repeat(size / 13)],
    ["digits in one word", (size) => `a${"0".repeat(size)}`],
    ["marks in the wrong order above one letter", (size) => `a${"\u0301\u0323".repeat(size / 2)}`],
  ])("in a server's question: %s", async (_name, make) => {
    expect(await growthOf(make, (text) => asksForSecret(text), LARGE)).toBeLessThan(MAX_GROWTH);
    expect(await growthOf(make, isSecretField, LARGE)).toBeLessThan(MAX_GROWTH);
  });

  it.each<[string, (size: number) => string]>([
    ["spaces in brackets", (size) => `[${" ".repeat(size)}`],
    ["spaces around a number", (size) => `[${" ".repeat(size / 2)}1${" ".repeat(size / 2)}`],
    ["a quotation that does not end", (size) => `["${"\\a".repeat(size / 2)}`],
    ["fields", (size) => ".a".repeat(size / 2)],
  ])("in the path of a reference: %s", async (_name, make) => {
    expect(await growthOf(make, parsePath, LARGE)).toBeLessThan(MAX_GROWTH);
  });

  it.each<[string, (size: number) => string]>([
    ["letters", (size) => `1${"a".repeat(size)}!`],
    ["letters and separators", (size) => `1${"a.".repeat(size / 2)}!`],
    ["letters and digits", (size) => `1${"a1".repeat(size / 2)}!`],
    ["numbers", (size) => `1${".1".repeat(size / 2)}!`],
  ])("in a version from a registry: %s", async (_name, make) => {
    expect(await growthOf(make, (version) => packageProblem(registryPackage(version)), LARGE)).toBeLessThan(MAX_GROWTH);
  });

  it.each<[string, (size: number) => string]>([
    ["spaces in a value", (size) => `A=a${" ".repeat(size)}a`],
    ["spaces before a name", (size) => `${" ".repeat(size)}!`],
    ["spaces after export", (size) => `export${" ".repeat(size)}!`],
    ["a name without a value", (size) => "a".repeat(size)],
    ["comments", (size) => `A=a${" #".repeat(size / 2)}`],
    ["escapes in a value", (size) => `A="${"\\a".repeat(size / 2)}`],
  ])("in a project's .env: %s", async (_name, make) => {
    expect(await growthOf(make, parseEnvFile)).toBeLessThan(MAX_GROWTH);
  });

  it.each<[string, (size: number) => string]>([
    ["different keys", (size) => `{${Array.from({ length: size / 8 }, (_, at) => `"${at}":1`).join(",")}}`],
    ["the same key", (size) => `{${'"a":1,'.repeat(size / 6)}"a":1}`],
  ])("in a project's JSON: %s", async (_name, make) => {
    expect(await growthOf(make, parseJson)).toBeLessThan(MAX_GROWTH_WITH_MEMORY);
  });

  it.each<[string, (size: number) => string]>([
    ["variables that do not end", (size) => "${".repeat(size / 2)],
    ["defaults that do not end", (size) => "${A:-".repeat(size / 5)],
    ["variables with one end", (size) => `${"${".repeat(size / 2)}}`],
    ["variables in each other", (size) => "${A:-".repeat(size / 6) + "}".repeat(size / 6)],
    ["variables", (size) => "${A}".repeat(size / 4)],
  ])("in a value of a project's entry: %s", async (_name, make) => {
    const scope = { dialect: "mcpServers", env: () => undefined, workspaceFolder: "/w", userHome: "/h" } as const;
    expect(await growthOf(make, (text) => [expandText(text, scope), secretsIn(text)])).toBeLessThan(
      MAX_GROWTH_WITH_MEMORY,
    );
  });

  it.each<[string, (size: number) => string]>([
    ["different keys", (size) => Array.from({ length: size / 8 }, (_, at) => `k${at}: 1\n`).join("")],
    ["the same key", (size) => "a: 1\n".repeat(size / 5)],
    ["aliases", (size) => `a: &a 1\nb: [${"*a, ".repeat(size / 4)}]`],
    ["brackets", (size) => "[".repeat(size)],
    ["lists in one line", (size) => "- ".repeat(size / 2)],
  ])("in a project's YAML: %s", async (_name, make) => {
    expect(await growthOf(make, (text) => parseYaml(text), LARGE)).toBeLessThan(MAX_GROWTH);
  });
});

describe("a reference", () => {
  it("is at most 1,000 characters; a longer one is ordinary text", async () => {
    const never = () => false;
    const longest = `$prev${".abc".repeat(248)}.ab`;
    expect(longest).toHaveLength(1000);
    expect(parseReference(longest, never)).toMatchObject({ kind: "value", text: longest });
    expect(parseReference(`${longest}c`, never)).toBeUndefined();
    expect(parseReference("$hash:".repeat(100_000), never)).toBeUndefined();
  });
});

/** A text of a unit that is repeated. */
const repeated = (unit: string) => (size: number) => unit.repeat(Math.ceil(size / unit.length));

/** Values that a project writes into its entries. */
const VALUES: [string, (size: number) => string][] = [
  ["tokens", repeated("ghp_abcdefghijklmnopqrstuvwxyz0123456789 ")],
  ["random words", repeated("aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0z ")],
  ["URLs", repeated("https://ann:pw@x.example/aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0z ")],
  ["a URL of many parts", (size) => `https://x.example/?${repeated("a=b1&")(size)}`],
  ["pairs", repeated("token=aB3dE6gH9jK2mN5pQ8rS1tU4 ")],
  ["short pairs", repeated("a=b ")],
  ["defaults that do not end", (size) => `token=${repeated("${A:-")(size)}`],
  ["defaults in one variable", (size) => `\${${repeated(":-")(size)}`],
  ["hashes", repeated("sha111111111111111111111111 ")],
];

describe("the time to show a value grows with its length, not faster", () => {
  it.each(VALUES)("in the approval of a variable: %s", async (_name, make) => {
    const shown = (text: string) => [valueForApproval("V", text), valueForApproval("NODE_OPTIONS", text)];
    expect(await growthOf(make, shown, LARGE)).toBeLessThan(MAX_GROWTH);
    expect(await growthOf(make, (text) => assigned({ name: "API_KEY", text }), LARGE)).toBeLessThan(MAX_GROWTH);
  });

  it.each(VALUES)("in the approval of a URL: %s", async (_name, make) => {
    const urls = (size: number) => [`https://x.example/${make(size)}`, `https://x.example/?token=${make(size)}`];
    const shown = (texts: string[]) => texts.map((text) => [redactedUrl(text), urlForApproval(text)]);
    expect(await growthOf(urls, shown, LARGE)).toBeLessThan(MAX_GROWTH);
  });

  it.each(VALUES)("in a list of servers: %s", async (_name, make) => {
    const lists = (size: number) => [[make(size)], ["--token", make(size)], make(size).split(" ")];
    const shown = (list: string[][]) => list.map((args) => [redactedArgs(args), secretsInArgs(args)]);
    expect(await growthOf(lists, shown, LARGE)).toBeLessThan(MAX_GROWTH_WITH_MEMORY);
  });

  it("in a diff: many arguments", async () => {
    const make = (size: number) => `{"mcpServers":{"x":{"list":[${"1,".repeat(size / 2)}1]}}}`;
    const shown = (text: string) => maskedText(text, { format: "json", tables: [["mcpServers"]] });
    expect(await growthOf(make, shown, { from: 100_000 })).toBeLessThan(MAX_GROWTH);
  });

  it("with any number of secrets in it, and of defaults in each other", () => {
    const secrets = repeated("a=b1&")(1_000_000);
    expect(urlForApproval(`https://x.example/?${secrets}`)).not.toContain("b1");
    expect(redactedArgs([`https://x.example/?${secrets}`])[0]).not.toContain("b1");
    expect(redactedArgs([`${repeated("a-")(600_000)}b1`])).toHaveLength(1);
    const nested = `${"${A:-".repeat(50_000)}hunter2${"}".repeat(50_000)}`;
    expect(redactedUrl(`https://x.example/?key=${nested}`)).toBe(
      `https://x.example/?key=${nested.replace("hunter2", "<redacted>")}`,
    );
  });
});

describe("the time to find known secrets", () => {
  const TEXT = repeated("a")(20_000);

  it.each<[string, (size: number) => { secrets: string[]; text: string }]>([
    ["the text", (size) => ({ secrets: ["hunter2hunter2", "aaaaaaab"], text: repeated("a")(size) })],
    ["a secret", (size) => ({ secrets: [`${repeated("a")(size)}b`], text: TEXT })],
    ["a secret in the text", (size) => ({ secrets: [`${repeated("a")(size)}b`], text: repeated("a")(size) })],
    ["the number of secrets", (size) => ({ secrets: many(size / 20), text: TEXT })],
    ["the number of secrets in the text", (size) => ({ secrets: many(size / 20), text: repeated("a")(size) })],
  ])("grows with the size of %s, not faster", async (_name, make) => {
    const find = ({ secrets, text }: ReturnType<typeof make>) => new Redactor().add(...secrets).text(text);
    expect(await growthOf(make, find, { from: 100_000, to: 400_000 })).toBeLessThan(MAX_GROWTH);
  });

  /** Secrets that begin alike, like the text. */
  function many(count: number): string[] {
    return Array.from({ length: Math.ceil(count) }, (_, at) => `aaaaaaaaaa${at}b`);
  }
});

/** Maps in each other, in the formats of a project's files. */
const NESTED: [string, (levels: number) => string][] = [
  ["a.json", (levels) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`],
  ["lists.json", (levels) => `{"a":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`],
  ["flow.yaml", (levels) => `${"{a: ".repeat(levels)}1${"}".repeat(levels)}`],
  ["block.yaml", (levels) => Array.from({ length: levels }, (_, at) => `${" ".repeat(at)}a:\n`).join("")],
  ["lists.yaml", (levels) => `a:\n ${"- ".repeat(levels - 1)}1\n`],
];

describe("a file of a project", () => {
  it.each(NESTED)("may be nested 100 levels deep, and is refused beyond that: %s", async (path, make) => {
    expect(await parseConfigText(make(100), path)).toMatchObject({ ok: true });
    for (const levels of [101, 5000]) {
      const reason = "it is nested more than 100 levels deep";
      expect(await parseConfigText(make(levels), path)).toMatchObject({ ok: false, reason });
    }
  });

  it("is refused if it never closes its brackets", async () => {
    for (const path of ["a.json", "a.yaml"])
      expect(await parseConfigText(`{"a":${"[".repeat(300_000)}`, path)).toMatchObject({
        ok: false,
        reason: "it is nested more than 100 levels deep",
      });
  });

  it("is refused at the place that is too deep, if another program wrote it", async () => {
    const deep = `{\n"a":${"[".repeat(50_000)}`;
    const message = "settings.json:2:104 cannot be used: it is nested more than 100 levels deep.";
    expect(() => parseProgramText(deep, "json", "settings.json")).toThrow(message);
  });

  it("is refused if the name of a table in it has more than 100 parts", async () => {
    const table = (parts: number) => `[${Array.from({ length: parts }, () => "a").join(".")}]`;
    expect(parseProgramText(table(99), "toml", "config.toml")).toHaveProperty("a");
    expect(() => parseProgramText(table(101), "toml", "config.toml")).toThrow("nested more than 100 levels deep");
    expect(() => parseProgramText(table(100_000), "toml", "config.toml")).toThrow("nested more than 100 levels deep");
  });

  it("may have brackets in texts and comments", async () => {
    const text = `{"a": "${"[{".repeat(200)}", // ${"[{".repeat(200)}\n "b\\"${"[".repeat(200)}": /* ${"[".repeat(200)} */ 1}`;
    expect(parseJson(text)).toMatchObject({ ok: true });
  });

  it.each([".mcp.json", ".trunkline/mcp.json"])("is at most 1 MB: %s", async (path) => {
    using place = new Place({ ".git/HEAD": "", [path]: "" });
    truncateSync(join(place.cwd, path), 1024 * 1024 + 1);
    const { stderr } = await place.run(path === ".mcp.json" ? ["import", "--dry-run"] : ["tools"]);
    expect(stderr).toContain(`${path.split("/").at(-1)} cannot be read: it is too large`);
  });
});

describe.skipIf(process.platform !== "linux")("a file without an end", () => {
  it("is read up to the limit, whatever size it claims", async () => {
    using place = new Place({});
    const path = join(place.cwd, "config");
    // Claims to be empty, and has gigabytes.
    symlinkSync("/proc/self/pagemap", path);
    const before = process.memoryUsage().rss;
    expect(await readRegularFile(path, { maxBytes: 1024 * 1024 }).catch(systemCodeOf)).toBe("EFBIG");
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024);
  });

  it("does not count as one if it only claims to be empty", async () => {
    expect((await readRegularFile("/proc/self/status")).toString()).toContain("Pid:");
  });

  it.each([".mcp.json", ".cursor/mcp.json", ".codex/config.toml"])("is not read in place of %s", async (path) => {
    using place = new Place({ ".git/HEAD": "", [path]: "" });
    rmSync(join(place.cwd, path));
    symlinkSync("/proc/self/pagemap", join(place.cwd, path));
    const { stderr } = await place.run(["import", "--dry-run"]);
    expect(stderr).toContain(`${path} cannot be read: it is too large`);
  });
});

describe("a file of exactly the limit", () => {
  it("is read, and one byte more is not", async () => {
    using place = new Place({});
    const path = join(place.cwd, "config");
    writeFileSync(path, "x".repeat(200_001));
    expect(await readRegularFile(path, { maxBytes: 200_001 })).toHaveLength(200_001);
    expect(await readRegularFile(path, { maxBytes: 200_000 }).catch(systemCodeOf)).toBe("EFBIG");
  });
});
