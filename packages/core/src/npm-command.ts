import { dirname, join } from "node:path";

/**
 * Returns the command for the npm shipped with Node. On Windows npm is a batch file that only a shell can run, so its
 * script is run instead.
 */
export function npmCommand(): readonly string[] {
  if (process.platform !== "win32") return ["npm"];
  return [process.execPath, join(dirname(process.execPath), "node_modules", "npm", "bin", "npm-cli.js")];
}
