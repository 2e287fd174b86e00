// A store in a database: its password stays secret, and a project cannot choose the database.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Place } from "../e2e/command.js";

/** Nothing listens there. */
const NOWHERE = "127.0.0.1:1";
const PASSWORD = "pelican-s3cret";

describe("a store in a database", () => {
  it.each([
    ["list", ["store", "--store", `postgres://ada:${PASSWORD}@${NOWHERE}/db`, "list"]],
    ["init", ["store", "init", `postgres://ada:${PASSWORD}@${NOWHERE}/db`]],
    ["copy", ["store", "copy", `postgres://ada:${PASSWORD}@${NOWHERE}/db`, "folder"]],
    ["an address that cannot be parsed", ["store", "--store", `postgres://ada:${PASSWORD}@[nowhere/db`, "list"]],
  ])("does not show the password of its address: %s", async (_, args) => {
    using place = new Place({});
    const { code, stdout, stderr } = await place.run(args, { env: { TRUNKLINE_LOG_LEVEL: "debug" } });
    expect(code).not.toBe(0);
    expect(stdout + stderr).not.toContain(PASSWORD);
  });

  it("is not chosen by a project, only by the user's own settings", async () => {
    using place = new Place({ ".git/HEAD": "ref: refs/heads/main", "a.md": "pelicans" });
    const settings = { store: `postgres://${NOWHERE}/db` };
    place.write(".trunkline/settings.json", settings);
    expect(await place.run(["store", "add", "a.md"])).toMatchObject({ code: 0 });
    mkdirSync(join(place.home, ".trunkline"), { recursive: true });
    writeFileSync(join(place.home, ".trunkline", "settings.json"), JSON.stringify(settings));
    expect(await place.run(["store", "list"])).toMatchObject({ code: 1, stderr: expect.stringContaining(NOWHERE) });
  });
});
