// Runs after `npm ci` and makes the SQLite driver for old Node versions usable; newer ones have their own. The driver's
// install script is disabled in the repository (`allowScripts`), because it finds no headers unless the network or the
// user's npm settings provide them. This script uses the headers installed with Node.
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { compilingEnvironment } from "./node-headers.js";

const require = createRequire(import.meta.url);

function isUsable() {
  const probe = 'const D = require("better-sqlite3"); new D(":memory:").close()';
  return spawnSync(process.execPath, ["-e", probe], { stdio: "ignore" }).status === 0;
}

/** @param {string} command @param {string[]} args @param {string} cwd */
function run(command, args, cwd) {
  return (
    spawnSync(command, args, { cwd, stdio: ["ignore", "ignore", "inherit"], env: compilingEnvironment() }).status === 0
  );
}

/** From 22.16 on, the store uses `node:sqlite`. */
function hasOwnSqlite() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  return major > 22 || (major === 22 && minor >= 16);
}

if (!hasOwnSqlite() && !isUsable()) {
  const folder = dirname(require.resolve("better-sqlite3/package.json"));
  const prebuilt = join(dirname(require.resolve("prebuild-install/package.json")), "bin.js");
  const nodeGyp = process.env.npm_config_node_gyp;
  const ready = spawnSync(process.execPath, [prebuilt], { cwd: folder, stdio: "ignore" }).status === 0 && isUsable();
  if (!ready) {
    console.error("Compiling better-sqlite3; this takes a minute or two …");
    if (nodeGyp === undefined || !run(process.execPath, [nodeGyp, "rebuild", "--release"], folder) || !isUsable()) {
      console.error("Could not compile better-sqlite3. Install a C++ compiler, Python 3 and the Node headers.");
      process.exit(1);
    }
  }
}
