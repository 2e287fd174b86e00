// Shared by the packaging tests and the benchmark of installing.
import { lstatSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** Environment in which npm finds the settings and the cache of the user who runs this, whatever HOME is. */
export const npmSettings = {
  npm_config_userconfig: process.env.npm_config_userconfig ?? join(homedir(), ".npmrc"),
  npm_config_cache: process.env.npm_config_cache ?? join(homedir(), ".npm"),
};

/** @param {string} folder @returns {string[]} */
export function filesBelow(folder) {
  return readdirSync(folder, { recursive: true, encoding: "utf8" });
}

/** The space that a folder takes on disk, in millions of bytes. @param {string} folder */
export function megabytesOf(folder) {
  const sizes = filesBelow(folder).map((file) => {
    const { blocks, size } = lstatSync(join(folder, file));
    return blocks === undefined ? size : blocks * 512;
  });
  return sizes.reduce((sum, size) => sum + size, 0) / 1e6;
}
