// Runs all gateway benchmarks one after another, each in a separate process. Options are passed to each: see
// options.js.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const PARTS = ["echo", "tokens", "large", "recovery", "environment"];
const failed = PARTS.filter((part) => {
  const file = fileURLToPath(new URL(`./${part}.js`, import.meta.url));
  return spawnSync(process.execPath, [file, ...process.argv.slice(2)], { stdio: "inherit" }).status !== 0;
});
if (failed.length > 0) console.error(`Failed: ${failed.join(", ")}`);
process.exitCode = failed.length > 0 ? 1 : 0;
