import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const SRC = fileURLToPath(new URL("../../src/", import.meta.url));

describe("the MCP SDK", () => {
  it("is loaded only when something is needed of it, so no module of the client imports its values", () => {
    const files = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
    const importers = files.filter((file) => {
      const text = readFileSync(join(SRC, file), "utf8");
      const imports = text.match(/^(?:import|export)\s[^;]*?from "@modelcontextprotocol\/[^"]*";/gm) ?? [];
      return imports.some((each) => !each.startsWith("import type"));
    });
    expect(files.length).toBeGreaterThan(100);
    expect(importers).toEqual([]);
  });
});
