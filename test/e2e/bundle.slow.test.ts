// The bundled command: built by `npm run build`, run by bin/trunkline.cjs.
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { Place, root } from "./command.js";

const bundle = join(root, "packages", "cli", "bundle");

/** The exports of our packages: name in an import, built file. */
const EXPORTS = readdirSync(join(root, "packages"))
  .filter((folder) => folder !== "embed")
  .flatMap((folder) => {
    const manifest = JSON.parse(readFileSync(join(root, "packages", folder, "package.json"), "utf8"));
    return Object.entries<{ default: string }>(manifest.exports)
      .filter(([path]) => path !== "./testing" && path !== "./parts")
      .map(
        ([path, file]) => [`${manifest.name}${path.slice(1)}`, join(root, "packages", folder, file.default)] as const,
      );
  });

/** The names that an import of this file gets. */
async function namesIn(file: string): Promise<string[]> {
  const program = `console.log(JSON.stringify(Object.keys(await import(${JSON.stringify(pathToFileURL(file).href)}))))`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program]);
  // Node adds these to every CommonJS module.
  return JSON.parse(stdout).filter((name: string) => name !== "default" && name !== "module.exports");
}

describe("the bundle", () => {
  it("is what the built command runs, with the same modules for scripts", async () => {
    using place = new Place({
      "script.ts": `
        import { isTrunklineError } from "@trunkline/core";
        import { isTrunklineError as fromClient } from "@trunkline/client";
        import { hub } from "trunkline";
        import { createRequire } from "node:module";
        const error = await hub.call("none.none").catch((reason) => reason);
        const files = Object.keys(createRequire(import.meta.url).cache);
        console.log(isTrunklineError(error), fromClient(error), files.some((file) => file.startsWith(${JSON.stringify(bundle)})));`,
    });
    expect(await place.runProcess(["run", "script.ts"])).toEqual({ code: 0, stdout: "true true true\n", stderr: "" });
  });

  it("has the PostgreSQL store for scripts", async () => {
    using place = new Place({
      "place.mjs":
        'import { placeOf } from "@trunkline/store-postgres";\nconsole.log(placeOf("postgres://ada@db.example.com/d"));\n',
    });
    expect(await place.runProcess(["run", "place.mjs"])).toMatchObject({ code: 0, stdout: "db.example.com:5432/d\n" });
  });

  it.each(EXPORTS)("exports the names of %s", async (name, built) => {
    const end = name === "@trunkline/store-postgres" ? "mjs" : "cjs";
    const file = join(bundle, `${name.replace("@trunkline/", "").replaceAll("/", "-")}.${end}`);
    expect(await namesIn(file)).toEqual(await namesIn(built));
  });
});
