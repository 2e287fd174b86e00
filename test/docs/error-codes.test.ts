// Checks that docs/troubleshooting.md explains every error code with an example, and no others.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../e2e/command.js";

/** Reads the codes from the type's source, since types do not exist at run time. */
function codesIn(source: string): string[] {
  const union = /export type ErrorCode =([^;]*);/.exec(source)?.[1] ?? "";
  return [...union.matchAll(/"([A-Z_]+)"/g)].map(([, code = ""]) => code);
}

/** Finds the page's sections about error codes. */
function sectionsIn(page: string): Map<string, string> {
  const sections = page.split(/^## /m).slice(1);
  return new Map(
    sections.flatMap((section): [string, string][] => {
      const [title = "", ...rest] = section.split("\n");
      return /^[A-Z_]+$/.test(title) ? [[title, rest.join("\n").trim()]] : [];
    }),
  );
}

describe("docs/troubleshooting.md", () => {
  const codes = codesIn(readFileSync(join(root, "packages", "core", "src", "errors.ts"), "utf8"));
  const sections = sectionsIn(readFileSync(join(root, "docs", "troubleshooting.md"), "utf8"));

  it("has a section for each error code, in the order of the type, and no others", () => {
    expect(codes).toContain("INTERNAL");
    expect([...sections.keys()]).toEqual(codes);
  });

  it.each(codes.filter((code) => code !== "INTERNAL"))("has an example of %s", (code) => {
    expect(sections.get(code)).toMatch(/^Examples?: `/m);
  });
});
