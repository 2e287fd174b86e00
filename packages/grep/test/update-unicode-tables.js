// Writes src/grep/unicode-tables.ts from what this Node knows of Unicode. Run after `npm run build`, then build again.
import { writeFileSync } from "node:fs";
import { encodeSet, setOfClass, TABLE_CLASSES } from "../dist/unicode.js";

const tables = Object.entries(TABLE_CLASSES).map(([name, source]) => `  ${name}: "${encodeSet(setOfClass(source))}",`);
writeFileSync(
  new URL("../src/unicode-tables.ts", import.meta.url),
  `// Written by test/grep/update-unicode-tables.js; a test compares it with what the engine says.

/** Sets of code points as differences in base 36, by the name of their class, and the version of Unicode they are of. */
export const UNICODE_TABLES = {
  version: "${process.versions.unicode}",
${tables.join("\n")}
} as const;
`,
);
