// A user who can change or replace another user's settings decides what runs as that user.
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Place } from "../e2e/command.js";

const WARNING = "Other users of this machine can change";

/** A user whose settings and their folder have these modes. */
function placeWith(folderMode: number, fileMode: number): { place: Place; folder: string; file: string } {
  const place = new Place();
  const folder = join(place.home, ".trunkline");
  const file = join(folder, "settings.json");
  mkdirSync(folder);
  writeFileSync(file, JSON.stringify({ mcpServers: { docs: { url: "https://docs.example/mcp" } } }));
  chmodSync(file, fileMode);
  chmodSync(folder, folderMode);
  return { place, folder, file };
}

describe.skipIf(process.platform === "win32")("the user's settings", () => {
  it("are reported if everyone can change their folder", async () => {
    const { place, folder } = placeWith(0o777, 0o600);
    using _ = place;
    const { stderr } = await place.run(["servers", "list"]);
    expect(stderr).toContain(`${WARNING} ${folder}, and so decide what runs as you. Run: chmod go-w ${folder}`);
  });

  it("are reported if everyone can change them", async () => {
    const { place, file } = placeWith(0o700, 0o666);
    using _ = place;
    expect((await place.run(["servers", "list"])).stderr).toContain(`${WARNING} ${file}`);
  });

  it.each([
    [0o700, 0o600],
    [0o755, 0o644],
    // A group of one's own.
    [0o775, 0o664],
  ])("are fine with the modes %o and %o", async (folderMode, fileMode) => {
    const { place } = placeWith(folderMode, fileMode);
    using _ = place;
    expect((await place.run(["servers", "list"])).stderr).not.toContain(WARNING);
  });
});
