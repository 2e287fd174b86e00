import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const SRC = fileURLToPath(new URL("../src/", import.meta.url));

/** The modules that a source file loads, by following its imports at run time. */
function loadedBy(entry: string): Set<string> {
  const loaded = new Set<string>();
  const visit = (file: string): void => {
    if (loaded.has(file)) return;
    loaded.add(file);
    const code = readFileSync(file, "utf8");
    for (const [, clause = "", from = ""] of code.matchAll(/^(?:import|export) ([^;]*?) ?from "([^"]+)";/gms)) {
      const isTyped = clause.startsWith("type ") || everyNameIsType(clause);
      if (isTyped) continue;
      if (from.startsWith(".")) visit(resolve(dirname(file), from.replace(/\.js$/, ".ts")));
      else loaded.add(from);
    }
  };
  visit(join(SRC, entry));
  return loaded;
}

function everyNameIsType(clause: string): boolean {
  const names = /^\{([^}]*)\}$/s
    .exec(clause)?.[1]
    ?.split(",")
    .map((name) => name.trim())
    .filter(Boolean);
  return names !== undefined && names.length > 0 && names.every((name) => name.startsWith("type "));
}

describe("@trunkline/store/parts", () => {
  it("loads no SQLite driver and no database module", () => {
    const loaded = [...loadedBy("parts.ts")];
    expect(
      loaded.filter((name) => /sqlite3?$|engine\/sqlite\/(?:database|driver|schema|.*-driver)\.ts$/.test(name)),
    ).toEqual([]);
    expect(loaded).toContain("@cloudpss/zstd/wasm");
  });

  it("would notice the driver behind the store itself", () => {
    expect([...loadedBy("store-thread.ts")].some((name) => name.endsWith("engine/sqlite/database.ts"))).toBe(true);
  });

  it("loads no native library and no sqlite of Node in a process", () => {
    const program = `
      import * as parts from ${JSON.stringify(new URL("../src/parts.js", import.meta.url).href)};
      const libraries = process.report.getReport().sharedObjects.filter((name) => name.endsWith(".node"));
      const modules = process.moduleLoadList.filter((name) => / (?:internal\\/)?sqlite$/.test(name));
      process.stdout.write(JSON.stringify([typeof parts.compareText, libraries, modules]));`;
    const output = execFileSync(process.execPath, ["--input-type=module", "-e", program]);
    expect(JSON.parse(String(output))).toEqual(["function", [], []]);
  });
});
