import { readFileSync } from "node:fs";
import { PROGRAM_IDS } from "@trunkline/core";
import { expect, it } from "vitest";

it("the guide lists the programs that servers can be imported from", () => {
  const guide = readFileSync(new URL("../../docs/guides/connect-your-servers.md", import.meta.url), "utf8");
  const list = PROGRAM_IDS.map((id) => `\`${id}\``).join(", ");
  expect(
    guide,
    "docs/guides/connect-your-servers.md has to list the programs of packages/core/src/known-programs.ts",
  ).toContain(`Supported programs: ${list}, or \`all\`.`);
});
