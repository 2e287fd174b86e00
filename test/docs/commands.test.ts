// The commands in the documentation work as they stand, and print what stands below them.
//
// A fenced block ```sh is run, block after block, in one empty folder for each page; `sh exit-1` has to end with that code,
// and `sh no-run` is left alone (it needs a network, a terminal or another program). A block ```json or ```text right below
// it is what it prints: white space does not count, and `…` stands for anything.
import { spawn } from "node:child_process";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, expect, it } from "vitest";
import { bin, outcomeOf, Place, root } from "../e2e/command.js";

const PAGES = ["README.md", "docs/guides/pipelines-by-example.md", "docs/guides/ask-chat-agent.md"];
/** A page is a dozen processes, one after the other, beside other tests. */
const PAGE_TIMEOUT_MS = 180_000;

interface Example {
  line: number;
  commands: string;
  exitCode: number;
  /** What it prints, as far as the page shows it. */
  output: string | undefined;
}

/** The examples of a page that can be run. */
function examplesOf(markdown: string): Example[] {
  const blocks = [...markdown.matchAll(/^```(\w*)([^\n]*)\n([\s\S]*?)^```$/gm)].map((match) => ({
    language: match[1],
    mark: match[2]?.trim() ?? "",
    text: match[3] ?? "",
    start: match.index,
    end: match.index + match[0].length,
  }));
  return blocks.flatMap((block, index): Example[] => {
    if (block.language !== "sh" || block.mark === "no-run") return [];
    const next = blocks[index + 1];
    const isBelow = next !== undefined && markdown.slice(block.end, next.start).trim() === "";
    const isOutput = isBelow && (next.language === "json" || next.language === "text");
    return [
      {
        line: markdown.slice(0, block.start).split("\n").length,
        commands: block.text,
        exitCode: Number(/^exit-(\d+)$/.exec(block.mark)?.[1] ?? 0),
        output: isOutput ? next.text : undefined,
      },
    ];
  });
}

/** Whether something was printed as shown. Part after part: a regular expression with so many gaps might never end. */
function matches(printed: string, shown: string): boolean {
  const bare = (text: string) => text.replace(/\s+/g, "");
  const text = bare(printed);
  const [first = "", ...parts] = bare(shown).split("…");
  const last = parts.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of parts) {
    const found = text.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

/** A shell in which `trunkline` is the built command, and `npx` starts the servers of this repository without a network. */
function openShell(): Place {
  const place = new Place();
  const tools = {
    trunkline: `exec "${process.execPath}" "${bin}" "$@"`,
    npx: `shift; name=$1; shift; exec "${process.execPath}" "${root}/node_modules/$name/dist/index.js" "$@"`,
  };
  for (const [name, line] of Object.entries(tools)) {
    writeFileSync(join(place.base, name), `#!/bin/sh\n${line}\n`);
    chmodSync(join(place.base, name), 0o755);
  }
  return place;
}

async function runIn(place: Place, commands: string) {
  const child = spawn("sh", ["-ec", `exec 2>&1\n${commands}`], {
    cwd: place.cwd,
    env: { PATH: [place.base, process.env.PATH].join(delimiter), HOME: place.home },
    stdio: ["ignore", "pipe", "pipe"],
  });
  return await outcomeOf(child);
}

describe.skipIf(process.platform === "win32")("the commands of", () => {
  it.concurrent.each(PAGES)(
    "%s work and print what is shown",
    async (page) => {
      const examples = examplesOf(readFileSync(join(root, page), "utf8"));
      expect(examples.length).toBeGreaterThan(0);
      using place = openShell();
      for (const { line, commands, exitCode, output } of examples) {
        const { code, stdout } = await runIn(place, commands);
        const where = `${page}:${line}\n${commands}\n${stdout}`;
        expect(code, where).toBe(exitCode);
        if (output !== undefined && !matches(stdout, output)) expect(stdout, where).toBe(output);
      }
    },
    PAGE_TIMEOUT_MS,
  );
});

describe("the check of commands", () => {
  it("reads marks and the output below a block", () => {
    const page =
      "```sh\na\n```\n\n```json\n{}\n```\n\n```sh no-run\nb\n```\n```sh exit-2\nc\n```\n\nText.\n\n```json\n1\n```\n";
    expect(examplesOf(page)).toEqual([
      { line: 1, commands: "a\n", exitCode: 0, output: "{}\n" },
      { line: 12, commands: "c\n", exitCode: 2, output: undefined },
    ]);
  });

  it("tells what is printed from what is not", () => {
    expect(matches('{"a":1,"b":[2,3]}\n', '{ "a": 1, "b": [… 3] }')).toBe(true);
    expect(matches('{"a":1,"b":[2,3]}\n', '{ "a": 1, … }')).toBe(true);
    expect(matches('{"a":2}\n', '{ "a": 1 }')).toBe(false);
    expect(matches('{"a":1,"b":2}\n', '{ "a": 1 }')).toBe(false);
    expect(matches('{"a":1,"b":2}\n', '{ … "b": 2, … }')).toBe(false);
    expect(matches('{"a":1,"b":2}\n', '{ … "b": … "a": … }')).toBe(false);
    expect(matches("aba", "ab…ba")).toBe(false);
  });
});
