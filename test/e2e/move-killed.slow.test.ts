import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Place } from "./command.js";
import { homeFiles, MOVABLE, settingsOf, writeHome } from "./move-support.js";

/** More files, so that a kill is likely to hit in the middle. */
const EXTRA = ["Code - Insiders", "VSCodium", "Cursor", "Windsurf"].map(
  (editor) => `.config/${editor}/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json`,
);

describe.runIf(process.platform === "linux")("trunkline import --move, killed", () => {
  it("can be undone, whichever files were written", { timeout: 120_000 }, async () => {
    let halves = 0;
    for (let attempt = 0; attempt < 60 && halves < 3; attempt++) {
      using place = new Place();
      for (const [, file, text] of MOVABLE) writeHome(place, file, text, 0o640);
      for (const file of EXTRA) writeHome(place, file, '{ "mcpServers": { "docs": { "command": "docs-mcp" } } }\n');
      const before = homeFiles(place);
      const child = place.startProcess(["import", "--move", "--yes"]);
      child.stdout?.resume();
      child.stderr?.resume();
      const exited = once(child, "exit");
      // Our own file is written first.
      while (child.exitCode === null && settingsOf(place) === undefined) await new Promise(setImmediate);
      // Wait for a different file each time.
      const [, file = ""] = MOVABLE[attempt % MOVABLE.length] ?? [];
      const isWritten = () => readFileSync(join(place.home, file), "utf8").includes("trunkline");
      while (child.exitCode === null && !isWritten()) await new Promise(setImmediate);
      child.kill("SIGKILL");
      await exited;
      const written = Object.values(homeFiles(place)).filter((content) => !Object.values(before).includes(content));
      if (written.length > 0 && written.length < MOVABLE.length + EXTRA.length) halves += 1;
      const { code } = await place.run(["uninstall", "--restore", "--yes"]);
      expect(code).toBe(0);
      const after = homeFiles(place);
      // A write that was killed can leave its partial file behind.
      for (const name of Object.keys(after)) if (/\.trunkline-[^/]*\.part$/.test(name)) delete after[name];
      expect(after).toEqual(before);
      expect(settingsOf(place)).toBeUndefined();
    }
    expect(halves).toBe(3);
  });
});
