// Compiles the programs in the documentation with the packages' current types. Each block is treated as a file.
// `given-<name>` after the language declares what an earlier block created; readers do not see it.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { outcomeOf, root } from "../e2e/command.js";
import { blocksOf, PAGES, readPage } from "./pages.js";

const GIVEN: Readonly<Record<string, string>> = {
  connecting: [
    'import { withDeadline, type Logger } from "@trunkline/core";',
    "declare const logger: Logger; declare const name: string; declare const error: Error;",
    "declare const timeoutMs: number; declare const signal: AbortSignal;",
    "declare function open(signal: AbortSignal): Promise<void>;",
  ].join(" "),
};

interface Program {
  readonly where: string;
  readonly text: string;
}

function programsIn(page: string): Program[] {
  return blocksOf(readPage(page))
    .filter(({ language }) => language === "ts" || language === "js")
    .map(({ line, marks, text }) => {
      const given = marks.filter((mark) => mark.startsWith("given-")).map((mark) => mark.slice("given-".length));
      for (const name of given) expect(GIVEN, `${page}:${line}`).toHaveProperty(name);
      // Goes on the first line, so the other lines keep their numbers.
      return { where: `${page}:${line}`, text: `${given.map((name) => GIVEN[name]).join(" ")}\n${text}\nexport {};\n` };
    });
}

/** Compiles the programs, each as its own file, and returns the errors. */
async function faultsIn(programs: readonly Program[]): Promise<string[]> {
  // Inside the repository, so the packages can be resolved.
  const cache = join(root, "node_modules", ".cache");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "docs-code-"));
  try {
    programs.forEach(({ text }, index) => {
      writeFileSync(join(folder, `program-${index}.ts`), text.replace(/^#!.*$/m, ""));
    });
    const config = {
      extends: join(root, "tsconfig.base.json"),
      compilerOptions: { noEmit: true, declaration: false, declarationMap: false, sourceMap: false },
      include: ["*.ts"],
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
    const child = spawn(process.execPath, [tsc, "-p", folder, "--pretty", "false"], { cwd: folder });
    const { stdout, stderr } = await outcomeOf(child);
    return `${stdout}${stderr}`
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => line.replace(/^.*?program-(\d+)\.ts/, (_, index) => programs[Number(index)]?.where ?? ""));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe("the programs in the documentation", () => {
  it("are found", () => {
    expect(programsIn("README.md").length).toBeGreaterThan(0);
    expect(programsIn("docs/guides/embed-the-library.md").length).toBeGreaterThan(0);
  });

  it("compile, and an error is detected", async () => {
    const planted = { where: "planted:1", text: 'import { openHubb } from "@trunkline/client";\nopenHubb();\n' };
    expect(await faultsIn([...PAGES.flatMap(programsIn), planted])).toEqual([
      expect.stringMatching(/^planted:1\(1,10\).*openHubb/),
    ]);
  });
});
