// The server under test: the command as a user starts it, with the suite's fixtures in an upstream server. Everything
// the suite sees has passed through Trunkline twice: as a server's response to our client, and as our response to the
// suite.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { HERE, ROOT } from "./suite.js";

// These limits only catch hangs. Even a loaded machine must not reach them.
const START_LIMIT_MS = 120_000;
const STOP_LIMIT_MS = 60_000;

/**
 * @typedef {{ url: string, stop: () => Promise<void> }} ProductServer `stop` rejects if the server did not shut down
 * cleanly.
 */

/**
 * Starts `trunkline serve --http` on a free port, isolated from the user's configuration. Uses plain tool names, since
 * the suite's names are fixed.
 * @param {string} surface
 * @param {AbortSignal} signal
 * @returns {Promise<ProductServer>}
 */
export async function startProductServer(surface, signal) {
  const home = await mkdtemp(join(tmpdir(), "trunkline-conformance-"));
  // The home folder itself cannot be the workspace.
  const workspace = join(home, "project");
  await mkdir(workspace);
  const config = join(workspace, "fixture.json");
  const fixture = { command: process.execPath, args: [join(HERE, "fixture-server.js")] };
  // Some scenarios look for a tool in the list. `direct` ignores this setting.
  const clients = { "*": "direct" };
  await writeFile(config, JSON.stringify({ mcpServers: { fixture }, surface: { clients } }));
  // The suite has no way to send a token.
  const options = ["--port", "0", "--surface", surface, "--names", "plain", "--mcp", config];
  const args = ["serve", "--http", "--no-token", ...options];
  const child = spawn(process.execPath, [await commandFile(), ...args], {
    cwd: workspace,
    env: { ...process.env, HOME: home, USERPROFILE: home, TRUNKLINE_HOME: join(home, ".trunkline") },
    stdio: ["ignore", "ignore", "pipe"],
    signal,
  });
  // An abort emits an error here and kills the process; the code below waits for its exit.
  child.on("error", () => {});
  const exited = once(child, "close");
  let stderr = "";
  child.stderr.setEncoding("utf8");

  /** @type {string} */
  let url;
  try {
    url = await new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`The server did not start:\n${stderr}`)), START_LIMIT_MS);
      child.stderr.on("data", (chunk) => {
        stderr += chunk;
        const found = /is listening at (\S+)\s/.exec(stderr)?.[1];
        if (found === undefined) return;
        clearTimeout(timer);
        resolve(found);
      });
      exited.then(() => {
        clearTimeout(timer);
        reject(new Error(`The server exited before it was listening:\n${stderr}`));
      }, reject);
    });
  } catch (error) {
    child.kill("SIGKILL");
    await rm(home, { recursive: true, force: true });
    throw error;
  }

  const stop = async () => {
    const endedEarly = child.exitCode !== null || child.signalCode !== null;
    child.kill("SIGTERM");
    let killed = false;
    const timer = setTimeout(() => {
      killed = true;
      child.kill("SIGKILL");
    }, STOP_LIMIT_MS);
    await exited;
    clearTimeout(timer);
    await rm(home, { recursive: true, force: true });
    if (endedEarly && !signal.aborted) throw new Error(`The server exited during the run:\n${stderr}`);
    if (killed) throw new Error(`The server did not exit within ${STOP_LIMIT_MS} ms of SIGTERM.`);
  };
  return { url, stop };
}

/** Finds the command's entry file, from its package's `bin` field. */
async function commandFile() {
  const packageFile = createRequire(join(ROOT, "package.json")).resolve("./packages/cli/package.json");
  /** @type {{ bin: { trunkline: string } }} */
  const { bin } = JSON.parse(await readFile(packageFile, "utf8"));
  return join(dirname(packageFile), bin.trunkline);
}
