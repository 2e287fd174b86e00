// Installs the coding agents of `npm run test:agents` at their pinned versions, each into a folder of its own, outside
// the repository: TRUNKLINE_AGENTS, or ~/.cache/trunkline/agents. What is there already is left alone. With names, only
// these: `node scripts/install-agents.js codex gemini`.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** @typedef {{ package: string, version: string, program: string }} AgentPackage */

/** @type {Record<string, AgentPackage>} */
const PACKAGES = JSON.parse(readFileSync(new URL("../test/agents/packages.json", import.meta.url), "utf8"));

/** @param {NodeJS.ProcessEnv} environment */
export function agentsFolder({ TRUNKLINE_AGENTS }) {
  return TRUNKLINE_AGENTS ?? join(homedir(), ".cache", "trunkline", "agents");
}

/** @param {string} folder of one agent @param {AgentPackage} agent @returns {string | undefined} the installed version */
function installedVersion(folder, agent) {
  try {
    return JSON.parse(readFileSync(join(folder, "node_modules", agent.package, "package.json"), "utf8")).version;
  } catch {
    return undefined;
  }
}

/** @param {string} name */
function install(name) {
  const agent = PACKAGES[name];
  if (agent === undefined) throw new Error(`Unknown agent "${name}". Known: ${Object.keys(PACKAGES).join(", ")}.`);
  const folder = join(agentsFolder(process.env), name);
  if (installedVersion(folder, agent) === agent.version) {
    console.log(`${name} ${agent.version} is installed.`);
    return;
  }
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), "{}\n");
  // Some agents fetch their program in an install script.
  const options = ["--prefix", folder, "--no-audit", "--no-fund", "--save-exact", "--loglevel=error"];
  execFileSync("npm", ["install", ...options, `${agent.package}@${agent.version}`], { cwd: folder, stdio: "inherit" });
  const program = join(folder, "node_modules", ".bin", agent.program);
  const version = execFileSync(program, ["--version"], { encoding: "utf8" }).trim();
  console.log(`${name} ${version} installed in ${folder}.`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const names = process.argv.slice(2);
  for (const name of names.length > 0 ? names : Object.keys(PACKAGES)) install(name);
}
