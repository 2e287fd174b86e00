// Runs after `npm ci`: makes the sqlite driver usable. Its own install script is switched off in the repository
// (`allowScripts`), because it finds no headers where neither the network nor the user's npm settings give them; here the
// headers beside Node are used.
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

if (!isUsable()) {
  const folder = dirname(require.resolve("better-sqlite3/package.json"));
  const prebuilt = join(dirname(require.resolve("prebuild-install/package.json")), "bin.js");
  const nodeGyp = process.env.npm_config_node_gyp;
  const ready = spawnSync(process.execPath, [prebuilt], { cwd: folder, stdio: "ignore" }).status === 0 && isUsable();
  if (!ready) {
    console.error("Compiling better-sqlite3; this takes a minute or two …");
    if (nodeGyp === undefined || !run(process.execPath, [nodeGyp, "rebuild", "--release"], folder) || !isUsable()) {
      console.error("better-sqlite3 could not be compiled. It needs a C++ compiler, Python 3 and the headers of Node.");
      process.exit(1);
    }
  }
}
