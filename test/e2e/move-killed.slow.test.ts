import { once } from "node:events";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { Place, root } from "./command.js";
import { backupsOf, homeFiles, MOVABLE, settingsOf, writeHome } from "./move-support.js";

const HOOK = pathToFileURL(join(root, "test", "support", "killed-at-rename.js")).href;
/** The backup gets its name, then our own file and those of the programs are written. */
const RENAMES = 2 + MOVABLE.length;

describe.runIf(process.platform === "linux")("trunkline import --move, killed", () => {
  const attempts = Array.from({ length: RENAMES + 1 }, (_, at) => at + 1);

  it.each(attempts)("can be undone: before rename %i", { timeout: 60_000 }, async (attempt) => {
    using place = new Place();
    for (const [, file, text] of MOVABLE) writeHome(place, file, text, 0o640);
    const before = homeFiles(place);
    const env = { TRUNKLINE_BROKER: "off", NODE_OPTIONS: `--import=${HOOK}`, KILLED_AT_RENAME: String(attempt) };
    const child = place.startProcess(["import", "--move", "--yes"], { env });
    child.stdout?.resume();
    child.stderr?.resume();
    const [code, signal] = await once(child, "exit");
    // The last attempt is one too many: all files are written.
    expect([code, signal]).toEqual(attempt > RENAMES ? [0, null] : [null, "SIGKILL"]);
    const isPartial = (name: string) => /\.trunkline-[^/]*\.part$/.test(name);
    const killed = homeFiles(place);
    const written = Object.keys(before).filter((name) => killed[name] !== before[name]);
    expect(written.length).toBe(Math.max(0, attempt - 3));

    expect((await place.run(["uninstall", "--restore", "--yes"])).code).toBe(0);
    // The write that was killed leaves its partial file behind.
    const after = Object.entries(homeFiles(place)).filter(([name]) => !isPartial(name));
    expect(Object.fromEntries(after)).toEqual(before);
    expect(settingsOf(place)).toBeUndefined();
    expect(backupsOf(place)).toEqual([]);
  });
});
