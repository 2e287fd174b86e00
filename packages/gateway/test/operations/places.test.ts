// Tests which paths clients can name on either transport: never the program's own files.
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Places } from "../../src/operations/allowed-paths.js";
import { contextOf, exchangeOf, openBench } from "./support.js";

const ENDPOINTS = ["stdio", "http"] as const;

/** Creates a workspace that contains the user's folder, so that both transports get as far as the check. */
async function openPlaces() {
  const bench = await openBench();
  const { workspace } = bench;
  const home = join(workspace, "home");
  for (const folder of [home, join(workspace, ".trunkline"), join(workspace, "elsewhere"), join(workspace, ".git")])
    mkdirSync(folder);
  writeFileSync(join(home, "settings.json"), "{}");
  writeFileSync(join(workspace, "elsewhere", "a.md"), "a");
  symlinkSync(home, join(workspace, "to-home"));
  symlinkSync(join(workspace, ".trunkline"), join(workspace, "to-project"));
  symlinkSync(join(home, "settings.json"), join(workspace, "to-settings"));
  symlinkSync(join(home, "not-there-yet"), join(workspace, "to-nothing"));
  symlinkSync(join(workspace, "linked-configuration"), join(workspace, "deep"));
  const unwritable = [join(workspace, "work.json"), join(workspace, "deep")];
  const places = new Places({ workspace, ownFolders: [home], unwritable });
  return { bench, workspace, places };
}

describe.each(ENDPOINTS)("over %s", (endpoint) => {
  const context = contextOf(exchangeOf({ caller: { endpoint } }));
  const resolve = (places: Places, path: string, use: "read" | "write" = "read") =>
    places.resolve([{ path, parameter: "path", use }], "add", context);

  test("nothing is written to Trunkline's or Git's folders, even through links", async () => {
    const { bench, places } = await openPlaces();
    await using _bench = bench;
    for (const path of [
      ".trunkline",
      ".trunkline/deep/er",
      "x/.TrunkLine/prompts",
      ".git/hooks",
      "x/.Git",
      ".git.",
      ".git ",
      "GIT~1/hooks",
      ".g\u200cit/hooks",
      ".git::$INDEX_ALLOCATION",
      "home",
      "HOME/x",
      "home/settings.json",
      "to-home/x",
      "to-project/x",
      "to-nothing/x",
      "elsewhere/../home/x",
      "work.json",
      "linked-configuration/x",
    ])
      await expect(resolve(places, path, "write"), path).rejects.toMatchObject({
        code: "DENIED",
        data: { parameter: "path" },
      });
    for (const path of ["elsewhere", "new", ".github/workflows", "git", ".gitignore", "homes", "."])
      await resolve(places, path, "write");
  });

  test("nothing is read from the user's own folder, even through links", async () => {
    const { bench, places } = await openPlaces();
    await using _bench = bench;
    for (const path of ["home", "home/settings.json", "to-home", "to-settings", "to-nothing", "Home/settings.json"])
      await expect(resolve(places, path), path).rejects.toMatchObject({
        code: "DENIED",
        message: expect.stringContaining("Trunkline's own folder"),
      });
    for (const path of ["elsewhere/a.md", ".trunkline/mcp.json"]) await resolve(places, path);
  });
});

test("restore, get, add and watch all check paths", async () => {
  const { workspace } = (await openPlaces()).bench;
  await using bench = await openBench({ ownFolders: [join(workspace, "home")], allowedFolders: [workspace] });
  const own = join(workspace, "home", "settings.json");
  const denied = { code: "DENIED" };
  await bench.run("add", { content: "x", name: "x" });
  const folder = join(workspace, "home");
  await expect(bench.run("restore", { collection: "default", output_directory: folder })).rejects.toMatchObject(denied);
  await expect(bench.run("get", { path: "x", outputPath: own })).rejects.toMatchObject(denied);
  const hook = join(workspace, ".git", "hook");
  await expect(bench.run("get", { path: "x", outputPath: hook })).rejects.toMatchObject(denied);
  await expect(bench.run("add", { path: own })).rejects.toMatchObject(denied);
  await expect(bench.run("add", { paths: [own] })).rejects.toMatchObject(denied);
  await bench.session("start");
  await expect(bench.session("watch", { paths: [folder] })).rejects.toMatchObject(denied);
});
