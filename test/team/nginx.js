// A real nginx with the configuration of deploy/, on random ports and with its files in a temporary folder.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { freePort } from "./gateway-process.js";

const DEPLOY = fileURLToPath(new URL("../../deploy/", import.meta.url));

export const hasNginx = spawnSync("nginx", ["-v"]).status === 0;

/** Replaces text that must be there. @param {string} text @param {string} from @param {string} to */
function replaced(text, from, to) {
  if (!text.includes(from)) throw new Error(`nginx.conf has no ${from}`);
  return text.replaceAll(from, to);
}

/**
 * Starts nginx in front of two gateways. `change` edits the configuration further.
 *
 * @param {readonly { port: number }[]} gateways
 * @param {{ change?: (config: string) => string, tls?: { certificate: string, key: string } }} options
 */
export async function startBalancer(gateways, { change = (config) => config, tls } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "trunkline-nginx-"));
  const port = await freePort();
  let config = readFileSync(join(DEPLOY, "nginx.conf"), "utf8");
  for (const [at, gateway] of gateways.entries()) {
    config = replaced(config, `gateway-${at + 1}:7411`, `127.0.0.1:${gateway.port}`);
  }
  config = replaced(config, "listen 8080;", `listen 127.0.0.1:${port};`);
  config = replaced(config, "/tmp/", `${folder}/`);
  config = replaced(config, "/etc/nginx/trunkline/", `${folder}/include/`);
  config = replaced(config, "/dev/stderr", join(folder, "error.log"));
  mkdirSync(join(folder, "include"));
  let tlsPort = 0;
  if (tls !== undefined) {
    tlsPort = await freePort();
    const text = readFileSync(join(DEPLOY, "tls.conf"), "utf8")
      .replace("listen 8443", `listen 127.0.0.1:${tlsPort}`)
      .replace("/run/secrets/tls_certificate", tls.certificate)
      .replace("/run/secrets/tls_key", tls.key);
    writeFileSync(join(folder, "include", "tls.conf"), text);
  }
  const file = join(folder, "nginx.conf");
  writeFileSync(file, change(config));
  // Its workers must be able to use the folder.
  const user = process.getuid?.() === 0 ? " user root;" : "";
  const child = spawn("nginx", ["-p", folder, "-c", file, "-g", `daemon off;${user}`], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text) => {
    said += text;
  });
  while (!(await accepts(port))) {
    if (child.exitCode !== null) throw new Error(`nginx exited with ${child.exitCode}: ${said}`);
    await delay(20);
  }
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    tlsUrl: `https://localhost:${tlsPort}/mcp`,
    /** What nginx has logged. */
    log: () => readFileSync(join(folder, "error.log"), "utf8"),
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null) {
        const exit = once(child, "exit");
        child.kill("SIGTERM");
        await exit;
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** @param {number} port @returns {Promise<boolean>} */
function accepts(port) {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("connect", () => resolve(true)).on("error", () => resolve(false));
    socket.on("connect", () => socket.destroy());
  });
}
