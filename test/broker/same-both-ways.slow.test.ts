// The same command lines in process and over the broker: the same output, the same exit code.
import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bin, type Outcome, outcomeOf, Place } from "../e2e/command.js";
import { testServer } from "../e2e/server-entries.js";
import { atTerminal, hasTerminal } from "../e2e/terminal.js";
import { HANG_MS } from "../support/hang.js";

const SERVERS = {
  hello: testServer("hello"),
  slow: testServer("slow"),
  asking: testServer("asking"),
  flooding: testServer("flooding"),
  library: testServer("library"),
  crashing: testServer("crashing"),
  gone: { command: "/nonexistent/program" },
  dying: testServer("crashing", "--crash-on-start"),
  away: { type: "http", url: "http://127.0.0.1:1/mcp" },
};

const PROJECT_SERVERS = {
  inputs: [{ type: "promptString", id: "greeting", description: "The greeting" }],
  servers: { asked: { ...testServer("hello"), env: { GREETING: "${input:greeting}" } } },
};

const TURNS = [{ tool: "hello.repeat", args: { text: "x", count: 2 } }, { text: "Done." }];

/** How a line that shows progress is replaced. */
const ERASE = "\r\u001b[K";

interface ShellOptions {
  readonly input?: string;
  readonly until?: RegExp;
  readonly signal?: NodeJS.Signals;
}

/** One HOME and project, in which every command line runs one way. */
class Way extends Place {
  constructor(broker: "on" | "off") {
    super(
      {
        "src/a.ts": 'import { b } from "./b.js";\nexport const needle = b;\n',
        "src/b.ts": "export function b() {\n  return 1;\n}\n",
        "notes.md": "# Notes\n\nA needle in a haystack.\n",
        "picture.bin": Buffer.from([0, 255, 13, 10, 27, 91, 50, 74, 128]).toString("latin1"),
        "bad.json": "{",
        "script.jsonl": TURNS.map((turn) => JSON.stringify(turn)).join("\n"),
        "gone/empty": "",
        "other/.git/HEAD": "",
        "other/.trunkline/mcp.json": PROJECT_SERVERS,
      },
      { TRUNKLINE_BROKER: broker },
    );
    const home = join(this.home, ".trunkline");
    mkdirSync(home);
    writeFileSync(join(home, "settings.json"), JSON.stringify({ mcpServers: SERVERS }));
    writeFileSync(join(this.cwd, "picture.bin"), Buffer.from([0, 255, 13, 10, 27, 91, 50, 74, 128]));
    writeFileSync(join(this.cwd, "wide.txt"), `entry ${"x".repeat(400)}\n`.repeat(5_000));
    const programs = join(this.base, "bin");
    mkdirSync(programs);
    writeFileSync(join(programs, "trunkline"), `#!/bin/sh\nexec '${process.execPath}' '${bin}' "$@"\n`);
    chmodSync(join(programs, "trunkline"), 0o755);
  }

  get #env(): Record<string, string> {
    return { PATH: `${join(this.base, "bin")}:${process.env.PATH}`, HOME: this.home, SHELL: "/bin/sh", ...this.env };
  }

  /** Runs a line of shell. `signal` is sent to the command once `until` was shown; until then, its input stays open. */
  async shell(line: string, { input = "", until, signal }: ShellOptions = {}): Promise<Outcome> {
    const child = spawn("bash", ["-c", line], { cwd: this.cwd, env: this.#env, stdio: ["pipe", "pipe", "pipe"] });
    child.stdin.on("error", () => {}).write(input);
    if (until === undefined) child.stdin.end();
    let shown = "";
    const onData = (chunk: Buffer | string) => {
      shown += chunk;
      if (until?.test(shown) !== true) return;
      child.kill(signal);
      shown = "";
    };
    child.stdout.on("data", onData);
    child.stderr.on("data", onData);
    return this.#shared(await outcomeOf(child));
  }

  /** Runs a line of shell at a terminal and types each answer once its question is shown. */
  async terminal(line: string, answers: readonly (readonly [question: string, keys: string])[] = []): Promise<Outcome> {
    const child = spawn("script", ["-qec", `stty cols 80 rows 24; ${line}`, "/dev/null"], {
      cwd: this.cwd,
      env: { ...this.#env, TERM: "xterm", TRUNKLINE_NO_UPDATE_NOTICE: "1" },
      stdio: ["pipe", "pipe", "pipe"],
    });
    const waiting = [...answers];
    let shown = "";
    child.stdout.on("data", (chunk: Buffer | string) => {
      shown += chunk;
      const [question, keys] = waiting[0] ?? [];
      if (question === undefined || !shown.includes(question)) return;
      shown = shown.slice(shown.indexOf(question) + question.length);
      waiting.shift();
      child.stdin.write(keys ?? "");
    });
    const timer = setTimeout(() => child.kill(), HANG_MS);
    const outcome = await outcomeOf(child);
    clearTimeout(timer);
    return this.#shared({
      ...outcome,
      stdout: outcome.stdout + waiting.map(([question]) => `\nnot asked: ${question}`),
    });
  }

  /** Removes what differs between any two runs: the folder, times, ids, and how often a line was redrawn. */
  #shared({ code, stdout, stderr }: Outcome): Outcome {
    const same = (text: string) =>
      text
        .replaceAll(this.base, "<base>")
        .replaceAll(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?Z?)?/g, "<time>")
        .replaceAll(/\b\d+(?:\.\d+)? (?:ms|s)\b/g, "<duration>")
        .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "<id>")
        .replaceAll(/"(_?duration_ms|elapsed_ms)":\s*[\d.]+/g, '"$1": 0')
        .replaceAll(/\d{8}-\d{6}-[0-9a-f]{4}/g, "<id>")
        .split(ERASE)
        .filter((part, at, parts) => at === 0 || at === parts.length - 1 || /[\r\n]/.test(part))
        .join("");
    return { code, stdout: same(stdout), stderr: same(stderr) };
  }
}

let off: Way;
let on: Way;
let brokerPid: number;

async function runningBroker(): Promise<number> {
  const { pid } = JSON.parse((await on.shell("trunkline broker --json")).stdout) as { pid: number };
  expect(pid).toBeGreaterThan(0);
  return pid;
}

beforeAll(async () => {
  off = new Way("off");
  on = new Way("on");
  const prepare = "trunkline store add src notes.md picture.bin wide.txt >&2; trunkline tools >&2";
  await Promise.all([off, on].map((way) => way.shell(prepare)));
  brokerPid = await runningBroker();
});

afterAll(() => {
  off[Symbol.dispose]();
  on[Symbol.dispose]();
});

async function expectSame(run: (way: Way) => Promise<Outcome>): Promise<Outcome> {
  const [inProcess, relayed] = await Promise.all([run(off), run(on)]);
  expect(relayed).toEqual(inProcess);
  return inProcess;
}

const LINES = [
  // What commands print, and how they fail.
  "trunkline call hello.hello name=Ada",
  "trunkline call hello.hello --json",
  "trunkline call hello.repeat text=x count:=3",
  "trunkline call hello.repeat",
  "trunkline call hello.repeat text:=oops",
  "trunkline call hello.absent",
  "trunkline call absent.tool",
  "trunkline call",
  "trunkline call gone.tool",
  "trunkline call dying.tool",
  "trunkline call away.tool --timeout 5",
  "trunkline call crashing.crash stderr=boom code:=7",
  "trunkline call slow.burst count:=3",
  "trunkline call slow.wait ms:=60000 progress_every_ms:=60000 --timeout 0.2",
  "trunkline call asking.ask_form",
  "trunkline call asking.ask_roots --root src",
  "trunkline call asking.ask_roots --root absent",
  "trunkline call library.log level=warning message=careful",
  "trunkline call flooding.stderr bytes:=300000",
  "TRUNKLINE_LOG_LEVEL=debug trunkline call hello.hello 2>/dev/null",
  "trunkline call --bad-option",
  "trunkline call hello.hello -o out/answer.txt && cat out/answer.txt",
  "trunkline call hello.hello -o src",
  "trunkline tools hello.*",
  "trunkline tools --json hello.*",
  "trunkline tools absent.*",
  "trunkline tools --tokens hello.*",
  "trunkline tools",
  "trunkline tools --changes",
  "trunkline tools --approve absent",
  "trunkline resources list library",
  "trunkline resources list",
  "trunkline resources read library test://notes/today",
  "trunkline resources read library test://absent",
  "trunkline resources read library test://picture",
  "trunkline resources nonsense",
  "trunkline prompts list library",
  "trunkline prompts get library.greet name=Ada",
  "trunkline prompts get library.greet",
  "trunkline query grep pattern=needle",
  'trunkline query \'{"steps": [{"op": "grep", "params": {"pattern": "needle"}}]}\'',
  "trunkline query bad.json",
  "trunkline query absent",
  'echo \'{"steps": [{"op": "list_collections"}]}\' | trunkline query -',
  "trunkline query - < /dev/null",
  "trunkline query search --help",
  "trunkline execute hello.hello name=Ada",
  "trunkline execute add path=notes.md | grep -c hash",
  "trunkline store search needle --type keyword",
  "trunkline store search needle --type keyword --json | grep -c path",
  "trunkline store search absentword --type keyword",
  "trunkline store search",
  "trunkline store grep needle",
  "trunkline store grep needle src",
  "cd src && trunkline store grep needle .",
  "trunkline store grep needle --json",
  "trunkline store grep -q needle",
  "trunkline store grep absent",
  "trunkline store grep '('",
  "trunkline store grep -c entry",
  "trunkline store grep entry | sha256sum",
  "trunkline store grep entry > all.txt 2>&1; sha256sum < all.txt",
  "trunkline store list",
  "trunkline store list --json | wc -l",
  "trunkline store list --sort-by nonsense",
  "trunkline store list --store /nonexistent",
  "trunkline store get notes.md",
  "trunkline store get picture.bin | od -c",
  "trunkline store get wide.txt | sha256sum",
  "trunkline store get absent.md",
  "trunkline store get src/b.ts --symbol b",
  "trunkline store get notes.md -o /nonexistent/x",
  "trunkline store graph src/a.ts",
  "trunkline store graph src/a.ts --format mermaid",
  "trunkline store graph absent",
  "trunkline store nonsense",
  "trunkline store status | grep -v 'on disk'",
  "cd other && trunkline tools asked.*",
  "cd other && trunkline call asked.hello",
  "trunkline ask --provider echo hello there",
  "echo piped words | trunkline ask --provider echo about",
  "trunkline ask --provider echo --json --pretty x",
  "trunkline ask --provider echo --script script.jsonl --tool 'hello.*' --yes x",
  "trunkline ask --provider echo --script script.jsonl --tool 'hello.*' x",
  "trunkline ask --provider echo",
  "trunkline ask",
  "trunkline ask --provider nonsense x",
  "printf 'one\\ntwo\\n' | trunkline chat --provider echo 2>/dev/null",
  "trunkline agent --provider echo --script script.jsonl --tool 'hello.*' --yes task",
  // Streams.
  "trunkline call flooding.big bytes:=3000000 | sha256sum",
  "trunkline call flooding.big bytes:=3000000 2>&1 | head -c 100",
  "trunkline store grep entry | head -1",
  "trunkline store grep entry | (sleep 1; sha256sum)",
  "trunkline call flooding.big bytes:=3000000 | (sleep 1; sha256sum)",
  "trunkline store grep entry 2>&1 >/dev/full | head -3; exit ${PIPESTATUS[0]}",
  "trunkline tools | head -1; exit ${PIPESTATUS[0]}",
  "trunkline call hello.hello >&-",
  "trunkline call hello.hello 2>&-",
  "trunkline call hello.hello <&-",
  "trunkline call hello.hello < notes.md",
  "trunkline ask --provider echo x < /dev/null",
  "trunkline ask --provider echo x <&-",
  "head -c 3000000 /dev/zero | tr '\\0' x | trunkline ask --provider echo x | wc -c",
  "head -c 3000000 /dev/zero | trunkline store add - --name zeros.bin; trunkline store get zeros.bin | sha256sum",
  "yes | trunkline call hello.hello",
  // The environment.
  "NO_COLOR=1 trunkline tools hello.*",
  "FORCE_COLOR=1 trunkline tools hello.*",
  "trunkline --color always tools hello.*",
  "trunkline tools hello.* --color=always",
  "trunkline --color nonsense tools",
  "COLUMNS=30 trunkline tools hello.*",
  "TZ=Asia/Tokyo trunkline store list --json | grep -c indexed",
  "TRUNKLINE_HOME=$PWD/other trunkline tools",
  "TRUNKLINE_HOME=other trunkline tools",
  "HOME= trunkline tools hello.hello",
  "TRUNKLINE_TRUST=all trunkline tools hello.hello",
  "TRUNKLINE_STORE=absent trunkline store grep needle",
  "cd gone && rmdir $PWD 2>/dev/null; rm -r $PWD && trunkline tools hello.hello 2>&1 | grep -v '^ '",
  "trunkline --no-broker tools hello.hello",
  "trunkline tools hello.hello --no-broker",
  "TZ=Asia/Tokyo trunkline store list | head -2",
  "NODE_OPTIONS=--no-deprecation trunkline tools hello.hello",
  "NODE_EXTRA_CA_CERTS=notes.md trunkline tools hello.hello",
  "umask 077; trunkline call hello.hello -o private.txt; stat -c %a private.txt",
];

describe("a command line prints the same and exits alike", () => {
  it.each(LINES)("%s", async (line) => {
    await expectSame((way) => way.shell(line));
  });
});

describe("a signal", () => {
  const call = "exec trunkline call slow.wait ms:=60000";
  const debug = { until: /calling a tool/ };

  it.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)("%s ends a call alike", async (signal) => {
    const { code } = await expectSame(async (way) => {
      const { code: ended, stdout } = await way.shell(`TRUNKLINE_LOG_LEVEL=debug ${call}`, { ...debug, signal });
      return { code: ended, stdout, stderr: "" };
    });
    expect(code).toBe({ SIGINT: 130, SIGTERM: 143, SIGHUP: 129 }[signal]);
  });

  it.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)("%s ends `serve` alike", async (signal) => {
    const initialize = {
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "x", version: "1" } },
    };
    const input = `${JSON.stringify(initialize)}\n`;
    await expectSame((way) => way.shell("exec trunkline serve", { input, until: /"id":1/, signal }));
  });
});

describe.skipIf(!hasTerminal)(`${atTerminal}`, () => {
  it.each([
    "trunkline tools hello.*",
    "trunkline call hello.hello name=Ada",
    "trunkline call slow.wait ms:=300",
    "trunkline call gone.tool",
    "trunkline store grep needle",
    "NO_COLOR=1 trunkline store grep needle",
    "COLUMNS=30 trunkline tools hello.*",
    "stty cols 40; trunkline tools hello.*",
    "trunkline tools | cat",
    "trunkline store get picture.bin",
    "trunkline ask --provider echo hello there",
    "trunkline call hello.hello 2>/dev/null",
  ])("%s", async (line) => {
    await expectSame((way) => way.terminal(line));
  });

  const TYPED: readonly (readonly [string, readonly (readonly [string, string])[]])[] = [
    ["trunkline call slow.wait ms:=60000", [["wait", "\u0003"]]],
    [
      "trunkline chat --provider echo",
      [
        ["> ", "one\r"],
        ["> ", "\u0003"],
        ["> ", "\u0004"],
      ],
    ],
    ["trunkline chat --provider echo", [["> ", "/exit\r"]]],
    ["trunkline ask --provider echo --script script.jsonl --tool 'hello.*' x", [["Run", "n\r"]]],
    ["trunkline ask --provider echo --script script.jsonl --tool 'hello.*' x", [["Run", "y\r"]]],
    ["trunkline ask --provider echo --script script.jsonl --tool 'hello.*' x", [["Run", "\u0003"]]],
    [
      "trunkline call asking.ask_form",
      [
        ["Name (", "Ada\r"],
        ["Size (", "\r"],
        ["Agreed (", "y\r"],
        ["Amount (", "\r"],
        ["Colours (", "\r"],
        ["Send it?", "a\r"],
      ],
    ],
    ["trunkline call asking.ask_form", [["Name (", "\u0003"]]],
    ["cd other && trunkline call asked.hello", [["[y/N]", "n\r"]]],
    ["cd other && trunkline trust", [["[y/N]", "y\r"]]],
    ["cd other && trunkline call asked.hello", [["greeting: ", "short\r"]]],
    ["trunkline agent --provider echo --script script.jsonl --tool 'hello.*' x", [["Run", "a\r"]]],
  ];

  it.each(TYPED)("%s, with keys %j", async (line, answers) => {
    await expectSame((way) => way.terminal(line, answers));
  });
});

it("all of this ran in one broker", async () => {
  expect(await runningBroker()).toBe(brokerPid);
});
