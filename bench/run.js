// Runs the benchmarks: `npm run bench` for all, `npm run bench -- startup` for some.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL(".", import.meta.url));
const all = readdirSync(folder).filter((name) => existsSync(`${folder}${name}/run.js`));
const [wanted, passedOn] = split(process.argv.slice(2));
const unknown = wanted.filter((name) => !all.includes(name));
if (unknown.length > 0) {
  console.error(`No such benchmark: ${unknown.join(", ")}. There are: ${all.join(", ")}.`);
  process.exit(2);
}
const failed = (wanted.length > 0 ? wanted : all).filter((name) => {
  const { status } = spawnSync(process.execPath, [`${folder}${name}/run.js`, ...passedOn], { stdio: "inherit" });
  return status !== 0;
});
if (failed.length > 0) console.error(`Failed: ${failed.join(", ")}`);
process.exitCode = failed.length > 0 ? 1 : 0;

/** Names before the first option; options go to each benchmark. @param {string[]} args @returns {[string[], string[]]} */
function split(args) {
  const first = args.findIndex((arg) => arg.startsWith("-"));
  return first === -1 ? [args, []] : [args.slice(0, first), args.slice(first)];
}
