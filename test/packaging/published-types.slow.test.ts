// The types of the libraries as a strict project sees them that also checks the types of its dependencies. The packages
// must be built.
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { root, run } from "./tarballs.js";

const PROGRAM = `
import { toolsFrom } from "@trunkline/agent";
import { type HubCallOptions, loadConfig, openHub } from "@trunkline/client";
import { approvalsIn } from "@trunkline/config";
import { createEmbedder } from "@trunkline/embed";
import { createService } from "@trunkline/gateway";
import { listenHttp } from "@trunkline/gateway/http";
import { serveOnStdio } from "@trunkline/gateway/stdio";
import { openStore } from "@trunkline/store";

export const used = [approvalsIn, openStore, createService, listenHttp, serveOnStdio, toolsFrom, createEmbedder];

export async function sum(signal?: AbortSignal): Promise<string> {
  const options: HubCallOptions = { signal, timeoutMs: undefined, onProgress: undefined };
  const hub = await openHub(await loadConfig({ cwd: ".", signal }), { signal, channel: undefined });
  return (await hub.call("everything.get-sum", { a: 2, b: 3 }, options)).text;
}
`;

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "published-types-"));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"), "junction");
  writeFileSync(join(folder, "program.mts"), PROGRAM);
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

it.each([
  ["nodenext", "nodenext"],
  ["esnext", "bundler"],
])("compile with module %s and moduleResolution %s", async (module, moduleResolution) => {
  const compilerOptions = {
    ...{ module, moduleResolution, target: "es2022", lib: ["es2023", "esnext.disposable"], types: ["node"] },
    ...{ strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false, noEmit: true },
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["program.mts"] }));
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const problems = await run(process.execPath, [tsc, "-p", folder, "--pretty", "false"]).catch((error) => error);
  expect(problems.stdout).toBe("");
});
