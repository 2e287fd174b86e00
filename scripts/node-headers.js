// Locates the headers of the running Node if they are installed with it, so native packages can be compiled without
// downloading them.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** Returns the folder that node-gyp takes as `nodedir`, or undefined if there are no headers. */
export function nodeHeadersFolder() {
  const prefix = dirname(dirname(process.execPath));
  return existsSync(join(prefix, "include", "node", "node.h")) ? prefix : undefined;
}

/** Returns the environment for an npm command that might have to compile. @returns {NodeJS.ProcessEnv} */
export function compilingEnvironment() {
  const folder = nodeHeadersFolder();
  return folder === undefined ? process.env : { ...process.env, npm_config_nodedir: folder };
}
