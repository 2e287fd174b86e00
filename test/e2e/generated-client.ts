// Compiles and loads generated clients.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stripTypes } from "../../packages/cli/src/scripting/strip-types.js";
import { outcomeOf, root } from "./command.js";

/** Compiles these files with the strictest options, and returns the errors. */
export async function faultsIn(files: Readonly<Record<string, string>>): Promise<string[]> {
  // Inside the repository, so the packages can be resolved.
  const cache = join(root, "node_modules", ".cache");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "generated-"));
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    const strict = { noUnusedLocals: true, noUnusedParameters: true, erasableSyntaxOnly: true };
    const config = {
      extends: join(root, "tsconfig.base.json"),
      compilerOptions: { ...strict, noEmit: true, composite: false, incremental: false },
      include: ["*.ts"],
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
    const child = spawn(process.execPath, [tsc, "-p", folder, "--pretty", "false"], { cwd: folder });
    const { stdout, stderr } = await outcomeOf(child);
    return `${stdout}${stderr}`.split("\n").filter((line) => line !== "");
  } finally {
    rmSync(folder, { recursive: true });
  }
}

interface GeneratedModule {
  createClient(caller: {
    call(
      key: { server: string; tool: string },
      args: Record<string, unknown>,
    ): Promise<{ isError: boolean; text: string; raw: Record<string, unknown> }>;
  }): Record<string, Record<string, (input?: Record<string, unknown>) => Promise<unknown>>>;
}

/** Loads a generated client. */
export async function loadClient(source: string): Promise<GeneratedModule> {
  const { code } = stripTypes(source, "file:///tools.ts");
  return await import(/* @vite-ignore */ `data:text/javascript,${encodeURIComponent(code)}`);
}
