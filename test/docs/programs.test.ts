import { readFileSync } from "node:fs";
import { PROGRAM_IDS } from "@trunkline/core";
import { expect, it } from "vitest";

it("the guide lists the programs that servers can be imported from", () => {
  const guide = readFileSync(new URL("../../docs/guides/connect-your-servers.md", import.meta.url), "utf8");
  const [, listed] = /^Supported programs: (.*), or `all`\./m.exec(guide) ?? [];
  expect(listed, "of docs/guides/connect-your-servers.md").toBe(PROGRAM_IDS.map((id) => `\`${id}\``).join(", "));
});
