// Tab in real shells. `trunkline` on their PATH is the built command during completion; otherwise it records its
// arguments, so a test sees what the shell made of the line, including quotes.

import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, expect, it } from "vitest";
import { isInstalled, needs } from "../support/needs.js";
import { bin, outcomeOf, Place, root, seen } from "./command.js";
import { hasTerminal } from "./terminal.js";

const SERVERS = {
  servers: {
    everything: { command: process.execPath, args: [join(root, "test", "servers", "hello.js")] },
    "every:where": { command: "nothing" },
    "two words": { command: "nothing" },
    "$(touch pwned)": { command: "nothing" },
    "clear\u001b[2J": { command: "nothing" },
  },
};

/** Names that run a command or change the line if a shell takes them as they are. Each starts with another letter. */
const HOSTILE_NAMES = [
  ...["a$(touch pwned)", "b`touch pwned`", "c'; touch pwned; '", 'd"; touch pwned; "', 'e"$(touch pwned)"'],
  ...["f\\'; touch pwned; '", 'g\\"; touch pwned; "', "h; touch pwned", "i&touch pwned&", "j|touch pwned", "k>pwned"],
  ...[
    "l!trunkline",
    "m'!trunkline'",
    "n{x,y}*?[z]",
    "o\\",
    "p$HOME ~ #",
    "q$'\\x27; touch pwned; '",
    "r=$(touch pwned)",
  ],
  ...["s:`touch pwned`", "t't", 'u"!!"', "v(touch pwned)", "x!;touch pwned;"],
];
/** Names that must not be offered: they would be options, or end the line. */
const UNOFFERED_NAMES = ["--yes", "-rf", "w\ntouch pwned\n", "z\rtouch pwned\r", "y\ttouch pwned"];
const HOSTILE = {
  servers: Object.fromEntries([...HOSTILE_NAMES, ...UNOFFERED_NAMES].map((name) => [name, { command: "nothing" }])),
};

/** How each shell is started without user settings, and what it reads first. */
const SHELLS = {
  bash: {
    args: ["--noprofile", "--rcfile", "rc", "-i"],
    rc: `PS1='rea''dy> '; PS2='mo''re> '; eval "$(trunkline completion bash)"`,
  },
  zsh: {
    args: ["-d", "-i"],
    rc: `PS1='ready> '; PS2='more> '; unsetopt promptcr promptsp; autoload -U compinit; compinit -u; eval "$(trunkline completion zsh)"`,
  },
  fish: { args: ["--init-command", "source rc"], rc: "trunkline completion fish | source" },
} as const;
type ShellName = keyof typeof SHELLS;

/** The suffix of a test's name: what is missing for this shell. */
const lacking = (shell: ShellName): string =>
  needs(shell, process.platform !== "win32" && isInstalled(shell)) ||
  needs("`script` of util-linux", shell === "fish" || hasTerminal);

class ShellPlace extends Place {
  readonly #ran = join(this.base, "ran");
  readonly path = [this.base, process.env.PATH].join(delimiter);

  constructor(servers: object = SERVERS) {
    super({ ".trunkline/mcp.json": servers, "notes.md": "", "folder/inner.md": "" });
    const script = [
      "#!/bin/sh",
      `case $1 in completion|__complete) exec "${process.execPath}" "${bin}" "$@";; esac`,
      `for word; do printf '%s\\n' "$word"; done > "${this.#ran}.new" && mv "${this.#ran}.new" "${this.#ran}"`,
      "echo given",
    ];
    writeFileSync(join(this.base, "trunkline"), script.join("\n"));
    chmodSync(join(this.base, "trunkline"), 0o755);
  }

  /**
   * Types a line, Tab and Enter at a terminal, and returns the program's arguments; none if the line was not complete.
   */
  async type(shell: "bash" | "zsh", lines: readonly string[]): Promise<string[][]> {
    const given: string[][] = [];
    while (given.length < lines.length) await this.#typeUntilOpen(shell, lines, given);
    return given;
  }

  /** Stops after a line whose quote is still open: an interrupt can come before the shell reads, and is lost then. */
  async #typeUntilOpen(shell: "bash" | "zsh", lines: readonly string[], given: string[][]): Promise<void> {
    const child = this.#startShell(shell);
    const ended = outcomeOf(child);
    child.stdout.setMaxListeners(0);
    await seen(child.stdout, /ready> /);
    for (const line of lines.slice(given.length)) {
      const shown = seen(child.stdout, /given\r?\n|more> /);
      child.stdin.write(`trunkline ${line}\t\r`);
      const [what] = await shown;
      const isOpen = !what.startsWith("given");
      given.push(isOpen ? [] : readFileSync(this.#ran, "utf8").trimEnd().split("\n"));
      if (isOpen) break;
    }
    child.kill("SIGKILL");
    child.stdin.destroy();
    await ended;
  }

  #startShell(shell: "bash" | "zsh") {
    const { args, rc } = SHELLS[shell];
    const zdotdir = join(this.base, "zsh");
    mkdirSync(zdotdir, { recursive: true });
    writeFileSync(join(zdotdir, ".zshrc"), rc);
    writeFileSync(join(this.cwd, "rc"), rc);
    return spawn("script", ["-qec", `stty cols 200; exec ${shell} ${args.join(" ")}`, "/dev/null"], {
      cwd: this.cwd,
      env: {
        ...{ PATH: this.path, HOME: this.home, ZDOTDIR: zdotdir, TERM: "dumb", SHELL: "/bin/sh" },
        TRUNKLINE_NO_UPDATE_NOTICE: "1",
      },
      stdio: ["pipe", "pipe", "pipe"],
    });
  }
}

const LINES: readonly (readonly [line: string, words: readonly string[]])[] = [
  ["servers dis", ["servers", "disable"]],
  ["servers disable everyt", ["servers", "disable", "everything"]],
  ["servers disable every:w", ["servers", "disable", "every:where"]],
  ["servers disable tw", ["servers", "disable", "two words"]],
  ["servers disable 'tw", ["servers", "disable", "two words"]],
  ["servers disable \\$", ["servers", "disable", "$(touch pwned)"]],
  ["serve --surface=di", ["serve", "--surface=direct"]],
  ["serve --http --surface di", ["serve", "--http", "--surface", "direct"]],
  ["call everyt", ["call", "everything."]],
  ["run no", ["run", "notes.md"]],
  ["init fol", ["init", "folder"]],
];

describe("Tab", () => {
  for (const shell of ["bash", "zsh"] as const) {
    it.skipIf(lacking(shell) !== "")(`completes in ${shell}${lacking(shell)}`, async () => {
      using place = new ShellPlace();
      const given = await place.type(
        shell,
        LINES.map(([line]) => line),
      );
      // zsh removes the slash after a folder again.
      expect(given.map((words) => words.map((word) => word.replace(/\/$/, "")))).toEqual(
        LINES.map(([, words]) => words),
      );
      expect(existsSync(join(place.cwd, "pwned"))).toBe(false);
    });
  }

  for (const shell of ["bash", "zsh"] as const) {
    it.skipIf(lacking(shell) !== "").each([
      ["no quote", ""],
      ["a single quote", "'"],
      ["a double quote", '"'],
      ["a dollar and a single quote", "$'"],
    ])(
      `inserts names of an unapproved project as one word in ${shell}, after %s${lacking(shell)}`,
      async (_, quote) => {
        using place = new ShellPlace(HOSTILE);
        const given = await place.type(
          shell,
          HOSTILE_NAMES.map((name) => `servers disable ${quote}${name.charAt(0)}`),
        );
        expect(given).toEqual(HOSTILE_NAMES.map((name) => ["servers", "disable", name]));
        expect(existsSync(join(place.cwd, "pwned"))).toBe(false);
      },
    );

    it.skipIf(lacking(shell) !== "")(`runs nothing when a quote opens inside a word in ${shell}`, async () => {
      using place = new ShellPlace(HOSTILE);
      const lines = HOSTILE_NAMES.filter((name) => /['"!]/.test(name)).flatMap((name) => {
        const first = name.charAt(0);
        return [`${first}'`, `${first}"`, `${first}$'`, `'${first}'`, `"${first}"'`].map(
          (word) => `servers disable ${word}`,
        );
      });
      for (const words of await place.type(shell, lines)) {
        // Either the whole name, or what was typed, or the quote is still open.
        expect([...HOSTILE_NAMES, ...HOSTILE_NAMES.map((name) => name.charAt(0)), ""]).toContain(words[2] ?? "");
      }
      expect(existsSync(join(place.cwd, "pwned"))).toBe(false);
    });
  }

  it.skipIf(lacking("fish") !== "")(
    `writes names of an unapproved project as one word in fish${lacking("fish")}`,
    async () => {
      using place = new ShellPlace(HOSTILE);
      writeFileSync(join(place.cwd, "rc"), SHELLS.fish.rc);
      const names = HOSTILE_NAMES.map((name) => name.charAt(0)).join(" ");
      const script = [
        `for first in ${names}`,
        'set -l written (complete --escape -C "trunkline servers disable $first" | string split -f 1 \\t)',
        "eval \"printf '%s\\n' $written\"",
        "end",
      ];
      const child = spawn("fish", [...SHELLS.fish.args, "-c", script.join("\n")], {
        cwd: place.cwd,
        env: { PATH: place.path, HOME: place.home, TERM: "dumb" },
        stdio: ["ignore", "pipe", "pipe"],
      });
      const { stdout } = await outcomeOf(child);
      expect(stdout.trimEnd().split("\n")).toEqual(HOSTILE_NAMES);
      expect(existsSync(join(place.cwd, "pwned"))).toBe(false);
    },
  );

  it.skipIf(lacking("fish") !== "")(`completes in fish${lacking("fish")}`, async () => {
    using place = new ShellPlace();
    writeFileSync(join(place.cwd, "rc"), SHELLS.fish.rc);
    const offered = async (line: string) => {
      const asked = `complete -C '${line.replaceAll("'", "\\'")}'`;
      const child = spawn("fish", [...SHELLS.fish.args, "-c", asked], {
        cwd: place.cwd,
        env: { PATH: place.path, HOME: place.home, TERM: "dumb" },
        stdio: ["ignore", "pipe", "pipe"],
      });
      const { stdout } = await outcomeOf(child);
      return stdout
        .split("\n")
        .map((text) => text.split("\t")[0])
        .filter((text) => text !== "");
    };
    expect(await offered("trunkline servers dis")).toEqual(["disable"]);
    expect(await offered("trunkline servers disable every")).toEqual(["every:where", "everything"]);
    expect(await offered("trunkline servers disable t")).toEqual(["two words"]);
    expect(await offered("trunkline serve --surface=di")).toEqual(["--surface=direct"]);
    expect(await offered("trunkline call everyt")).toEqual(["everything."]);
    expect(await offered("trunkline run no")).toEqual(["notes.md"]);
    expect(await offered("trunkline init fol")).toEqual(["folder/"]);
    expect(existsSync(join(place.cwd, "pwned"))).toBe(false);
  });
});

/** Returns what the built command offers a completion script. */
async function offered(place: Place, ...words: string[]): Promise<{ paths: string; words: string[] }> {
  const outcome = await place.run(["__complete", "--", ...words]);
  expect(outcome).toMatchObject({ code: 0, stderr: "" });
  const [paths = "", ...lines] = outcome.stdout.trimEnd().split("\n");
  return { paths, words: lines.map((line) => line.split("\t")[0] ?? "") };
}

describe("the list of completions", () => {
  it("includes every command in the help, but not the one that scripts call back", async () => {
    using place = new Place();
    const { stdout } = await place.run(["--help"]);
    const listed = [...stdout.matchAll(/^ {2}(\w+(?:, \w+)*) {2}/gm)].flatMap(([, names]) => names?.split(", "));
    const { words } = await offered(place, "");
    expect(words.filter((word) => word !== "help")).toEqual(listed);
    expect(words).toContain("completion");
    expect(words).not.toContain("__complete");
  });

  it("omits names that would move the cursor, and starts no server of an unapproved project", async () => {
    using place = new Place({ ".trunkline/mcp.json": SERVERS });
    const { words } = await offered(place, "doctor", "--mcp", ".trunkline/mcp.json", "--format", "");
    expect(words).toEqual(["text", "json"]);
    expect((await offered(place, "auth", "login", "")).words).toEqual([
      "everything",
      "every:where",
      "two words",
      "$(touch pwned)",
    ]);
  });

  it("omits names that a command would take for options, unless those have ended", async () => {
    using place = new Place({ ".trunkline/mcp.json": HOSTILE });
    for (const words of [
      ["auth", "login", ""],
      ["auth", "login", "-"],
      ["call", ""],
      ["--server", ""],
    ]) {
      expect((await offered(place, ...words)).words).not.toEqual(
        expect.arrayContaining([expect.stringMatching(/^--yes|^-rf/)]),
      );
    }
    expect((await offered(place, "auth", "login", "")).words).toEqual(HOSTILE_NAMES);
    expect((await offered(place, "auth", "login", "--", "-")).words).toEqual(["--yes", "-rf"]);
  });

  it("includes a server's tools and their parameters once they have been listed", async () => {
    using place = new Place({ "my.json": SERVERS });
    const call = ["--mcp", "my.json", "call"];
    expect((await offered(place, ...call, "everything.")).words).toEqual([]);
    await place.run(["--mcp", "my.json", "tools", "everything.*"]);
    expect((await offered(place, ...call, "everything.h")).words).toEqual(["everything.hello"]);
    expect((await offered(place, ...call, "everything.hello", "")).words).toEqual(["name="]);
    expect((await offered(place, "--mcp", "my.json", "query", "everything.h")).words).toEqual(["everything.hello"]);
  });

  it("contains no secrets, and is empty if the configuration is unreadable", async () => {
    const entry = { url: "http://127.0.0.1:1/mcp", headers: { Authorization: "Bearer ${env:SECRET_TOKEN}" } };
    using place = new Place({ "my.json": { servers: { wiki: entry } }, "broken.json": "{" }, { SECRET_TOKEN: "hush" });
    const outcome = await place.run(["__complete", "--", "--mcp", "my.json", "tools", ""]);
    expect(outcome).toEqual({ code: 0, stdout: "\nwiki.\t\n", stderr: "" });
    expect(await place.run(["__complete", "--", "--mcp", "broken.json", "tools", ""])).toEqual({
      ...{ code: 0, stdout: "", stderr: "" },
    });
  });
});

describe("trunkline completion", () => {
  it("without a shell says how to install it, in one line per shell", async () => {
    using place = new Place();
    const { code, stdout } = await place.run(["completion"]);
    expect(code).toBe(0);
    for (const shell of Object.keys(SHELLS)) {
      expect(stdout.split("\n").filter((line) => line.includes(`trunkline completion ${shell}`))).toHaveLength(1);
    }
  });

  it("rejects a shell it has no script for", async () => {
    using place = new Place();
    const { code, stderr } = await place.run(["completion", "csh"]);
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining("bash, zsh, fish") });
  });
});
