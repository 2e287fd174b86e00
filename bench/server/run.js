// All benchmarks of the server, one after the other, each in a process of its own. Options go to each of them; the one of
// `find` needs a catalogue: --tools <file>.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const PARTS = ["surface-tokens", "stdio", "http", "pipeline", "load", "find/run"];
const args = process.argv.slice(2);
const failed = PARTS.filter((part) => {
  if (part === "find/run" && !args.includes("--tools")) {
    console.log("\nfind: left out, because no catalogue was given with --tools <file>.");
    return false;
  }
  const file = fileURLToPath(new URL(`./${part}.js`, import.meta.url));
  return spawnSync(process.execPath, [file, ...args], { stdio: "inherit" }).status !== 0;
});
if (failed.length > 0) console.error(`Failed: ${failed.join(", ")}`);
process.exitCode = failed.length > 0 ? 1 : 0;
