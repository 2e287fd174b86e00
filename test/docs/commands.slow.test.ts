// Runs the commands in the documentation and compares what they print with the block below.
//
// The ```sh blocks of a page run in order, in one empty folder, and nothing else does: a page has no hidden set-up.
// Marks after the language say how a reader runs a block: with `exit-1` it must exit with that code; `meanwhile` runs in
// another terminal until the end of the page; `with-browser` opens the page at the URL that is printed; and with `no-run`
// and a reason it does not run, but its commands must still be valid. A ```json or ```text block right below is the
// expected output: whitespace is ignored, and `…` matches anything. `file=<name>` on any block writes it to that file.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { systemCodeOf } from "@trunkline/core";
import { describe, expect, it } from "vitest";
import { outcomeOf, root, seen } from "../e2e/command.js";
import { browse } from "../servers/browser.js";
import { commandLinesIn, refusalOf } from "./command-lines.js";
import { type Block, blocksOf, PAGES, readPage } from "./pages.js";
import { Shell } from "./shell.js";
import { matches } from "./shown-output.js";

/** Reasons not to run a block. */
const REASONS: ReadonlySet<string> = new Set([
  "needs-network",
  "needs-terminal",
  "needs-model",
  "needs-program",
  // Installs or builds what the test itself uses.
  "runs-npm",
  // Serves or follows until interrupted.
  "goes-on",
]);

/** Pages whose commands run in the root of the repository. */
const AT_ROOT: ReadonlySet<string> = new Set(["examples/README.md", "CONTRIBUTING.md"]);

/** Marks for blocks that a reader runs in a particular way. */
const MANNERS = ["meanwhile", "with-browser"] as const;

interface Step {
  readonly line: number;
  /** A file to write first. */
  readonly file?: string;
  readonly text: string;
  readonly exitCode?: number;
  /** How a reader runs it, if not as usual. */
  readonly manner?: "meanwhile" | "with-browser";
  /** The output shown on the page. */
  readonly output?: string;
}

/** Lists the steps for a page, in order. */
function stepsOf(markdown: string): Step[] {
  const blocks = blocksOf(markdown);
  return blocks.flatMap((block, index): Step[] => {
    const { line, text, language, marks } = block;
    const file = marks.find((mark) => mark.startsWith("file="))?.slice("file=".length);
    if (file !== undefined) return [{ line, file, text }];
    if (language !== "sh" || marks.includes("no-run")) return [];
    const next = blocks[index + 1];
    const isOutput = next?.isRightBelow && (next.language === "json" || next.language === "text");
    const exitCode = Number(/^exit-(\d+)$/.exec(marks[0] ?? "")?.[1] ?? 0);
    const manner = MANNERS.find((each) => each === marks[0]);
    return [{ line, text, exitCode, ...(manner ? { manner } : {}), ...(isOutput ? { output: next.text } : {}) }];
  });
}

/** Starts a block. Its processes share a process group and are stopped at the end of the page. */
function startIn(shell: Shell, commands: string, cwd: string, groups: number[]) {
  const child = spawn("sh", ["-ec", `exec 2>&1\n${commands}`], {
    cwd,
    env: { ...shell.env, ...(cwd === root ? { TRUNKLINE_STORE: join(shell.place.base, "store") } : {}) },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  if (child.pid !== undefined) groups.push(child.pid);
  return child;
}

/** Opens the URL that a command prints on a line of its own, as its reader would. */
async function openPrintedUrl(printed: Readable): Promise<void> {
  for await (const line of createInterface({ input: printed })) {
    const url = /^ {2}(http\S+)$/.exec(line)?.[1];
    if (url !== undefined) await browse(url);
  }
}

/** Runs a block to its end, or in another terminal until it says that it is running. */
async function runStep({ text, manner }: Step, start: () => ReturnType<typeof startIn>) {
  const child = start();
  if (manner === "with-browser") {
    const [outcome] = await Promise.all([outcomeOf(child), openPrintedUrl(child.stdout)]);
    return outcome;
  }
  const ended = outcomeOf(child);
  if (manner === undefined) return await ended;
  const [stdout] = await Promise.race([
    seen(child.stdout, /[\s\S]*Ctrl-C[^\n]*\n/),
    ended.then((outcome): never => {
      throw new Error(`${text} ended: ${outcome.stdout}`);
    }),
  ]);
  return { code: 0, stdout };
}

function endGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if (systemCodeOf(error) !== "ESRCH") throw error;
  }
}

const pagesToRun = PAGES.filter((page) => stepsOf(readPage(page)).some(({ exitCode }) => exitCode !== undefined));

describe.skipIf(process.platform === "win32")("the commands in", () => {
  // Blocks that run meanwhile have fixed ports.
  let others: Promise<unknown> = Promise.resolve();
  const usesPorts = (page: string) => stepsOf(readPage(page)).some(({ manner }) => manner === "meanwhile");

  it.concurrent.each(pagesToRun)("%s work and print the output shown", async (page) => {
    if (!usesPorts(page)) return await follow(page);
    others = others.then(
      () => follow(page),
      () => follow(page),
    );
    await others;
  });

  async function follow(page: string): Promise<void> {
    using shell = new Shell();
    const { place } = shell;
    const groups: number[] = [];
    using _background = { [Symbol.dispose]: () => groups.forEach(endGroup) };
    const cwd = AT_ROOT.has(page) ? root : place.cwd;
    for (const step of stepsOf(readPage(page))) {
      const { line, file, text, exitCode, output } = step;
      if (file !== undefined) {
        place.write(file, text);
        continue;
      }
      const { code, stdout } = await runStep(step, () => startIn(shell, text, cwd, groups));
      const where = `${page}:${line}\n${text}\n${stdout}`;
      expect(code, where).toBe(exitCode);
      if (output !== undefined && !matches(stdout, output)) expect(stdout, where).toBe(output);
    }
  }
});

describe("every page", () => {
  it.each(PAGES)("%s shows everything it needs: no set-up is hidden in a comment", (page) => {
    expect(readPage(page)).not.toMatch(/^<!-- *(?:sh|js|ts|json|file)\b/m);
  });
});

describe("every command block", () => {
  const blocks = PAGES.flatMap((page) =>
    blocksOf(readPage(page))
      .filter(({ language }) => language === "sh")
      .map((block): [string, Block] => [`${page}:${block.line}`, block]),
  );

  it("is marked with a language: blocks without one contain no commands", () => {
    const unmarked = PAGES.flatMap((page) =>
      blocksOf(readPage(page))
        .filter(({ language, text }) => language === "" && /^\s*(?:\$ |trunkline |npm |npx )/m.test(text))
        .map(({ line }) => `${page}:${line}`),
    );
    expect(unmarked).toEqual([]);
  });

  it("says why if it is not run", () => {
    const silent = blocks.filter(
      ([, { marks }]) => marks[0] === "no-run" && (marks.length !== 2 || !REASONS.has(marks[1] ?? "")),
    );
    expect(silent.map(([where]) => where)).toEqual([]);
  });

  it("has known marks", () => {
    const strange = blocks.filter(
      ([, { marks }]) => marks.length > 0 && !/^(?:no-run|exit-\d+|meanwhile|with-browser)$/.test(marks[0] ?? ""),
    );
    expect(strange.map(([where]) => where)).toEqual([]);
  });

  it.each(blocks.filter(([, { text }]) => commandLinesIn(text).length > 0))(
    "%s uses existing commands and options",
    async (_where, { text }) => {
      const refused: string[] = [];
      for (const words of commandLinesIn(text)) {
        const refusal = await refusalOf(words);
        if (refusal !== undefined) refused.push(`${words.join(" ")}: ${refusal}`);
      }
      expect(refused).toEqual([]);
    },
  );
});

describe("the command check", () => {
  it("reads marks, files and the output below a block", () => {
    const page = [
      "```sh\na\n```\n\n```json\n{}\n```\n\n```sh no-run needs-network\nb\n```\n```sh exit-2\nc\n```\n\nText.",
      "```json\n1\n```\n\n```ts file=x.ts\nd\n```\n\n```sh meanwhile\ne\n```\n",
    ].join("\n\n");
    expect(stepsOf(page)).toEqual([
      { line: 1, text: "a\n", exitCode: 0, output: "{}\n" },
      { line: 12, text: "c\n", exitCode: 2 },
      { line: 22, file: "x.ts", text: "d\n" },
      { line: 26, text: "e\n", exitCode: 0, manner: "meanwhile" },
    ]);
  });

  it("tells expected from unexpected output", () => {
    expect(matches('{"a":1,"b":[2,3]}\n', '{ "a": 1, "b": [… 3] }')).toBe(true);
    expect(matches('{"a":1,"b":[2,3]}\n', '{ "a": 1, … }')).toBe(true);
    expect(matches('{"a":2}\n', '{ "a": 1 }')).toBe(false);
    expect(matches('{"a":1,"b":2}\n', '{ "a": 1 }')).toBe(false);
    expect(matches('{"a":1,"b":2}\n', '{ … "b": 2, … }')).toBe(false);
    expect(matches('{"a":1,"b":2}\n', '{ … "b": … "a": … }')).toBe(false);
    expect(matches("aba", "ab…ba")).toBe(false);
  });

  it("finds our commands anywhere in a line", () => {
    const script = `git diff | trunkline ask "Is it \\"risky\\"?" # trunkline x
X=1 npx trunkline --mcp 'a b' tools && trunkline doctor
cat > x <<'END'
trunkline nothing
END
trunkline tools \\
  --json`;
    expect(commandLinesIn(script)).toEqual([
      ["ask", 'Is it \\"risky\\"?'],
      ["--mcp", "a b", "tools"],
      ["doctor"],
      ["tools", "--json"],
    ]);
  });

  it("detects an unknown command, option, choice and argument", async () => {
    expect(await refusalOf(["tools", "x", "--tokens"])).toBeUndefined();
    expect(await refusalOf(["frob"])).toMatch(/unknown command/);
    expect(await refusalOf(["tools", "--tokns"])).toMatch(/unknown option/);
    expect(await refusalOf(["serve", "--surface", "wide"])).toMatch(/Allowed choices/);
    expect(await refusalOf(["call"])).toMatch(/missing required argument/);
    expect(await refusalOf(["store", "snapshot", "x"])).toMatch(/too many arguments/);
  });
});
