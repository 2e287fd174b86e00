import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { runProgram } from "../../src/program.js";

const DAY_MS = 86_400_000;
const VERSION = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")).version as string;
const NEWER = "999.1.2";

/** A person at a terminal, with a clock that stands still until it is moved. */
class Person implements Disposable {
  readonly base = mkdtempSync(join(tmpdir(), "trunkline-updates-"));
  readonly home = join(this.base, ".trunkline");
  now = 1_800_000_000_000;
  looks = 0;

  write(name: string, content: unknown): void {
    mkdirSync(this.home, { recursive: true });
    writeFileSync(join(this.home, name), JSON.stringify(content));
  }

  get known(): Record<string, unknown> {
    return JSON.parse(readFileSync(join(this.home, "update-check.json"), "utf8"));
  }

  /** The exit code of the last command. */
  code: number | undefined;

  /** Runs a command and returns what it wrote to stderr. */
  async run(
    args: readonly string[] = ["servers", "list"],
    { env = {}, piped = "" }: { env?: Record<string, string>; piped?: string } = {},
  ): Promise<string> {
    const stream = (name: string) => Object.assign(new PassThrough(), { isTTY: name !== piped, columns: 80 });
    const [stdin, stdout, stderr] = [stream("stdin"), stream("stdout"), stream("stderr")];
    let said = "";
    stderr.on("data", (chunk: Buffer) => {
      said += chunk.toString();
    });
    stdout.resume();
    stdin.end();
    this.code = await runProgram(args, {
      ...{ stdin, stdout, stderr, cwd: this.base, userHome: this.base },
      env: { NO_COLOR: "1", ...env },
      clock: { now: () => this.now, monotonicMs: () => this.now },
      lookForUpdate: () => {
        this.looks++;
      },
    });
    return said;
  }

  [Symbol.dispose](): void {
    rmSync(this.base, { recursive: true, force: true });
  }
}

const line = `Trunkline ${NEWER} is available; this is ${VERSION}. Update: npm install -g trunkline@${NEWER}\n`;

describe("the update notice", () => {
  it("is one line after a command, at most once a day", async () => {
    using person = new Person();
    person.write("update-check.json", { latest: NEWER, lookedAt: person.now });
    expect(await person.run()).toMatch(new RegExp(`${line.replaceAll(".", "\\.")}$`));
    expect(await person.run()).not.toContain("available");
    person.now += DAY_MS - 1;
    expect(await person.run()).not.toContain("available");
    person.now += 1;
    expect(await person.run()).toContain(line);
  });

  it("looks for a newer version once a day, whether it was answered or not", async () => {
    using person = new Person();
    await person.run();
    await person.run();
    expect(person.looks).toBe(1);
    expect(person.known).toEqual({ lookedAt: person.now });
    person.now += DAY_MS;
    await person.run();
    expect(person.looks).toBe(2);
  });

  it("also follows a command that fails, and does not change its exit code", async () => {
    using person = new Person();
    person.write("update-check.json", { latest: NEWER, lookedAt: person.now });
    const args = ["servers", "remove", "none"];
    expect(await person.run(args)).toMatch(/none[\s\S]*is available/);
    const { code } = person;
    expect(code).not.toBe(0);
    await person.run(args, { env: { TRUNKLINE_NO_UPDATE_NOTICE: "1" } });
    expect(person.code).toBe(code);
  });

  it("is not shown if this version is the newest", async () => {
    using person = new Person();
    person.write("update-check.json", { latest: VERSION, lookedAt: person.now });
    expect(await person.run()).not.toContain("available");
  });

  it.each([
    ["the setting is off", { settings: { updateNotice: false } }],
    ["the variable is set", { env: { TRUNKLINE_NO_UPDATE_NOTICE: "1" } }],
    ["it runs in CI", { env: { CI: "true" } }],
    ["stdout is a pipe", { piped: "stdout" }],
    ["stderr is a pipe", { piped: "stderr" }],
    ["a program is served", { args: ["serve", "--no-such-option"] }],
    ["a script runs", { args: ["run"] }],
  ])("is not shown, and nothing is looked for, if %s", async (_, { settings, args, ...options }: TurnedOff) => {
    using person = new Person();
    if (settings !== undefined) person.write("settings.json", settings);
    const before = { latest: NEWER };
    person.write("update-check.json", before);
    expect(await person.run(args, options)).not.toContain("available");
    expect(person.looks).toBe(0);
    expect(person.known).toEqual(before);
  });

  it("does not make a command fail if the home is not writable", async () => {
    using person = new Person();
    writeFileSync(person.home, "a file in its place");
    const args = ["servers", "search", "--help"];
    const silent = await person.run(args, { env: { TRUNKLINE_NO_UPDATE_NOTICE: "1" } });
    const { code } = person;
    expect(await person.run(args)).toBe(silent);
    expect(person.code).toBe(code);
  });
});

interface TurnedOff {
  settings?: unknown;
  args?: readonly string[];
  env?: Record<string, string>;
  piped?: string;
}
