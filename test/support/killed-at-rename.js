// Loaded into a process with `--import`: kills it, as SIGKILL would from outside, right before its n-th rename, with n
// from KILLED_AT_RENAME. Files are written by renaming, so this is between two of them.
import promises from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";

const { rename } = promises;
let left = Number(process.env.KILLED_AT_RENAME);
promises.rename = async (from, to) => {
  left -= 1;
  if (left === 0) process.kill(process.pid, "SIGKILL");
  await rename(from, to);
};
syncBuiltinESMExports();
