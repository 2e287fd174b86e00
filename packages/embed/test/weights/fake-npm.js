// A fake npm: `node fake-npm.js <settings.json> pack <spec> --pack-destination <folder> …`. Writes a tarball with the
// files from the settings, created by the system's tar, or fails like npm would.
import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const [settingsFile = "", ...args] = process.argv.slice(2);
/** @type {{ files?: Record<string, string>, error?: unknown, stderr?: string, exitCode?: number, cut?: boolean, hang?: boolean, calls: string }} */
const settings = JSON.parse(readFileSync(settingsFile, "utf8"));
appendFileSync(settings.calls, `${JSON.stringify(args)}\n`);
const destination = args[args.indexOf("--pack-destination") + 1] ?? "";
if (settings.hang) setInterval(() => {}, 1000);
else if (settings.exitCode !== undefined) {
  if (settings.error !== undefined) console.log(JSON.stringify({ error: settings.error }));
  console.error(settings.stderr ?? "");
  process.exitCode = settings.exitCode;
} else {
  const folder = mkdtempSync(join(tmpdir(), "trunkline-fake-npm-"));
  for (const [path, content] of Object.entries(settings.files ?? {})) {
    const file = join(folder, "package", path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
  const tarball = join(destination, "fake-1.0.0.tgz");
  execFileSync("tar", ["-czf", tarball, "-C", folder, "package"]);
  rmSync(folder, { recursive: true });
  if (settings.cut) {
    const bytes = readFileSync(tarball);
    writeFileSync(tarball, bytes.subarray(0, bytes.length / 2));
  }
}
