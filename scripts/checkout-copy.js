// A copy of the checkout, for scripts that must not change the original.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readlinkSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));

/** Copies the files that git tracks or would add. @param {string} target */
export function copyCheckout(target) {
  const list = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  for (const file of new Set(list.split("\0"))) {
    // A file that was deleted but not yet committed is still listed.
    if (file === "" || !existsSync(join(root, file))) continue;
    mkdirSync(dirname(join(target, file)), { recursive: true });
    cpSync(join(root, file), join(target, file), { verbatimSymlinks: true });
  }
}

/**
 * Gives a copy the installed dependencies of the checkout. The workspace's own packages are those of the copy.
 *
 * @param {string} target
 */
export function linkDependencies(target) {
  /** @type {string[]} */
  const own = [];
  const link = (/** @type {string} */ folder) => {
    mkdirSync(join(target, folder), { recursive: true });
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.name === "@trunkline") link(path);
      else if (entry.isSymbolicLink() && readlinkSync(join(root, path)).includes("packages")) own.push(path);
      else symlinkSync(join(root, path), join(target, path));
    }
  };
  link("node_modules");
  // Versions that differ from those at the top.
  for (const name of readdirSync(join(root, "packages"))) {
    const folder = join("packages", name, "node_modules");
    if (existsSync(join(root, folder))) symlinkSync(join(root, folder), join(target, folder));
  }
  for (const path of own) symlinkSync(readlinkSync(join(root, path)), join(target, path));
}
