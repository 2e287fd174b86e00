// Runs a command to its end.
import { spawn } from "node:child_process";

/**
 * Returns what a command prints. Rejects with its stderr if it fails.
 *
 * @param {string} command @param {readonly string[]} args
 * @param {{cwd: string, env: NodeJS.ProcessEnv}} place
 * @returns {Promise<string>}
 */
export function outputOf(command, args, { cwd, env }) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    let printed = "";
    let said = "";
    child.stdout.setEncoding("utf8").on("data", (chunk) => {
      printed += chunk;
    });
    child.stderr.setEncoding("utf8").on("data", (chunk) => {
      said += chunk;
    });
    child.once("error", reject);
    child.once("close", (code) =>
      code === 0 ? resolve(printed.trim()) : reject(new Error(`${args.join(" ")} exited with ${code}: ${said}`)),
    );
  });
}
