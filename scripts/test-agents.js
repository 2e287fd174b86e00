// Runs the tests with real coding agents: `npm run test:agents`. With `--write`, keeps what they found in
// test/agents/results.json, and writes docs/agents.md. Other arguments go to vitest: `npm run test:agents -- codex`.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "./checkout-copy.js";

const RESULTS = join(root, "test", "agents", "results.json");
const args = process.argv.slice(2).filter((arg) => arg !== "--write");
const writes = process.argv.includes("--write");

/** @param {readonly string[]} more @param {Record<string, string>} [env] */
function vitest(more, env = {}) {
  execFileSync("npx", ["vitest", "run", ...more], { cwd: root, stdio: "inherit", env: { ...process.env, ...env } });
}

const folder = mkdtempSync(join(tmpdir(), "trunkline-agents-"));
try {
  vitest(["--project", "agents", ...args], writes ? { TRUNKLINE_AGENTS_RESULTS: folder } : {});
  if (writes) {
    const earlier = existsSync(RESULTS) ? JSON.parse(readFileSync(RESULTS, "utf8")) : {};
    const found = readdirSync(folder).map((file) => [
      file.replace(/\.json$/, ""),
      JSON.parse(readFileSync(join(folder, file), "utf8")),
    ]);
    const all = Object.entries({ ...earlier, ...Object.fromEntries(found) });
    const sorted = Object.fromEntries(all.sort(([a], [b]) => a.localeCompare(b, "en")));
    writeFileSync(RESULTS, `${JSON.stringify(sorted, null, 2)}\n`);
    vitest(["--project", "fast", "test/agents/page", "--update"]);
  }
} catch (error) {
  if (typeof error !== "object" || error === null || !("status" in error)) throw error;
  // The output has said what failed.
  process.exitCode = Number(error.status ?? 1);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
